"""Races between grids: of those that a kernel launches, and of programmatic launches.

`RaceDetector` finds the races between the threads of one grid. Here the threads of a grid count as
one: an access conflicts with those of other grids that do not happen before it (`GridOrder`), if
its thread does not know that they are complete.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.detectors.agents import Agents
from cudarun.emulator.detectors.findings import FindingTable
from cudarun.emulator.detectors.grid_order import GridOrder
from cudarun.emulator.detectors.groups import groups
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
    from cudarun.emulator.detectors.races import RaceDetector
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
    """The accesses of grids, and their order."""

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

    def __init__(
        self, launch: Launch, findings: FindingTable, history: GridHistory, races: RaceDetector
    ) -> None:
        self._launch = launch
        self._history = history
        self._races = races
        self._conflicts: list[_Conflict] = []
        self._reporter = RaceReporter(launch, findings, history.clock, Agents(), history.launch_at)
        history.launches[history.order.current] = launch

    def child_launched(self, launch: Launch, child: ChildGrid, stream: int, block: int) -> None:
        """See `Observer`."""
        self._history.order.launched(child, stream, block, self._history.clock.now)

    def depends(self, active: Active, *, waits: bool) -> None:
        """See `Detector`."""
        host = self._history.order.host
        if waits:
            host.has_waited = True
            return
        batch, knows = active.batch, self._races.is_after_grids(active)
        for block, those in groups(batch.first_block + batch.threads.block_of[active.lanes]):
            if block not in host.triggered:
                host.triggered.add(block)
                host.triggers_after_wait |= bool(knows[those].any())

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
                earlier = [shadow.writes]
                if access.writes:
                    earlier.append(shadow.reads[0])
                if shadow.strong is not None and not access.strong:
                    earlier.append(shadow.strong[0])
                for recorded in [each[units] for each in earlier]:
                    chosen = self._unordered(recorded, active, part.positions)
                    if access.strong:
                        chosen = chosen[self._are_weak(recorded[chosen])]
                    if not len(chosen):
                        continue
                    memory = region, shadow.first_bytes(units[chosen]), shadow.unit
                    before = _bytes(*memory) if plain_write else None
                    self._conflicts.append(
                        _Conflict((site, access), memory, mine[chosen], recorded[chosen], before)
                    )
                if plain_write:
                    shadow.writes[units] = mine
                else:
                    shadow.note(units, mine, strong=access.writes)

    def _are_weak(self, recorded: Array) -> Array:
        """Return which accesses are neither atomic nor volatile."""
        clock = self._history.clock
        numbers = clock.site_numbers(recorded >> THREAD_BITS).tolist()
        return np.array([not clock.site(number)[1].strong for number in numbers], dtype=np.bool_)

    def _unordered(self, recorded: Array, active: Active, positions: Indices | None) -> Indices:
        """Return the places of accesses by other grids that do not happen before."""
        history, order = self._history, self._history.order
        suspects = np.flatnonzero(recorded)
        times = recorded[suspects] >> THREAD_BITS
        grids = history.grids(times)
        found = times > order.cuts()[grids]
        if found.any() and order.host.before:
            overlapping = grids < order.host.grids.start
            if self._launch.origin is None:
                knows = self._races.is_after_grids(active)
                knows = knows if positions is None else knows[positions]
                found &= ~(overlapping & knows[suspects])
            for host in order.host.before:
                first = host.grids.start
                threads = recorded[suspects] & THREAD_MASK
                blocks = threads // history.launches[first].block_threads
                found &= (grids != first) | np.isin(blocks, [*host.triggered])
        places: Indices = suspects[found]
        return places

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Report the conflicts; a write that changes nothing is none."""
        for each in self._conflicts:
            region, offsets, size = each.memory
            rows = np.arange(len(offsets))
            if each.before is not None:
                rows = np.flatnonzero((_bytes(*each.memory) != each.before).any(axis=1))
            memory = region, offsets[rows], size
            pairs = each.recorded[rows], each.words[rows]
            self._reporter.pairs(*pairs, each.at, memory, self._missing(each))
        self._conflicts.clear()

    def _missing(self, conflict: _Conflict) -> str:
        """Return what would have ordered a grid and the grids of the host before it."""
        grid = int(self._history.grids(conflict.recorded[:1] >> THREAD_BITS)[0])
        if grid >= self._history.order.host.grids.start:
            return ""
        name, before = self._launch.kernel.name, self._history.launches[grid].kernel.name
        what = conflict.at[1].kind.value
        return f"no griddepcontrol.wait of {name} before the {what}: {before} may still run"


def _bytes(region: Allocation, offsets: Array, size: int) -> Array:
    found: Array = region.bytes[offsets[:, None] + np.arange(size)]
    return found
