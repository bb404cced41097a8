"""State spaces and their windows in generic addresses (PTX manual 5.1 and 6.4.1.1).

Global and constant addresses are generic addresses. Shared, local and parameter memory have windows
of the generic address space; inside a window, addresses of the space begin at 0. Device memory is
above ``WINDOWS_END``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.memory import Allocation, Memory
from cudarun.emulator.numerics.arrays import Array, Arrays, DType

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.words import Words


WINDOW_BYTES = 1 << 32
PARAMETER_WINDOW = 0x10_0000_0000
PARAMETER_BASE = 0x210  # where a kernel's parameters begin, as in code for compute capability 9.0
LOCAL_WINDOW = 0x20_0000_0000
SHARED_WINDOW = 0x30_0000_0000
CODE_WINDOW = 0x40_0000_0000
_TENSOR_WINDOW = 0x50_0000_0000  # of no generic address
WINDOWS_END = 0x100_0000_0000

WINDOWS = {
    "param": PARAMETER_WINDOW + PARAMETER_BASE,
    "local": LOCAL_WINDOW,
    "shared": SHARED_WINDOW,
    "shared::cta": SHARED_WINDOW,
    "shared::cluster": SHARED_WINDOW,
    "tensor": _TENSOR_WINDOW,
}
"""The spaces with a window, and where it begins."""

RESERVED_SHARED = 1024
"""Bytes at the start of a block's shared memory that the system reserves, as on an H200.

A whole number of the lines by which copies and ``wgmma`` swizzle addresses.
"""

RANK_SHIFT = 24  # from this bit on a ``shared::cluster`` address has the rank of a block

NO_PARAMETER = 1 << 62
"""An address in ``.param`` that no parameter has: what is past the ends of a function's."""

NULL_BYTES = 1 << 20  # addresses below this are called offsets of a null pointer


def section_window(address: int) -> str | None:
    """Return the space whose window contains a generic address."""
    if PARAMETER_WINDOW <= address < WINDOWS_END:
        for name in ("param", "local", "shared"):
            if 0 <= address - WINDOWS[name] < WINDOW_BYTES:
                return name
    return None


class InGlobalOrConst:
    """``isspacep.global`` and ``isspacep.const``, which no window distinguishes.

    As with ptxas, an address is in the constant space, and not in the global one, if it is in a
    ``.const`` variable of the kernel's module; addresses in a window are in neither.
    """

    def __init__(self, words: Words) -> None:
        self.const = words["space"] == "const"

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Compare with the addresses of the variables."""
        (address,), (answer,) = sources, destinations
        constant = np.zeros(len(address), dtype=np.bool_)
        for base, size in active.batch.launch.constant_variables:
            constant |= address - np.uint64(base) < np.uint64(size)
        answer[...] = constant if self.const else (address >= np.uint64(WINDOWS_END)) & ~constant


class Piece(NamedTuple):
    """The part of an access in one array."""

    view: Array  # memory as an array of elements
    places: Indices  # per lane, the index of its first element in the view
    # The positions of the lanes among the active ones; ``None`` for all of them.
    positions: Indices | None
    region: Region | Memory  # the region, or the memory with the allocations that lanes access


class Footprint(NamedTuple):
    """Part of an access: the memory of some lanes in one allocation or section."""

    region: Region  # the allocation or section
    offsets: Array  # per lane, the first byte, from the start of ``region.bytes``
    # The positions of the lanes among the active ones; ``None`` for all of them.
    positions: Indices | None

    @property
    def space(self) -> str:
        """The state space."""
        return self.region.name if isinstance(self.region, Section) else "global"


@dataclass(slots=True, eq=False)
class Section:
    """Shared, local or parameter memory: lanes access parts of one array."""

    name: str  # the space
    base: int
    size: int
    bytes: Array
    # Per lane of the batch, the start of its part; ``None`` if all lanes share one.
    starts: Indices | None
    # Bytes from the part of one block to that of the next, of shared or tensor memory.
    stride: int = 0
    # Per lane, the rank of its block where addresses have it; ``None`` if they have none.
    ranks: Array | None = None
    live: bool = True
    unwritten: Array | None = None  # the detector of uninitialized reads tracks them
    unchanged: Array | None = None

    def view(self, dtype: DType) -> Array:
        """Return the memory of all lanes as an array."""
        return self.bytes.view(dtype)


Region = Allocation | Section
"""Memory with bounds: an allocation, or the part of a space that each lane accesses."""
