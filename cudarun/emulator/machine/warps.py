"""Operations between the lanes of a warp (PTX manual 9.7.9.6 and 9.7.13): shuffle, vote, match.

A synchronous action is the first operation of its block, which the batch dispatches only when all
live lanes of the member mask have arrived: that of the last source, or the whole warp or warpgroup.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.numerics import algebra
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.bits import INTEGER_OPERATIONS
from cudarun.emulator.words import Words

_SHUFFLES_KEPT = 64


class WarpAction:
    """Base of the operations: the positions of lanes in their warps."""

    # ``"mask"``, ``"warp"`` or ``"warpgroup"``; empty without synchronization, among active lanes.
    waits_for = "mask"
    # Whether the lanes make one access together, which is an access of each of them.
    is_joint: ClassVar[bool] = False

    def __init__(self, words: Words) -> None:
        self.words = words
        if "sync" not in words:
            self.waits_for = ""

    def warps(self, active: Active) -> int:
        """Return the number of warps that a batch has room for."""
        return active.batch.threads.room * active.batch.threads.warps

    def slots(self, active: Active) -> Array:
        """Return the index of each active lane when warps are padded to 32 lanes."""
        return active.per_lane(active.batch.threads.slot_of)

    def spread(self, active: Active, slots: Array, values: Array, fill: Array | int = 0) -> Array:
        """Return values by warp and lane; ``fill`` for inactive lanes."""
        table = np.full(self.warps(active) * WARP, fill, dtype=values.dtype)
        table[slots] = values
        return table.reshape(-1, WARP)

    def bits(self, active: Active, slots: Array, values: Array) -> Array:
        """Return per active lane the mask of the lanes of its warp whose value is true."""
        masks: Array = pack(self.spread(active, slots, values))[slots // WARP]
        return masks

    def present(self, active: Active, slots: Array) -> Array:
        """Return per active lane the mask of the active lanes of its warp."""
        return self.bits(active, slots, np.ones(len(slots), dtype=np.bool_))


def pack(table: Array) -> Array:
    """Return rows of 32 truth values as words, the first value in the lowest bit."""
    return np.packbits(table, axis=-1, bitorder="little").view("<u4")[..., 0]


class Shuffle(WarpAction):
    """``shfl.sync``, and ``shfl`` of old targets: read another lane's register.

    The register of a lane that does not take part is undefined: an H100 reads 0 from one that does
    not exist.
    """

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write the value and, if requested, whether the lane was in range."""
        value, b, c = sources[:3]
        index, in_range, is_partial = self._origin(active, b, c)
        np.copyto(destinations[0], value.take(index))
        if is_partial:
            np.copyto(destinations[0], 0, where=index < 0)
        if len(destinations) > 1:
            np.copyto(destinations[1], in_range)

    def _origin(self, active: Active, b: Array, c: Array) -> tuple[Array, Array, bool]:
        """Return per lane the active lane that it reads, or -1, and whether that was in range.

        The last value is whether some lanes read one that is not active.
        """
        uniform = b.strides == c.strides == (0,)
        if not uniform or not active.batch.threads.whole_warps(active):
            return self._compute(active, b, c)
        key = (self.words["mode"], int(b[0]), int(c[0]), active.lane(0), active.count)
        shuffles = active.batch.shuffles
        known = shuffles.get(key)
        if known is None:
            if len(shuffles) >= _SHUFFLES_KEPT:
                shuffles.clear()
            known = shuffles[key] = self._repeated(active, b, c)
        return known

    def _repeated(self, active: Active, b: Array, c: Array) -> tuple[Array, Array, bool]:
        """Return the same for whole warps with one pattern, which is repeated."""
        width = min(active.batch.threads.threads, WARP)
        if active.batch.threads.threads % width:  # the last warp of each block is a short one
            return self._compute(active, b, c)
        lane = np.arange(width)
        other, in_range = self.named(lane, int(b[0]), int(c[0]))
        place = np.where(in_range, other, lane)
        first = np.arange(0, active.count, width)
        index = np.where(place < width, np.add.outer(first, place), -1)
        return index.reshape(-1), np.tile(in_range, len(first)), bool((place >= width).any())

    def named(self, lane: Array, b: Array | int, c: Array | int) -> tuple[Array, Array]:
        """Return the lane of its warp that each lane names, and whether it is in range."""
        amount, limit, segment = b & 31, c & 31, c >> 8 & 31
        lowest = lane & segment
        highest = lowest | (limit & ~segment)
        other: Array
        match self.words["mode"]:
            case "up":
                other = lane - amount
                return other, other >= highest
            case "down":
                other = lane + amount
            case "bfly":
                other = lane ^ amount
            case _:  # idx
                other = lowest | (amount & ~segment)
        return other, other <= highest

    def _compute(self, active: Active, b: Array, c: Array) -> tuple[Array, Array, bool]:
        slots = self.slots(active)
        lane = slots % WARP
        other, in_range = self.named(lane, b, c)
        wanted = slots - lane + np.where(in_range, other, lane)
        index = self.spread(active, slots, np.arange(len(slots)), -1).reshape(-1)[wanted]
        return index, in_range, bool((index < 0).any())


