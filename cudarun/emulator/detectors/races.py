"""The race detector: unordered accesses to one byte by two threads, one of them a write.

Covers shared and global memory. Which pairs are races is in `conflicts.py`. Two plain writes of the
same value are none: it is common that many threads set one flag, and the result is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.detectors.conflicts import NARROW, Conflict, Conflicts
from cudarun.emulator.detectors.findings import (
    AccessedBytes,
    AccessSite,
    DetectorFinding,
    FindingTable,
    shared_bytes,
)
from cudarun.emulator.detectors.footprints import Footprint, footprints
from cudarun.emulator.detectors.groups import groups
from cudarun.emulator.detectors.happens_before import THREAD_BITS, HappensBefore
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.detectors.releases import ReleasedClocks
from cudarun.emulator.detectors.shadow import Shadow, threads
from cudarun.emulator.detectors.vector_clocks import LogicalClock
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, MemoryAction, Section
from cudarun.emulator.machine.threads import place_of_thread
from cudarun.emulator.machine.transfers import MemoryStore, split
from cudarun.emulator.memory import Allocation
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.barriers import Arrival
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.lanes import Indices, Lanes
    from cudarun.emulator.machine.launch import Launch


_THREAD = (1 << THREAD_BITS) - 1


@dataclass(frozen=True, slots=True)
class _UnitAccess:
    """The access of each lane to one unit of memory.

    Attributes:
        access: The access.
        site: The instruction.
        region: The memory.
        shadow: Its shadow.
        rows: The positions of the lanes among the active ones; ``None`` for all of them.
        lanes: The lanes of the batch.
        words: Timestamp and thread of each.
        units: The unit of each.
        place: The index of the unit in the access.
    """

    access: Access
    site: Site
    region: Allocation | Section
    shadow: Shadow
    rows: Indices | None
    lanes: Lanes
    words: Array
    units: Array
    place: int

    @property
    def space(self) -> str:
        """The state space."""
        return self.region.name if isinstance(self.region, Section) else "global"

    def bytes_at(self, chosen: Indices) -> Array:
        """Return the current bytes of some of the units, a row for each."""
        first = self.shadow.first_bytes(self.units[chosen])
        found: Array = self.region.bytes[first[:, None] + np.arange(self.shadow.unit)]
        return found


@dataclass(frozen=True, slots=True)
class _Overwritten:
    """Plain writes over other threads' plain writes: races if they change a value."""

    step: _UnitAccess
    chosen: Indices
    recorded: Array
    before: Array


