"""Races between grids that a kernel launches: with each other, and with the launching grid.

`RaceDetector` finds the races between the threads of one grid. Here the threads of a grid count as
one: an access conflicts with those of other grids that do not happen before it (`GridOrder`).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.detectors.agents import Agents
from cudarun.emulator.detectors.findings import FindingTable
from cudarun.emulator.detectors.grid_order import GridOrder
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.detectors.race_reports import RaceReporter
from cudarun.emulator.detectors.shadow import Shadow
from cudarun.emulator.detectors.vector_clocks import THREAD_BITS, THREAD_MASK, LogicalClock
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Section
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.access import Access, Footprint, MemoryAction
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.child_grids import ChildGrid
    from cudarun.emulator.machine.lanes import Indices
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.memory import Allocation


@dataclass(frozen=True, slots=True)
class _Conflict:
    """Accesses of lanes, and those in shadow memory with which they conflict.

    Attributes:
        at: The instruction, and the access.
        memory: The allocation, the first byte of each, and the number of bytes.
        words: The timestamp and the thread of each.
        recorded: The same of the others.
        before: The bytes before a plain write.
    """

    at: tuple[Site, Access]
    memory: tuple[Allocation, Array, int]
    words: Array
    recorded: Array
    before: Array | None


class GridHistory:
    """The accesses of all grids that descend from one launch, and their order."""

    def __init__(self) -> None:
        self.order = GridOrder()
        self.clock = LogicalClock()
        self.shadows: dict[Allocation, Shadow] = {}
        self.launches: dict[int, Launch] = {}
        self._grids = array("I", [0])

    def next(self, site: Site, access: Access) -> int:
        """Return the time of an access of the current grid."""
        self._grids.append(self.order.current)
        return self.clock.next(self.clock.site_number(site, access))

    def grids(self, times: Array) -> Array:
        """Return the grids of some times."""
        return np.frombuffer(self._grids, dtype=np.uint32)[times]

    def launch_at(self, time: int) -> Launch:
        """Return the launch that made the access of a time."""
        return self.launches[self._grids[time]]


class GridRaceDetector(Detector):
    """A detector of races of one grid with the other ones."""

    def __init__(self, launch: Launch, findings: FindingTable, history: GridHistory) -> None:
        self._history = history
        self._conflicts: list[_Conflict] = []
        self._reporter = RaceReporter(launch, findings, history.clock, Agents(), history.launch_at)
        history.launches[history.order.current] = launch

    def child_launched(self, launch: Launch, child: ChildGrid, stream: int, block: int) -> None:
        """See `Observer`."""
        self._history.order.launched(child, stream, block, self._history.clock.now)

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        history = self._history
        time = history.next(site, access) << THREAD_BITS
        lanes = lane_sets.indices(active.lanes)
        words = (active.batch.threads.number(0) + lanes) & THREAD_MASK | time
        plain_write = access.writes and not access.strong
        for part in parts:
            region = part.region
            if isinstance(region, Section):
                continue
            mine = words if part.positions is None else words[part.positions]
            shadow = history.shadows.get(region)
            if shadow is None:
                shadow = history.shadows[region] = Shadow(
                    len(region.bytes), region.base, access.bytes
                )
            for units in shadow.units(part.offsets, access.bytes):
                earlier = (shadow.writes, shadow.reads[0]) if plain_write else (shadow.writes,)
                for recorded in [each[units] for each in earlier]:
                    chosen = self._unordered(recorded)
                    if not len(chosen):
                        continue
                    memory = region, shadow.first_bytes(units[chosen]), shadow.unit
                    before = _bytes(*memory) if plain_write else None
                    self._conflicts.append(
                        _Conflict((site, access), memory, mine[chosen], recorded[chosen], before)
                    )
                (shadow.writes if plain_write else shadow.reads[0])[units] = mine

    def _unordered(self, recorded: Array) -> Indices:
        """Return the places of accesses by other grids that do not happen before."""
        suspects = np.flatnonzero(recorded)
        times = recorded[suspects] >> THREAD_BITS
        cuts = self._history.order.cuts()
        found: Indices = suspects[times > cuts[self._history.grids(times)]]
        return found

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Report the conflicts; a write that changes nothing is none."""
        for each in self._conflicts:
            region, offsets, size = each.memory
            rows = np.arange(len(offsets))
            if each.before is not None:
                rows = np.flatnonzero((_bytes(*each.memory) != each.before).any(axis=1))
            memory = region, offsets[rows], size
            self._reporter.pairs(each.recorded[rows], each.words[rows], each.at, memory)
        self._conflicts.clear()


def _bytes(region: Allocation, offsets: Array, size: int) -> Array:
    found: Array = region.bytes[offsets[:, None] + np.arange(size)]
    return found