class Vote(WarpAction):
    """``vote.sync``, and ``vote`` of old targets."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Combine a predicate over the lanes of the member mask."""
        value, *masks = sources
        mask = masks[0] if masks else np.uint32(0xFFFFFFFF)
        slots = self.slots(active)
        true = self.bits(active, slots, value) & mask
        if self.words["mode"] == "ballot":
            np.copyto(destinations[0], true)
            return
        every = true == self.present(active, slots) & mask
        result = {"all": every, "any": true != 0, "uni": every | (true == 0)}
        np.copyto(destinations[0], result[self.words["mode"]])


class Match(WarpAction):
    """``match.sync``: the lanes with the same value."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Compare every lane of a warp with every other."""
        value, mask = sources
        slots = self.slots(active)
        table = self.spread(active, slots, value)
        here = self.present(active, slots) & mask
        warp, lane = slots // WARP, slots % WARP
        same = pack(table[:, :, None] == table[:, None, :])[warp, lane] & here
        if self.words["mode"] == "any":
            np.copyto(destinations[0], same)
            return
        every = same == here
        np.copyto(destinations[0], np.where(every, here, 0), casting="unsafe")
        if len(destinations) > 1:
            np.copyto(destinations[1], every)


class Reduce(WarpAction):
    """``redux.sync``: a reduction over the member mask."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Reduce; lanes of a warp may be in groups with different masks."""
        np.copyto(destinations[0], self.reduced(active, *sources))

    def reduced(self, active: Active, value: Array, masks: Array) -> Array:
        """Return the result of each lane."""
        ufunc = INTEGER_OPERATIONS[self.words["op"]]
        warps = self.slots(active) // WARP
        _, groups = np.unique(warps << WARP | masks, return_inverse=True)
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        return ufunc.reduceat(value[order], starts, dtype=value.dtype)[groups]


class ReduceNumbers(Reduce):
    """``redux.sync`` of f32, by integers in the order of the numbers: -0 is less than +0."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Reduce; with ``.NaN`` a NaN wins, else it loses."""
        value, masks = sources
        if algebra.enabled:
            value = algebra.as_format(algebra.load(value, "f32"), "f32")
        bits = (np.abs(value) if self.words["abs"] else value).view(np.int32)
        wins = (self.words["op"] == "max") == bool(self.words["NaN"])
        nan = np.int32(0x7FFFFFFF) if wins else np.int32(-0x80000000)
        total = self.reduced(active, np.where(np.isnan(value), nan, _in_order(bits)), masks)
        result = np.where(total == nan, np.int32(0x7FFFFFFF), _in_order(total))
        np.copyto(destinations[0], result.view(np.float32))


def _in_order(bits: Array) -> Array:
    """Return integers in the order of the f32 values with these bits, or the bits of integers."""
    ordered: Array = bits ^ (bits >> 31 & np.int32(0x7FFFFFFF))
    return ordered


class ActiveMask(WarpAction):
    """``activemask``: the active lanes of the warp."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write the mask."""
        np.copyto(destinations[0], self.present(active, self.slots(active)))


class Elect(WarpAction):
    """``elect.sync``: one lane of the member mask, here the lowest."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write the leader's lane and whether a lane is the leader."""
        slots = self.slots(active)
        here = self.present(active, slots) & sources[0]
        lowest = here & (~here + np.uint32(1))
        leader = np.log2(lowest.astype(np.float64)).astype(np.uint32)
        np.copyto(destinations[0], leader)
        if len(destinations) > 1:
            np.copyto(destinations[1], leader == slots % WARP)
