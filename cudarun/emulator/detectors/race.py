"""Races: accesses to one byte by two threads that nothing orders, one of them a plain write.

Shared and global memory. Atomic and volatile accesses do not race with each other, and a plain read
does not race with an atomic write: kernels look before they swap. Two writes of the same value are
no race either: many threads that set one flag are a habit, and nobody can tell them apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.detectors.clocks import Timeline
from cudarun.emulator.detectors.findings import Finding, Findings, Memory, Place, shared_name
from cudarun.emulator.detectors.past import THREAD_BITS, Past
from cudarun.emulator.detectors.publishing import Published
from cudarun.emulator.detectors.shadow import Shadow
from cudarun.emulator.detectors.touched import Touched, touched
from cudarun.emulator.detectors.watched import Detector
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, MemoryAction, Section
from cudarun.emulator.machine.threads import place_of_thread
from cudarun.emulator.machine.transfers import Store, split
from cudarun.emulator.memory import Allocation
from cudarun.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.barriers import Arrival
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.lanes import Indices, Lanes
    from cudarun.emulator.machine.launch import Launch

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]

_THREAD = (1 << THREAD_BITS) - 1


@dataclass(frozen=True, slots=True)
class _Step:
    """What lanes do to one unit each.

    Attributes:
        access: The access.
        site: The instruction.
        region: The memory.
        shadow: Its shadow.
        rows: Which of the active lanes these are; ``None`` for all of them.
        lanes: The same as lanes of the batch.
        words: Moment and thread of each.
        units: The unit of each.
        place: Which unit of the access it is.
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
        """What memory holds now at some of the units, a row of bytes each."""
        first = self.shadow.first_bytes(self.units[chosen])
        found: Array = self.region.bytes[first[:, None] + np.arange(self.shadow.unit)]
        return found


@dataclass(frozen=True, slots=True)
class _Overwritten:
    """Plain writes over others' plain writes, which matter if they change something."""

    step: _Step
    chosen: Indices
    held: Array
    before: Array


