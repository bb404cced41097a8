"""Atomic operations whose order cannot be seen: integer reductions whose result is not used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cudarun.base.records import dataclass
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.numerics.arrays import Arrays
from cudarun.emulator.numerics.types import TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active

_BITWISE = ("and", "or", "xor")
_EXTREMES = ("min", "max")


@dataclass(frozen=True, slots=True)
class Reduction:
    """An integer reduction.

    Attributes:
        operation: Its name in LLVM's ``atomicrmw``.
        vector_operation: That in ``llvm.vector.reduce``.
        width: The bits of an operand.
        identity: The operand that changes nothing.
    """

    operation: str
    vector_operation: str
    width: int
    identity: int


def reduction_of(action: Atomic) -> Reduction | None:
    """Return an atomic operation as a reduction; ``None`` if its order can be seen.

    Reductions that are equal commute at one address; sums do not commute with, say, minima.
    """
    operation, kind = action.operation, action.type.kind
    if action.wanted or kind is TypeKind.FLOAT or action.count * action.type.elements > 1:
        return None
    width = 8 * action.dtype.itemsize
    ones = (1 << width) - 1
    if operation == "add" or operation in _BITWISE:
        return Reduction(operation, operation, width, ones if operation == "and" else 0)
    if operation not in _EXTREMES:
        return None
    if kind is TypeKind.SIGNED:
        greatest = ones >> 1
        identity = greatest if operation == "min" else greatest + 1
        return Reduction(operation, f"s{operation}", width, identity)
    name = f"u{operation}"
    return Reduction(name, name, width, ones if operation == "min" else 0)


def is_of_global_memory(action: Atomic) -> bool:
    """Return whether blocks that run at the same time can access the same memory with it."""
    return "shared" not in action.space


def reduce_at(
    function: Callable[[int, int, int], None],
    action: Atomic,
    active: Active,
    sources: Arrays,
) -> None:
    """Execute a reduction of lanes in different allocations, beside other threads.

    Args:
        function: One lane's part: of the host address, the operand, and 1.
        action: The reduction.
        active: The active lanes.
        sources: Its sources.
    """
    (access,) = action.accesses
    (operands,) = action.operands(sources)
    operands = operands.view(f"u{operands.itemsize}")
    for view, places, positions in access.locate(active, sources[0]):
        chosen = operands if positions is None else operands[positions]
        addresses = view.ctypes.data + places * view.itemsize
        for address, operand in zip(addresses.tolist(), chosen.tolist(), strict=True):
            function(address, operand, 1)