class RaceDetector(Detector):
    """A detector of races in one launch."""

    def __init__(self, launch: Launch, findings: FindingTable) -> None:
        self._launch = launch
        self._findings = findings
        self._logical_clock = LogicalClock()
        self._orders: dict[Batch, HappensBefore] = {}
        self._shadows: dict[Allocation | Section, Shadow] = {}
        self._releases = ReleasedClocks()
        self._overwritten: list[_Overwritten] = []
        self._conflicts = Conflicts(launch.functions)
        self._checks_strong = findings.baseline is not None  # atomic accesses among each other
        self._lost: list[tuple[_UnitAccess, Indices]] = []

    # --- synchronization -------------------------------------------------------------------------

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Clear the shadow of shared memory for new blocks."""
        if batch not in self._orders:
            self._orders[batch] = HappensBefore(batch, self._logical_clock)
        self._orders[batch].begin(first_block)
        shadow = self._shadows.get(batch.section("shared"))
        if shadow is not None:
            shadow.clear()

    def timestamp(self) -> int:
        """Return the timestamp of the latest access."""
        return self._logical_clock.now

    def blocks_synchronize(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._orders[batch].blocks_synchronize(lanes)

    def barrier(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """See `Observer`."""
        self._orders[batch].barrier(released)

    def warps_synchronize(self, batch: Batch, lanes: Lanes, masks: Array | None) -> None:
        """See `Observer`."""
        self._orders[batch].warps_synchronize(lanes, masks)

    def warpgroups_synchronize(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._orders[batch].warpgroups_synchronize(lanes)

    def clusters_arrive(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._orders[batch].clusters_arrive(lanes)

    def clusters_synchronize(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._orders[batch].clusters_synchronize(lanes)

    def fence(self, active: Active, scope: str) -> None:
        """See `Detector`."""
        self._orders[active.batch].fence(active.lanes, scope)

    # --- accesses --------------------------------------------------------------------------------

    def accessed(self, access: Access, site: Site, active: Active, addresses: Array) -> None:
        """See `Detector`."""
        order, lanes = self._orders[active.batch], active.lanes
        number = self._logical_clock.site_number(site, access)
        self._checks_strong |= access.scope in NARROW or access.order == "volatile"
        words = order.numbers[lanes] | (self._logical_clock.next(number) << THREAD_BITS)
        if access.order in ("release", "acq_rel"):
            order.fence(active.lanes, access.scope)
        for part in footprints(access, active, addresses):
            if part.space not in ("global", "shared"):
                continue
            rows = part.positions
            here = lanes if rows is None else lane_sets.of(lane_sets.pick(lanes, rows))
            theirs = words if rows is None else words[rows]
            if access.strong:
                self._releases.acquire(access, part, order, lane_sets.indices(here))
            shadow = self._shadow(part, access.bytes)
            for place, units in enumerate(shadow.units(part.offsets, access.bytes)):
                step = _UnitAccess(
                    access, site, part.region, shadow, rows, here, theirs, units, place
                )
                self._check(step, order)
            if access.strong:
                self._releases.release(access, part, order, lane_sets.indices(here))

    def _shadow(self, part: Footprint, size: int) -> Shadow:
        shadow = self._shadows.get(part.region)
        if shadow is None:
            region = part.region
            shadow = Shadow(len(region.bytes), region.base, size)
            self._shadows[region] = shadow
        return shadow

    def _check(self, step: _UnitAccess, order: HappensBefore) -> None:
        shadow, units, access = step.shadow, step.units, step.access
        plain_write = access.writes and not access.strong
        recorded = shadow.writes[units]
        chosen = self._unordered(step, order, recorded)
        if len(chosen) and plain_write:
            before = step.bytes_at(chosen)
            self._overwritten.append(_Overwritten(step, chosen, recorded[chosen], before))
        elif len(chosen):
            self._report(step, chosen, recorded[chosen])
        if access.writes:
            self._check_pairs(step, order, shadow.reads)
        if shadow.strong is not None and (self._checks_strong or not access.strong):
            self._check_pairs(step, order, shadow.strong)
        if plain_write:
            shadow.writes[units] = step.words
            lost = (shadow.writes[units] != step.words).nonzero()[0]
            if len(lost):
                self._lost.append((step, lost))
            return
        lost = shadow.note(units, step.words, strong=access.writes)
        if len(lost) and access.scope in NARROW and shadow.strong is not None and access.writes:
            self._report_pairs(step, lost, shadow.strong[0][units[lost]])

    def _check_pairs(
        self, step: _UnitAccess, order: HappensBefore, pair: tuple[Array, Array]
    ) -> None:
        """Check an access against the last ones, and then against those of other threads."""
        last, others = pair[0][step.units], pair[1][step.units]
        chosen = self._unordered(step, order, last)
        if len(chosen):
            others[self._report_pairs(step, chosen, last[chosen])] = 0
        chosen = self._unordered(step, order, others)
        if len(chosen):
            self._report_pairs(step, chosen, others[chosen])

    def _report_pairs(self, step: _UnitAccess, chosen: Indices, recorded: Array) -> Indices:
        """Report the races among unordered pairs; return the lanes that have one."""
        clock, space = self._logical_clock, step.space
        found = []
        for number, those in groups(clock.site_numbers(recorded >> THREAD_BITS)):
            earlier = clock.site(number)
            conflict = self._conflicts.of(earlier, (step.site, step.access), space)
            if conflict is Conflict.APART:
                those = those[self._are_apart(step, chosen, recorded, those, earlier[1])]
            elif conflict is not Conflict.RACE and (
                conflict is Conflict.NONE
                or self._findings.baseline is None
                or self._findings.tolerates((earlier[0], step.site))
            ):
                continue
            if len(those):
                found.append(chosen[those])
                self._report(step, chosen[those], recorded[those])
        return np.concatenate(found) if found else chosen[:0]

    def _are_apart(
        self, step: _UnitAccess, chosen: Indices, recorded: Array, those: Indices, earlier: Access
    ) -> Array:
        """Return which threads are outside of the scope of the other one's access."""
        size = self._launch.block_threads
        if "cta" not in (earlier.scope, step.access.scope):
            size *= self._launch.cluster_blocks
        found: Array = (recorded[those] & _THREAD) // size != (
            step.words[chosen[those]] & _THREAD
        ) // size
        return found

    def _unordered(self, step: _UnitAccess, order: HappensBefore, recorded: Array) -> Indices:
        """Return the lanes with an access of another thread that does not happen before."""
        if isinstance(step.region, Section) and self._launch.cluster_blocks == 1:
            # Only threads of its block can access it.
            suspects = (recorded >> THREAD_BITS > order.of_block[step.lanes]).nonzero()[0]
        else:
            suspects = recorded.nonzero()[0]
        if len(suspects):
            others = threads(recorded[suspects]) != threads(step.words[suspects])
            suspects = suspects[others]
        if len(suspects):
            lanes = lane_sets.pick(step.lanes, suspects)
            suspects = suspects[order.unordered(lanes, recorded[suspects])]
        return suspects

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Report the writes over other threads' writes that changed a value."""
        for over in self._overwritten:
            changed = (over.step.bytes_at(over.chosen) != over.before).any(axis=1)
            if changed.any():
                self._report(over.step, over.chosen[changed], over.recorded[changed])
        self._overwritten.clear()
        for step, lost in self._lost:
            differs = np.ones(len(lost), dtype=np.bool_)
            if isinstance(action, MemoryStore):
                rows = lost if step.rows is None else step.rows[lost]
                given = _stored(action, sources, rows)
                start = step.place * step.shadow.unit
                given = given[:, start : start + step.shadow.unit]
                differs = (given != step.bytes_at(lost)).any(axis=1)
            lost = lost[differs]
            if len(lost):
                self._report(step, lost, step.shadow.writes[step.units[lost]])
        self._lost.clear()

    # --- findings --------------------------------------------------------------------------------

    def _report(self, step: _UnitAccess, chosen: Indices, recorded: Array) -> None:
        """Report races of lanes with the accesses in shadow memory."""
        numbers = self._logical_clock.site_numbers(recorded >> THREAD_BITS)
        for number, those in groups(numbers):
            site, access = self._logical_clock.site(number)
            sites = (site, step.site)
            if self._findings.known("race", sites, len(those)):
                continue
            row = int(chosen[those[0]])
            earlier = int(recorded[those[0]]) & _THREAD
            later = int(step.words[row]) & _THREAD
            places = (
                AccessSite(access.kind.value, site, *place_of_thread(self._launch, earlier)),
                AccessSite(
                    step.access.kind.value, step.site, *place_of_thread(self._launch, later)
                ),
            )
            name = self._launch.kernel.name
            memory = self._memory(step, row)
            self._findings.add(DetectorFinding("race", name, memory, places, len(those)))

    def _memory(self, step: _UnitAccess, row: int) -> AccessedBytes:
        first, size = int(step.shadow.first_bytes(step.units[row])), step.shadow.unit
        if isinstance(step.region, Section):
            return shared_bytes(self._launch, first, size)
        region = step.region
        return AccessedBytes("global", region.base + first, size, region.label, first)


def _stored(action: MemoryStore, sources: Arrays, rows: Indices) -> Array:
    """Return the bytes that lanes store, a row each."""
    columns = split(sources[1 : 1 + action.count], action.elements)
    values = np.empty((len(rows), len(columns)), dtype=action.accesses[0].dtype)
    for place, column in enumerate(columns):
        values[:, place] = column[rows]
    return values.view(np.uint8)
