"""Atomic operations whose order cannot be seen: integer reductions whose result is not used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.numerics.arrays import Arrays
from cudarun.emulator.numerics.types import TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active

_COMMUTE = ("add", "and", "or", "xor", "min", "max")


def reduction_of(action: Atomic) -> str | None:
    """Return the kind of a reduction; ``None`` if the order of the operation can be seen.

    Reductions of one kind commute at one address; sums do not commute with, say, minima.
    """
    operation, kind = action.operation, action.type.kind
    if action.wanted or kind is TypeKind.FLOAT or action.count * action.type.elements > 1:
        return None
    if operation not in _COMMUTE:
        return None
    is_signed = operation in ("min", "max") and kind is TypeKind.SIGNED
    return f"{'s' * is_signed}{operation}.{action.dtype.itemsize}"


def is_of_global_memory(action: Atomic) -> bool:
    """Return whether blocks that run at the same time can access the same memory with it."""
    return "shared" not in action.space


def reduce_at(
    function: Callable[[int, int, int], None], action: Atomic, active: Active, sources: Arrays
) -> None:
    """Execute a reduction of lanes in different allocations, beside other threads.

    Args:
        function: One lane's part: of the host address, the operand, and 1.
        active: The active lanes.
    """
    (access,) = action.accesses
    (operands,) = action.operands(sources)
    operands = operands.view(f"u{operands.itemsize}")
    for view, places, positions, _ in access.locate(active, sources[0]):
        chosen = operands if positions is None else operands[positions]
        addresses = view.ctypes.data + places * view.itemsize
        for address, operand in zip(addresses.tolist(), chosen.tolist(), strict=True):
            function(address, operand, 1)
