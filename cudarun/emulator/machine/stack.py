"""The stack of each lane: frames grow from the start of local memory, ``alloca`` from the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import FunctionCode, Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.words import Words


_LEAST_ALIGNMENT = 16


class Stack:
    """Frames and dynamic allocations of all lanes of a batch, as offsets in local memory."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        # Per lane, the start of its dynamic allocations, where frames must end.
        self.limit = np.zeros(batch.lanes, dtype=np.uint64)
        self._bases: dict[int, Array] = {}
        self._limits: dict[int, Array] = {}

    def begin(self, lanes: Lanes = slice(None)) -> None:
        """Reset the stacks of lanes, by default of all, for new blocks."""
        self.limit[lanes] = self.batch.launch.local_stride

    def base(self, depth: int) -> Array:
        """Return per lane the start of the local variables of the function at a call depth."""
        if depth not in self._bases:
            self._bases[depth] = np.zeros(self.batch.lanes, dtype=np.uint64)
            self._limits[depth] = np.zeros(self.batch.lanes, dtype=np.uint64)
        return self._bases[depth]

    def enter(
        self,
        depth: int,
        lanes: Lanes,
        caller: FunctionCode,
        callee: FunctionCode,
        site: Site | None,
    ) -> None:
        """Push the frames of a function at the next depth."""
        base = self.base(depth)[lanes] + np.uint64(caller.frame_bytes)
        over = base + np.uint64(callee.frame_bytes) > self.limit[lanes]
        if over.any():
            lane = int(lane_sets.indices(lanes)[np.argmax(over)])
            raise self.batch.launch.stack_overflow(self.batch.threads, lane, callee, site)
        self.base(depth + 1)[lanes] = base
        self.batch.observer.stack_grows(self.batch, lanes, base, callee.frame_bytes)
        self._limits[depth + 1][lanes] = self.limit[lanes]

    def leave(self, depth: int, lanes: Lanes) -> None:
        """Pop the frames of a function at a depth, including its dynamic allocations."""
        self.base(depth)
        self.limit[lanes] = self._limits[depth][lanes]


class StackAllocate:
    """``alloca``."""

    def __init__(self, words: Words) -> None:
        self.alignment = max(words.constants.get("align", 1), _LEAST_ALIGNMENT)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Take bytes from the end of local memory; the address is in the local space."""
        stack, function = active.batch.stack, active.frame.function
        limit = active.per_lane(stack.limit)
        size = sources[0].astype(np.uint64)
        start = (limit - size) & ~np.uint64(self.alignment - 1)
        depth = len(active.path) - 1
        end = active.per_lane(stack.base(depth)) + np.uint64(function.frame_bytes)
        over = (size > limit) | (start < end)
        if over.any():
            lane = active.lane(int(np.argmax(over)))
            launch = active.batch.launch
            raise launch.stack_overflow(active.batch.threads, lane, function, active.site)
        stack.limit[active.lanes] = start
        active.batch.observer.stack_grows(active.batch, active.lanes, start, size)
        np.copyto(destinations[0], start, casting="unsafe")


class StackSave:
    """``stacksave``."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Return the limit of dynamic allocations."""
        np.copyto(destinations[0], active.per_lane(active.batch.stack.limit), casting="unsafe")


class StackRestore:
    """``stackrestore``."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Free what was allocated since then."""
        active.batch.stack.limit[active.lanes] = sources[0]