class Races(Detector):
    """Finds races in one launch."""

    def __init__(self, launch: Launch, findings: Findings) -> None:
        self._launch = launch
        self._findings = findings
        self._timeline = Timeline()
        self._pasts: dict[Batch, Past] = {}
        self._shadows: dict[Allocation | Section, Shadow] = {}
        self._published = Published()
        self._overwritten: list[_Overwritten] = []
        self._lost: list[tuple[_Step, Indices]] = []

    # --- what orders accesses --------------------------------------------------------------------

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Nothing has been done yet to the shared memory of new blocks."""
        if batch not in self._pasts:
            self._pasts[batch] = Past(batch, self._timeline)
        self._pasts[batch].begin(first_block)
        shadow = self._shadows.get(batch.section("shared"))
        if shadow is not None:
            shadow.clear()

    def moment(self) -> int:
        """The moment of the latest access."""
        return self._timeline.now

    def blocks_meet(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._pasts[batch].blocks_meet(lanes)

    def barrier(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """See `Observer`."""
        self._pasts[batch].barrier(released)

    def warps_meet(self, batch: Batch, lanes: Lanes, masks: Array | None) -> None:
        """See `Observer`."""
        self._pasts[batch].warps_meet(lanes, masks)

    def warpgroups_meet(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._pasts[batch].warpgroups_meet(lanes)

    def clusters_arrive(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._pasts[batch].clusters_arrive(lanes)

    def clusters_meet(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self._pasts[batch].clusters_meet(lanes)

    def fence(self, active: Active, scope: str) -> None:
        """See `Detector`."""
        self._pasts[active.batch].fence(active.lanes, scope)

    # --- accesses --------------------------------------------------------------------------------

    def accessed(self, access: Access, site: Site, active: Active, addresses: Array) -> None:
        """See `Detector`."""
        past, lanes = self._pasts[active.batch], active.lanes
        number = self._timeline.site_number(site, access.kind)
        words = past.numbers[lanes] | (self._timeline.next(number) << THREAD_BITS)
        if access.order in ("release", "acq_rel"):
            past.fence(active.lanes, access.scope)
        for part in touched(access, active, addresses):
            if part.space not in ("global", "shared"):
                continue
            rows = part.positions
            here = lanes if rows is None else lane_sets.of(lane_sets.pick(lanes, rows))
            theirs = words if rows is None else words[rows]
            if access.strong:
                self._published.read(access, part, past, lane_sets.indices(here))
            shadow = self._shadow(part, access.bytes)
            for place, units in enumerate(shadow.units(part.offsets, access.bytes)):
                step = _Step(access, site, part.region, shadow, rows, here, theirs, units, place)
                self._check(step, past)
            if access.strong:
                self._published.written(access, part, past, lane_sets.indices(here))

    def _shadow(self, part: Touched, size: int) -> Shadow:
        shadow = self._shadows.get(part.region)
        if shadow is None:
            region = part.region
            shadow = Shadow(len(region.bytes), region.base, size)
            self._shadows[region] = shadow
        return shadow

    def _check(self, step: _Step, past: Past) -> None:
        shadow, units = step.shadow, step.units
        plain_write = step.access.writes and not step.access.strong
        held = shadow.writes[units]
        chosen = self._unordered(step, past, held)
        if len(chosen) and plain_write:
            before = step.bytes_at(chosen)
            self._overwritten.append(_Overwritten(step, chosen, held[chosen], before))
        elif len(chosen):
            self._report(step, chosen, held[chosen])
        if plain_write:
            self._check_reads(step, past)
            shadow.writes[units] = step.words
            lost = np.flatnonzero(shadow.writes[units] != step.words)
            if len(lost):
                self._lost.append((step, lost))
        else:
            self._note_read(step)

    def _check_reads(self, step: _Step, past: Past) -> None:
        reads, others = step.shadow.reads[step.units], step.shadow.others[step.units]
        chosen = self._unordered(step, past, reads)
        if len(chosen):
            self._report(step, chosen, reads[chosen])
            others[chosen] = 0
        chosen = self._unordered(step, past, others)
        if len(chosen):
            self._report(step, chosen, others[chosen])

    def _note_read(self, step: _Step) -> None:
        """Keep the last access, and one that another thread made."""
        shadow, units, words = step.shadow, step.units, step.words
        held = shadow.reads[units]
        older = np.flatnonzero(_threads(held) != _threads(words))
        older = older[held[older] != 0]
        if len(older):
            shadow.others[units[older]] = held[older]
        shadow.reads[units] = words
        lost = np.flatnonzero(shadow.reads[units] != words)
        if len(lost):
            shadow.others[units[lost]] = words[lost]

    def _unordered(self, step: _Step, past: Past, held: Array) -> Indices:
        """Which of the lanes come upon an access of another thread that nothing puts before."""
        if isinstance(step.region, Section) and self._launch.cluster_blocks == 1:
            # Nobody but the threads of its block reach it.
            suspects = np.flatnonzero(held >> THREAD_BITS > past.of_block[step.lanes])
        else:
            suspects = np.flatnonzero(held)
        if len(suspects):
            others = _threads(held[suspects]) != _threads(step.words[suspects])
            suspects = suspects[others]
        if len(suspects):
            lanes = lane_sets.pick(step.lanes, suspects)
            suspects = suspects[past.unordered(lanes, held[suspects])]
        return suspects

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Memory has been written: see which of the writes over others changed something."""
        for over in self._overwritten:
            changed = (over.step.bytes_at(over.chosen) != over.before).any(axis=1)
            if changed.any():
                self._report(over.step, over.chosen[changed], over.held[changed])
        self._overwritten.clear()
        for step, lost in self._lost:
            differs = np.ones(len(lost), dtype=np.bool_)
            if isinstance(action, Store):
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

    def _report(self, step: _Step, chosen: Indices, held: Array) -> None:
        """Lanes race with the accesses that memory remembers for them."""
        numbers = self._timeline.site_numbers(held >> THREAD_BITS)
        for number in np.unique(numbers):
            those = np.flatnonzero(numbers == number)
            site, kind = self._timeline.site(int(number))
            sites = (site, step.site)
            if self._findings.known("race", sites, len(those)):
                continue
            row = int(chosen[those[0]])
            earlier = int(held[those[0]]) & _THREAD
            later = int(step.words[row]) & _THREAD
            places = (
                Place(kind.value, site, *place_of_thread(self._launch, earlier)),
                Place(step.access.kind.value, step.site, *place_of_thread(self._launch, later)),
            )
            name = self._launch.kernel.name
            memory = self._memory(step, row)
            self._findings.add(Finding("race", name, memory, places, len(those)))

    def _memory(self, step: _Step, row: int) -> Memory:
        first, size = int(step.shadow.first_bytes(step.units[row])), step.shadow.unit
        if isinstance(step.region, Section):
            offset = first % self._launch.shared_stride
            return Memory("shared", offset, size, *shared_name(self._launch, offset))
        region = step.region
        return Memory("global", region.base + first, size, region.label, first)


def _threads(words: Array) -> Array:
    """The lower halves of words."""
    return words.view(np.uint32)[::2]


def _stored(action: Store, sources: Arrays, rows: Indices) -> Array:
    """The bytes that lanes give to a store, a row each."""
    columns = split(sources[1 : 1 + action.count], action.elements)
    values = np.empty((len(rows), len(columns)), dtype=action.accesses[0].dtype)
    for place, column in enumerate(columns):
        values[:, place] = column[rows]
    return values.view(np.uint8)
