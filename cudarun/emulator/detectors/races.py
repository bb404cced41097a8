"""The race detector: unordered accesses to one byte by two threads, one of them a plain write.

Covers shared and global memory. Atomic and volatile accesses do not race with each other, and a
plain read does not race with an atomic write: kernels read before they swap. Two writes of the same
value are no race either: it is common that many threads set one flag, and the result is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
from cudarun.emulator.detectors.shadow import Shadow
from cudarun.emulator.detectors.vector_clocks import LogicalClock
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction, Section
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
        self._strong_writes: set[int] = set()  # the numbers of instructions
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
        number = self._logical_clock.site_number(site, access.kind)
        if access.strong and access.writes:
            self._strong_writes.add(number)
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
        shadow, units = step.shadow, step.units
        plain_write = step.access.writes and not step.access.strong
        recorded = shadow.writes[units]
        chosen = self._unordered(step, order, recorded)
        if len(chosen) and plain_write:
            before = step.bytes_at(chosen)
            self._overwritten.append(_Overwritten(step, chosen, recorded[chosen], before))
        elif len(chosen):
            self._report(step, chosen, recorded[chosen])
        if plain_write:
            self._check_reads(step, order)
            shadow.writes[units] = step.words
            lost = (shadow.writes[units] != step.words).nonzero()[0]
            if len(lost):
                self._lost.append((step, lost))
        else:
            if self._findings.baseline is not None:
                self._check_mixed(step, order)
            self._note_read(step)

    def _check_reads(self, step: _UnitAccess, order: HappensBefore) -> None:
        reads, others = step.shadow.reads[step.units], step.shadow.others[step.units]
        chosen = self._unordered(step, order, reads)
        if len(chosen):
            self._report(step, chosen, reads[chosen])
            others[chosen] = 0
        chosen = self._unordered(step, order, others)
        if len(chosen):
            self._report(step, chosen, others[chosen])

    def _check_mixed(self, step: _UnitAccess, order: HappensBefore) -> None:
        """Check a read after atomic and volatile writes, or one of these after reads."""
        clock, is_read = self._logical_clock, step.access.kind is AccessKind.READ
        for recorded in (step.shadow.reads[step.units], step.shadow.others[step.units]):
            chosen = self._unordered(step, order, recorded)
            for number, those in groups(clock.site_numbers(recorded[chosen] >> THREAD_BITS)):
                _, kind = clock.site(number)
                if number in self._strong_writes if is_read else kind is AccessKind.READ:
                    self._report(step, chosen[those], recorded[chosen[those]], mixed=True)

    def _note_read(self, step: _UnitAccess) -> None:
        """Record the last read, and one by another thread."""
        shadow, units, words = step.shadow, step.units, step.words
        recorded = shadow.reads[units]
        older = (_threads(recorded) != _threads(words)).nonzero()[0]
        older = older[recorded[older] != 0]
        if len(older):
            shadow.others[units[older]] = recorded[older]
        shadow.reads[units] = words
        lost = (shadow.reads[units] != words).nonzero()[0]
        if len(lost):
            shadow.others[units[lost]] = words[lost]

    def _unordered(self, step: _UnitAccess, order: HappensBefore, recorded: Array) -> Indices:
        """Return the lanes with an access of another thread that does not happen before."""
        if isinstance(step.region, Section) and self._launch.cluster_blocks == 1:
            # Only threads of its block can access it.
            suspects = (recorded >> THREAD_BITS > order.of_block[step.lanes]).nonzero()[0]
        else:
            suspects = recorded.nonzero()[0]
        if len(suspects):
            others = _threads(recorded[suspects]) != _threads(step.words[suspects])
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

    def _report(
        self, step: _UnitAccess, chosen: Indices, recorded: Array, *, mixed: bool = False
    ) -> None:
        """Report races of lanes with the accesses in shadow memory."""
        numbers = self._logical_clock.site_numbers(recorded >> THREAD_BITS)
        for number, those in groups(numbers):
            site, kind = self._logical_clock.site(number)
            sites = (site, step.site)
            if mixed and self._findings.tolerates(sites):
                continue
            if self._findings.known("race", sites, len(those)):
                continue
            row = int(chosen[those[0]])
            earlier = int(recorded[those[0]]) & _THREAD
            later = int(step.words[row]) & _THREAD
            places = (
                AccessSite(kind.value, site, *place_of_thread(self._launch, earlier)),
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


def _threads(words: Array) -> Array:
    """Return the lower halves of words."""
    return words.view(np.uint32)[::2]


def _stored(action: MemoryStore, sources: Arrays, rows: Indices) -> Array:
    """Return the bytes that lanes store, a row each."""
    columns = split(sources[1 : 1 + action.count], action.elements)
    values = np.empty((len(rows), len(columns)), dtype=action.accesses[0].dtype)
    for place, column in enumerate(columns):
        values[:, place] = column[rows]
    return values.view(np.uint8)
