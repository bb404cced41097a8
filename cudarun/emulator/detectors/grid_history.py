"""The accesses of grids that may overlap: those that a kernel launches, and programmatic launches.

The threads of a grid count as one: an access is unordered with those of other grids that do not
happen before it (`GridOrder`), if its thread does not know that they are complete.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import field

import numpy as np
import numpy.typing as npt

from cudarun.base.records import dataclass
from cudarun.emulator.detectors.agents import Agents
from cudarun.emulator.detectors.shadow import Shadow
from cudarun.emulator.detectors.vector_clocks import THREAD_BITS, THREAD_MASK, LogicalClock
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.child_grids import (
    FIRE_AND_FORGET_STREAM,
    LEGACY_STREAM,
    NULL_STREAM,
    PER_THREAD_STREAM,
    TAIL_STREAM,
    ChildGrid,
)
from cudarun.emulator.machine.lanes import groups
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import Section
from cudarun.emulator.memory import Allocation
from cudarun.emulator.numerics.arrays import Array, Mask

_ALWAYS = np.iinfo(np.int64).max
_OF_BLOCKS = (NULL_STREAM, LEGACY_STREAM, PER_THREAD_STREAM)  # each block has its own

Flags = npt.NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class HostGrid:
    """A grid that the host has launched."""

    grids: range = range(1)  # its number, and those of the grids that descend from it
    # The grids that may be incomplete when it begins.
    before: list[HostGrid] = field(default_factory=list)
    # The blocks after whose trigger its dependents may begin.
    triggered: set[int] = field(default_factory=set)
    has_waited: bool = False  # whether a thread has waited for the grids before
    # Whether a thread has done so before the trigger of its block.
    triggers_after_wait: bool = False

    def incomplete(self) -> list[HostGrid]:
        """Return the grids that may be incomplete when a programmatic launch after it begins."""
        if self.triggered:
            return [*([] if self.triggers_after_wait else self.before), self]
        return [] if self.has_waited else self.before


class GridOrder:
    """The happens-before order of grids, by the numbers in which they begin.

    A child grid comes after what its parent did before the launch and after the earlier children in
    its stream; a tail launch comes after its parent, all its parent's other children and the
    earlier tail launches. A grid comes with all its descendants. Nothing else orders grids:
    launches of two blocks, in two streams or with fire-and-forget can run side by side, and beside
    the rest of the parent.

    A programmatic launch of the host may begin when each block of the grid before it has executed
    ``griddepcontrol.launch_dependents``, or has exited. Whatever these blocks do is visible only
    after ``griddepcontrol.wait`` (PTX manual 9.7.13).
    """

    def __init__(self) -> None:
        self.clock = LogicalClock()  # of the accesses of all grids
        self.host = HostGrid()  # the last grid that the host has launched
        # The parent of each grid, its stream there, 0 for fire-and-forget, and the launch's time.
        self._grids = [(-1, 0, 0)]
        self._known: dict[tuple[int, int], int] = {}
        self._tail = self._stream(TAIL_STREAM, 0)
        self._launches: dict[ChildGrid, tuple[int, int, int]] = {}
        self._cuts: npt.NDArray[np.int64] | None = None

    @property
    def has_several(self) -> bool:
        """True if there are several grids."""
        return len(self._grids) > 1

    def _stream(self, stream: int, block: int) -> int:
        """Return the number of a stream of a parent."""
        if stream == FIRE_AND_FORGET_STREAM:
            return 0
        key = (NULL_STREAM, block) if stream in _OF_BLOCKS else (stream, 0)
        return self._known.setdefault(key, len(self._known) + 1)

    def launched(self, child: ChildGrid, stream: int, block: int, now: int) -> None:
        """Record a launch by a block of the current grid."""
        self._launches[child] = self.clock.grid, self._stream(stream, block), now

    def follow(self) -> None:
        """Handle the start of a programmatic launch."""
        before = self.host.incomplete()
        self._append(-1, 0, 0)
        self.host = HostGrid(range(self.clock.grid, self.clock.grid + 1), before)

    def begin(self, child: ChildGrid) -> None:
        """Handle the start of a child grid."""
        self._append(*self._launches.pop(child))
        self.host.grids = range(self.host.grids.start, self.clock.grid + 1)

    def _append(self, parent: int, stream: int, now: int) -> None:
        self.clock.grid = len(self._grids)
        self._grids.append((parent, stream, now))
        self._cuts = None

    def end(self) -> None:
        """Handle the exit of the threads of the current grid: its parent may continue."""
        self.clock.grid = self._grids[self.clock.grid][0]
        self._cuts = None

    def cuts(self) -> npt.NDArray[np.int64]:
        """Return by grid the time up to which its accesses happen before those of the current."""
        if self._cuts is not None:
            return self._cuts
        parents, streams, times = np.array(self._grids).T
        found = np.zeros(len(parents), dtype=np.int64)
        grid = self.clock.grid
        itself = np.arange(len(parents)) == grid
        found[_with_descendants(itself, parents)] = _ALWAYS  # they have run, and it goes on
        while (parent := int(parents[grid])) >= 0:
            earlier = parents == parent
            earlier[grid:] = False
            is_tail = streams[grid] == self._tail
            if not is_tail:
                earlier &= (streams == streams[grid]) & (streams > 0)
            found[_with_descendants(earlier, parents)] = _ALWAYS
            found[parent] = _ALWAYS if is_tail else max(found[parent], times[grid])
            grid = parent
        found[:grid] = _ALWAYS
        for host in self.host.before:
            found[host.grids.start : host.grids.stop] = 0
        self._cuts = found
        return found


def _with_descendants(grids: Flags, parents: npt.NDArray[np.int64]) -> Flags:
    """Return some grids and all that descend from them."""
    while True:
        more: Flags = grids | (grids[parents] & (parents >= 0))
        if (more == grids).all():
            return more
        grids = more


class GridHistory:
    """The accesses of some grids, and their order."""

    def __init__(self) -> None:
        self.order = GridOrder()
        # The accesses to global memory, and to that of batches.
        self.shadows: dict[Allocation | Section, Shadow] = {}
        self._grids: dict[int, tuple[Launch, Agents]] = {}

    def copied(self) -> GridHistory:
        """Return a copy, to which other grids can be added."""
        found = GridHistory()
        found.order = deepcopy(self.order)
        found.shadows = {memory: deepcopy(shadow) for memory, shadow in self.shadows.items()}
        found._grids = self._grids.copy()
        return found

    def add(self, launch: Launch, agents: Agents) -> None:
        """Note the launch of the current grid, and its asynchronous operations."""
        self._grids[self.order.clock.grid] = launch, agents

    def at(self, time: int) -> tuple[Launch, Agents]:
        """Return the launch that made the access of a time, and its asynchronous operations."""
        return self._grids[int(self.order.clock.grids(np.array([time]))[0])]

    def trigger(self, blocks: Array, knows: Mask) -> None:
        """Handle threads of blocks that let dependent grids begin.

        Args:
            knows: Whether each knows that the grids before are complete.
        """
        host = self.order.host
        for block, those in groups(blocks):
            if block not in host.triggered:
                host.triggered.add(block)
                host.triggers_after_wait |= bool(knows[those].any())

    def unordered(self, recorded: Array, knows: Mask) -> Mask:
        """Return which accesses of other grids do not happen before those of threads.

        Args:
            recorded: The timestamp and the thread of each.
            knows: Whether each thread knows that the grids before are complete.
        """
        times, threads = recorded >> THREAD_BITS, recorded & THREAD_MASK
        grids = self.order.clock.grids(times)
        found: Mask = times > self.order.cuts()[grids]
        found &= ~(knows & (grids < self.order.host.grids.start))
        for host in self.order.host.before if found.any() else ():
            launch, agents = self._grids[host.grids.start]
            those = np.flatnonzero(found & (grids == host.grids.start))
            issuers = np.array([*map(agents.issuer, threads[those].tolist())], dtype=np.int64)
            found[those] = np.isin(issuers // launch.block_threads, [*host.triggered])
        return found

    def missing(self, launch: Launch, time: int, access: Access) -> str:
        """Return what would have ordered the access of a time before one of the current grid."""
        grid = int(self.order.clock.grids(np.array([time]))[0])
        if grid >= self.order.host.grids.start:
            return ""
        name, before = launch.kernel.name, self._grids[grid][0].kernel.name
        what = access.kind.value
        return f"no griddepcontrol.wait of {name} before the {what}: {before} may still run"
