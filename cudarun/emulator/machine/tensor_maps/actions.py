"""Instructions on tensor maps themselves (PTX manual 9.7.9.28, 9.7.13.15.18)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.tensor_maps.boxes import CHUNK
from cudarun.emulator.machine.tensor_maps.tensor_map import BYTES, FieldPart, field_parts
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.machine.transfers import Fence
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.words import Words

_MISALIGNED_ADDRESS = 716
_ALIGNMENT = 64
_WORD = np.dtype(np.uint64)


def check_alignment(active: Active, addresses: Array, offset: int, alignment: int) -> None:
    """Report the first misaligned address of an instruction that accesses no memory."""
    wrong = (addresses.astype(np.uint64) + np.uint64(offset % (1 << 64))) % np.uint64(alignment)
    if wrong.any():
        lane = int(np.argmax(wrong != 0))
        what = f"address {int(addresses[lane]) + offset:#x} is not a multiple of {alignment}"
        raise active.fault(_MISALIGNED_ADDRESS, what, lane)


class PrefetchMap:
    """``prefetch.tensormap``, which demands an alignment and no memory."""

    alignment: ClassVar[int] = _ALIGNMENT

    def __init__(self, words: Words) -> None:
        self.offset = words.offsets[0]

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Check the addresses."""
        check_alignment(active, sources[0], self.offset, self.alignment)


class PrefetchBulk(PrefetchMap):
    """``cp.async.bulk.prefetch``, likewise."""

    alignment = CHUNK


class AcquireMap(Fence):
    """``fence.proxy.tensormap::generic.acquire``, likewise."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.offset = words.offsets[0]

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Check the addresses."""
        check_alignment(active, sources[0], self.offset, _ALIGNMENT)


class CopyMap(WarpAction, MemoryAction):
    """``tensormap.cp_fenceproxy``: a warp copies a map from shared to global memory."""

    waits_for = "warp"
    is_joint = True

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        to, origin = words.offsets
        self.accesses = (
            Access(words["to"], _WORD, 2, AccessKind.WRITE, to),
            Access(words["source"], _WORD, 2, AccessKind.READ, origin),
        )

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Copy one map for each warp, by its first lane; the operands are uniform in a warp."""
        to, origin = (source.astype(np.uint64) for source in sources)
        _, leaders = np.unique(self.slots(active) // WARP, return_index=True)
        for leader in leaders:
            one = active.some(np.array([leader]))
            for chunk in range(0, BYTES, CHUNK):
                at = np.array([chunk], dtype=np.uint64)
                data = self.accesses[1].load(one, origin[leader] + at)
                self.accesses[0].store(one, to[leader] + at, data)


# By the manual's number of a type, its number with the bit of TF32, which no other type clears.
_TF32 = {11: 0x17, 12: 0x18}


class ReplaceField(MemoryAction):
    """``tensormap.replace``: change one field of a map; nothing is checked.

    Fields are at the same place in maps of all modes (``TensorMap``).
    """

    def __init__(self, words: Words) -> None:
        word, offset = np.dtype(np.uint32), words.offsets[0]
        self.parts = field_parts(words["field"], words.constants.get("place", 0))
        self.constant = words.constants.get("n")
        if words["field"] == "elemtype" and self.constant in _TF32:
            self.parts = (*self.parts, FieldPart(2, 16, 1, skipped=4))
            self.constant = _TF32[self.constant]
        self.accesses = (
            Access(words.space, word, 1, AccessKind.READ, offset),
            Access(words.space, word, 1, AccessKind.WRITE, offset),
        )

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Replace the bits of the field in one word after the other."""
        addresses, *given = sources
        if self.constant is None:
            values = given[0].astype(np.uint64)
        else:
            values = np.full(active.count, self.constant, dtype=np.uint64)
        for part in self.parts:
            at = addresses + addresses.dtype.type(4 * part.word)
            mask = np.uint32((1 << part.bits) - 1 << part.start)
            bits = values - np.uint64(part.less) >> np.uint64(part.skipped)
            bits = (bits & np.uint64((1 << part.bits) - 1)) << np.uint64(part.start)
            old = self.accesses[0].load(active, at)
            new = old & ~mask | bits.astype(np.uint32)[:, None] & mask
            self.accesses[1].store(active, at, new)
