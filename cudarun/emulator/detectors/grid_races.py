"""Races between grids that a kernel launches: with each other, and with the launching grid.

`RaceDetector` finds the races between the threads of one grid. Here the threads of a grid count as
one: an access conflicts with those of other grids that do not happen before it (`GridOrder`).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.detectors.findings import (
    AccessedBytes,
    AccessSite,
    DetectorFinding,
    FindingTable,
)
from cudarun.emulator.detectors.footprints import Footprint, footprints
from cudarun.emulator.detectors.grid_order import GridOrder
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.detectors.shadow import Shadow
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Section
from cudarun.emulator.machine.threads import place_of_thread
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.access import Access, MemoryAction
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.child_grids import ChildGrid
    from cudarun.emulator.machine.lanes import Indices
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.memory import Allocation


_THREAD_BITS = 32
_THREAD = (1 << _THREAD_BITS) - 1


@dataclass(frozen=True, slots=True)
class _Conflict:
    """Accesses of lanes that conflict with those in shadow memory."""

    access: Access
    site: Site
    region: Allocation
    offsets: Array
    threads: Array
    recorded: Array
    before: Array | None


class GridHistory:
    """The accesses of all grids that descend from one launch, and their order."""

    def __init__(self) -> None:
        self.order = GridOrder()
        self.shadows: dict[Allocation, Shadow] = {}
        self.launches: dict[int, Launch] = {}
        self.now = 0
        self._grids = array("I", [0])
        self._accesses: list[tuple[Site, str] | None] = [None]

    def next(self, site: Site, kind: str) -> int:
        """Return the time of an access of the current grid."""
        self.now += 1
        self._grids.append(self.order.current)
        self._accesses.append((site, kind))
        return self.now

    def grids(self, times: Array) -> Array:
        """Return the grids of some times."""
        return np.frombuffer(self._grids, dtype=np.uint32)[times]

    def access(self, time: int) -> tuple[Site, str]:
        """Return the instruction of a time, and its effect on memory."""
        found = self._accesses[time]
        assert found is not None
        return found


class GridRaceDetector(Detector):
    """A detector of races of one grid with the other ones."""

    def __init__(self, launch: Launch, findings: FindingTable, history: GridHistory) -> None:
        self._launch = launch
        self._findings = findings
        self._history = history
        self._conflicts: list[_Conflict] = []
        history.launches[history.order.current] = launch

    def child_launched(self, launch: Launch, child: ChildGrid, stream: int, block: int) -> None:
        """See `Observer`."""
        self._history.order.launched(child, stream, block, self._history.now)

    def accessed(self, access: Access, site: Site, active: Active, addresses: Array) -> None:
        """See `Detector`."""
        history = self._history
        time = history.next(site, access.kind.value) << _THREAD_BITS
        lanes = lane_sets.indices(active.lanes)
        numbers = (active.batch.threads.number(0) + lanes) & _THREAD
        for part in footprints(access, active, addresses):
            if isinstance(part.region, Section):
                continue
            threads = numbers if part.positions is None else numbers[part.positions]
            shadow = history.shadows.get(part.region)
            if shadow is None:
                shadow = Shadow(len(part.region.bytes), part.region.base, access.bytes)
                history.shadows[part.region] = shadow
            self._check(access, site, part, shadow, threads, threads | time)

    def _check(
        self,
        access: Access,
        site: Site,
        part: Footprint,
        shadow: Shadow,
        threads: Array,
        words: Array,
    ) -> None:
        assert not isinstance(part.region, Section)
        plain_write = access.writes and not access.strong
        for units in shadow.units(part.offsets, access.bytes):
            for recorded in (shadow.writes[units], shadow.reads[0][units] if plain_write else None):
                if recorded is None:
                    continue
                chosen = self._unordered(recorded)
                if len(chosen):
                    region, offsets = part.region, shadow.first_bytes(units[chosen])
                    before = _bytes(region, offsets, shadow.unit) if plain_write else None
                    self._conflicts.append(
                        _Conflict(
                            access, site, region, offsets, threads[chosen], recorded[chosen], before
                        )
                    )
            (shadow.writes if plain_write else shadow.reads[0])[units] = words

    def _unordered(self, recorded: Array) -> Indices:
        """Return the places of accesses by other grids that do not happen before."""
        suspects = np.flatnonzero(recorded)
        times = recorded[suspects] >> _THREAD_BITS
        cuts = self._history.order.cuts()
        found: Indices = suspects[times > cuts[self._history.grids(times)]]
        return found

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Report the conflicts; a write that changes nothing is none."""
        for conflict in self._conflicts:
            rows = np.arange(len(conflict.offsets))
            if conflict.before is not None:
                after = _bytes(conflict.region, conflict.offsets, conflict.before.shape[1])
                rows = np.flatnonzero((after != conflict.before).any(axis=1))
            if len(rows):
                self._report(conflict, rows)
        self._conflicts.clear()

    def _report(self, conflict: _Conflict, rows: Indices) -> None:
        times = conflict.recorded[rows] >> _THREAD_BITS
        for time in np.unique(times):
            those = rows[times == time]
            site, kind = self._history.access(int(time))
            if self._findings.known("race", (site, conflict.site), len(those)):
                continue
            row = int(those[0])
            (grid,) = self._history.grids(np.array([time]))
            earlier = self._history.launches[int(grid)]
            places = (
                AccessSite(
                    kind, site, *place_of_thread(earlier, int(conflict.recorded[row]) & _THREAD)
                ),
                AccessSite(
                    conflict.access.kind.value,
                    conflict.site,
                    *place_of_thread(self._launch, int(conflict.threads[row])),
                ),
            )
            region, first = conflict.region, int(conflict.offsets[row])
            memory = AccessedBytes(
                "global", region.base + first, conflict.access.bytes, region.label, first
            )
            name = self._launch.kernel.name
            self._findings.add(DetectorFinding("race", name, memory, places, len(those)))


def _bytes(region: Allocation, offsets: Array, size: int) -> Array:
    found: Array = region.bytes[offsets[:, None] + np.arange(size)]
    return found
