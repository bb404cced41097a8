"""The accesses of grids that may overlap: those that a kernel launches, and programmatic launches.

The threads of a grid count as one: an access is unordered with those of other grids that do not
happen before it (`GridOrder`), if its thread does not know that they are complete.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.detectors.grid_order import GridOrder
from cudarun.emulator.detectors.groups import groups
from cudarun.emulator.detectors.shadow import Shadow
from cudarun.emulator.detectors.vector_clocks import THREAD_BITS, THREAD_MASK, LogicalClock
from cudarun.emulator.numerics.arrays import Array, Mask

if TYPE_CHECKING:
    from cudarun.emulator.detectors.agents import Agents
    from cudarun.emulator.machine.access import Access
    from cudarun.emulator.machine.child_grids import ChildGrid
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.machine.regions import Section
    from cudarun.emulator.memory import Allocation


class GridHistory:
    """The accesses of some grids, and their order."""

    def __init__(self) -> None:
        self.order = GridOrder()
        self.clock = LogicalClock()
        # The accesses to global memory, and to that of batches.
        self.shadows: dict[Allocation | Section, Shadow] = {}
        self._grids: dict[int, tuple[Launch, Agents]] = {}

    def copied(self) -> GridHistory:
        """Return a copy, to which other grids can be added."""
        found = GridHistory()
        found.order, found.clock = deepcopy((self.order, self.clock))
        found.shadows = {memory: deepcopy(shadow) for memory, shadow in self.shadows.items()}
        found._grids = self._grids.copy()
        return found

    def follow(self) -> None:
        """Handle the start of a programmatic launch."""
        self.order.follow()
        self.clock.grid = self.order.current

    def begin(self, child: ChildGrid) -> None:
        """Handle the start of a child grid."""
        self.order.begin(child)
        self.clock.grid = self.order.current

    def end(self) -> None:
        """Handle the exit of the threads of the current grid: its parent may continue."""
        self.order.end()
        self.clock.grid = self.order.current

    def add(self, launch: Launch, agents: Agents) -> None:
        """Note the launch of the current grid, and its asynchronous operations."""
        self._grids[self.order.current] = launch, agents

    def at(self, time: int) -> tuple[Launch, Agents]:
        """Return the launch that made the access of a time, and its asynchronous operations."""
        return self._grids[int(self.clock.grids(np.array([time]))[0])]

    def trigger(self, blocks: Array, knows: Mask) -> None:
        """Handle threads of blocks that let dependent grids begin.

        Args:
            blocks: The block of each.
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
        grids = self.clock.grids(times)
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
        grid = int(self.clock.grids(np.array([time]))[0])
        if grid >= self.order.host.grids.start:
            return ""
        name, before = launch.kernel.name, self._grids[grid][0].kernel.name
        what = access.kind.value
        return f"no griddepcontrol.wait of {name} before the {what}: {before} may still run"
