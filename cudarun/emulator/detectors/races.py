"""The race detector: unordered accesses to one byte by two threads, one of them a write.

Covers shared and global memory. Which pairs are races is in `shadow.py`. Two plain writes of the
same value are none: it is common that many threads set one flag, and the result is the same. Nor is
one copy that several lanes issue at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.detectors.agents import (
    FIRST_AGENT,
    IN_ORDER,
    TOGETHER,
    Agents,
    agents_of_queue,
    is_generic,
)
from cudarun.emulator.detectors.findings import FindingTable
from cudarun.emulator.detectors.grid_history import GridHistory
from cudarun.emulator.detectors.happens_before import HappensBefore
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.detectors.lifetimes import EXITED, UNREAD, SharedLifetimes
from cudarun.emulator.detectors.race_reports import RaceReporter
from cudarun.emulator.detectors.releases import ReleasedClocks
from cudarun.emulator.detectors.shadow import (
    NARROW,
    Conflict,
    Conflicts,
    Overwritten,
    Shadow,
    UnitAccess,
    stored,
    threads,
)
from cudarun.emulator.detectors.vector_clocks import (
    AFTER_WAIT,
    THREAD_BITS,
    THREAD_MASK,
    VectorClock,
)
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.clusters import ClusterArrive
from cudarun.emulator.machine.lanes import distinct, groups
from cudarun.emulator.machine.spaces import Footprint, Section
from cudarun.emulator.machine.transfers import MemoryStore
from cudarun.emulator.numerics.arrays import Array, Arrays, Mask

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.child_grids import ChildGrid
    from cudarun.emulator.machine.lanes import Indices, Lanes
    from cudarun.emulator.machine.launch import Launch


def _ordered(event: str) -> Callable[..., None]:
    """Return the method that passes an event of `Observer` on to the order of the batch."""

    def notify(detector: RaceDetector, batch: Batch, *arguments: object) -> None:
        getattr(detector._orders[batch], event)(*arguments)

    return notify


class RaceDetector(Detector):
    """A detector of races in one launch, and with other grids."""

    def __init__(self, launch: Launch, findings: FindingTable, history: GridHistory) -> None:
        self._launch = launch
        self._findings = findings
        self._history = history  # the accesses of this and other grids
        self._logical_clock = history.order.clock
        self._grid = self._logical_clock.grid
        self._orders: dict[Batch, HappensBefore] = {}
        self._releases = ReleasedClocks()
        self._overwritten: list[Overwritten] = []
        self._agents = Agents()
        self._has_agents = False
        self._before_issue = 0  # of the current action
        self._reporter = RaceReporter(launch, findings, history, self._agents)
        self._lifetimes: dict[Batch, SharedLifetimes] = {}
        self._sources: dict[Batch, Array] = {}  # per lane, its last bulk read, and where
        blocks = (block for each in launch.functions.values() for block in each.blocks)
        self._meet_in_clusters = any(isinstance(each.terminator, ClusterArrive) for each in blocks)
        self._conflicts = Conflicts(launch.functions)
        self._finds_mixed = findings.baseline is not None
        self._checks_strong = self._finds_mixed  # atomic accesses among each other
        self._lost: list[tuple[UnitAccess, Indices]] = []

    # --- synchronization -------------------------------------------------------------------------

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Clear the shadow of shared and tensor memory for new blocks."""
        if batch not in self._orders:
            self._orders[batch] = HappensBefore(batch, self._logical_clock)
            if self._launch.cluster_blocks > 1:
                self._lifetimes[batch] = SharedLifetimes(batch, self._orders[batch])
        self._agents.begin(batch)
        self._sources[batch] = np.zeros((2, batch.lanes), dtype=np.int64)
        if batch in self._lifetimes:
            self._lifetimes[batch].begin()
            self._logical_clock.next(0)  # the start of the blocks
        self._orders[batch].begin(first_block)
        for section in batch.sections & self._history.shadows.keys():
            self._history.shadows[section].clear()

    def arrived(self, batch: Batch, lanes: Lanes) -> object:
        """See `Observer`."""
        return self._orders[batch].arrived(lanes)

    def fence(self, active: Active, scope: str) -> None:
        """See `Detector`."""
        self._orders[active.batch].fence(active.lanes, scope)

    def depends(self, active: Active, *, waits: bool) -> None:
        """See `Detector`."""
        order, lanes = self._orders[active.batch], lane_sets.indices(active.lanes)
        if waits:
            self._history.order.host.has_waited = True
            self._logical_clock.next(0)  # what a fence after it releases
            order.acquire(lanes, AFTER_WAIT)
            return
        self._history.trigger(order.thread[lanes] // order.threads, order.is_after_grids(lanes))

    def child_launched(self, launch: Launch, child: ChildGrid, stream: int, block: int) -> None:
        """See `Observer`."""
        self._history.order.launched(child, stream, block, self._logical_clock.now)

    blocks_synchronize = _ordered("blocks_synchronize")
    barrier = _ordered("barrier")
    warps_synchronize = _ordered("warps_synchronize")
    shuffled = _ordered("shuffled")
    clusters_arrive = _ordered("clusters_arrive")
    clusters_synchronize = _ordered("clusters_synchronize")

    # --- asynchronous operations -----------------------------------------------------------------

    def issued(self, action: MemoryAction, active: Active, sources: Arrays) -> None:
        """See `Detector`."""
        self._agents.issue(action, active, sources)
        self._before_issue = self._logical_clock.now

    def committed(self, active: Active, queue: str) -> None:
        """See `Detector`."""
        self._agents.commit(active, queue, self._logical_clock.now)

    def awaited(self, active: Active, queue: str, pending: int | None, *, reads: bool) -> None:
        """See `Detector`."""
        order, lanes = self._orders[active.batch], lane_sets.indices(active.lanes)
        completed = self._agents.completed(active, queue, pending, self._logical_clock.now)
        if queue in TOGETHER:
            agents = self._agents.together(queue, active, order.thread[lanes])
            for _, members in groups(agents):
                clock = VectorClock.latest(agents[members], completed[members])
                order.acquire(lanes[members], clock)
        for kind in agents_of_queue(queue, reads=reads):
            order.completions.complete(lanes, kind, completed)

    def phase_completed(self, batch: Batch, place: int, parity: int) -> None:
        """See `Observer`."""
        self._releases.complete_phase(place, parity, self._orders[batch])

    def made_visible(self, active: Active, spaces: Collection[str]) -> None:
        """See `Detector`."""
        self._orders[active.batch].make_visible(active.lanes, spaces)

    def words_of_agents(self, agent: str, active: Active) -> Array:
        """Return the current time and the agent of the group of threads of each active lane."""
        threads = self._orders[active.batch].thread[active.lanes]
        words = self._agents.together(agent, active, threads)
        return words | self._logical_clock.now << THREAD_BITS

    def unordered(self, active: Active, words: Array) -> Indices:
        """Return the active lanes whose access, if any, does not happen before their next one."""
        lanes = lane_sets.indices(active.lanes)
        return self._orders[active.batch].unordered(lanes, words).nonzero()[0]

    # --- accesses --------------------------------------------------------------------------------

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        order, lanes = self._orders[active.batch], active.lanes
        number = self._logical_clock.site_number(site, access)
        is_object = access.kind is AccessKind.MBARRIER or self._agents.asked is not None
        if not is_object:
            self._checks_strong |= access.scope in NARROW or access.order == "volatile"
        numbers = order.numbers[lanes]
        if access.agent:
            numbers = self._agents.of(access, active, numbers)
            self._has_agents = True
        words = numbers | (self._logical_clock.next(number) << THREAD_BITS)
        agents = np.zeros(0, dtype=np.int64)
        if access.kind is AccessKind.MBARRIER:
            agents = self._agents.completing(active, numbers)
        if access.order in ("release", "acq_rel"):
            order.fence(active.lanes, access.scope)
        for part in parts:
            if part.space not in ("global", "shared", "tensor"):
                continue
            rows = part.positions
            here = lanes if rows is None else lane_sets.of(lane_sets.pick(lanes, rows))
            theirs = words if rows is None else words[rows]
            is_strong = access.strong and not access.agent
            if is_strong:
                self._releases.acquire(access, part, order, lane_sets.indices(here))
            if part.space == "shared" and active.batch in self._lifetimes:
                lifetimes = self._lifetimes[active.batch]
                wrong = lifetimes.accessed(lane_sets.indices(here), part.offsets, theirs)
                for problem, those in wrong.items():
                    self._reporter.lifetimes(theirs[those], problem, part.offsets[those])
            if part.space == "shared" and access.agent == "bulk read":
                self._sources[active.batch][:, lane_sets.indices(here)] = theirs, part.offsets
            shadow = self._shadow(part, access.bytes)
            for place, units in enumerate(shadow.units(part.offsets, access.bytes)):
                step = UnitAccess(access, site, part, shadow, here, theirs, units, place)
                self._check(step, order, has_pairs=self._finds_mixed or not is_object)
            asked = self._agents.asked
            if asked is not None:  # the object has to be ready before the wait
                asked = asked if rows is None else asked[rows]
                self._releases.acquire_phases(part, order, lane_sets.indices(here), asked)
            if is_strong:
                mine = agents if rows is None or not len(agents) else agents[rows]
                self._releases.release(access, part, order, lane_sets.indices(here), mine)

    def _shadow(self, part: Footprint, size: int) -> Shadow:
        region, shadows = part.region, self._history.shadows
        if region not in shadows:
            shadows[region] = Shadow(len(region.bytes), region.base, size)
        return shadows[region]

    def _check(self, step: UnitAccess, order: HappensBefore, *, has_pairs: bool) -> None:
        shadow, units, access = step.shadow, step.units, step.access
        plain_write = access.writes and not access.strong
        recorded = shadow.writes[units]
        chosen = self._unordered(step, order, recorded)
        reads = not (access.writes or is_generic(access) or step.part.space == "tensor")
        reports = self._agents.report and access.kind is AccessKind.MBARRIER and self._finds_mixed
        if reads or reports:
            self._check_visible(step, order, recorded, chosen)
        if reads and shadow.strong is not None:
            self._check_visible(step, order, shadow.strong[0][units], chosen)
        if len(chosen) and plain_write and not access.agent:
            of_agents = threads(recorded[chosen]) >= FIRST_AGENT
            by_threads, chosen = chosen[~of_agents], chosen[of_agents]
            if len(by_threads):
                before = step.bytes_at(by_threads)
                self._overwritten.append(
                    Overwritten(step, by_threads, recorded[by_threads], before)
                )
        if len(chosen) and access.writes and access.agent and not self._findings.strict:
            chosen = chosen[~self._are_one_copy(step, chosen, recorded[chosen])]
        if len(chosen):
            self._report(step, chosen, recorded[chosen])
        if access.writes and has_pairs:
            self._check_pairs(step, order, shadow.reads)
        if shadow.strong is not None and has_pairs and (self._checks_strong or not access.strong):
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

    def _are_one_copy(self, step: UnitAccess, chosen: Indices, recorded: Array) -> Array:
        """Return which accesses are of one copy with those recorded, which lanes issue at once."""
        same = self._agents.are_one_copy(threads(recorded), threads(step.words[chosen]))
        return same & (recorded >> THREAD_BITS > self._before_issue)

    def _check_visible(
        self, step: UnitAccess, order: HappensBefore, recorded: Array, known: Indices
    ) -> None:
        """Check that the async proxy sees what happens before: writes, or an initialization."""
        clock = self._logical_clock
        those = np.setdiff1d(recorded.nonzero()[0], known)
        those = those[self._of_grid(recorded[those])]
        numbers = clock.site_numbers(recorded[those] >> THREAD_BITS)
        generic = [each for each in distinct(numbers) if is_generic(clock.site(each)[1])]
        those = those[np.isin(numbers, generic)]
        proxy, spaces = "async", [step.part.space]
        if step.access.agent == "tensormap":
            proxy, spaces = "tensormap", ["tensormap"]
        elif step.access.writes:
            spaces.append("mbarrier")
        for space in spaces:
            lanes = lane_sets.pick(step.lanes, those)
            those = those[order.invisible(lanes, recorded[those], space)]
        if step.access.writes:
            numbers = clock.site_numbers(recorded[those] >> THREAD_BITS).tolist()
            sites = [clock.site(each)[0] for each in numbers]
            new = [not self._findings.tolerates((each, step.site)) for each in sites]
            those = those[np.array(new, dtype=np.bool_)]
        if len(those):
            problem = f"no fence.proxy.{proxy} between them"
            self._report(step, those, recorded[those], problem)

    def _check_pairs(
        self, step: UnitAccess, order: HappensBefore, pair: tuple[Array, Array]
    ) -> None:
        """Check an access against the last ones, and then against those of other threads."""
        last, others = pair[0][step.units], pair[1][step.units]
        chosen = self._unordered(step, order, last)
        if len(chosen):
            others[self._report_pairs(step, chosen, last[chosen])] = 0
        suspects = self._unordered(step, order, others)
        if len(suspects) and pair is step.shadow.strong:
            suspects = suspects[~self._have_observed(suspects, last, chosen)]
        if len(suspects):
            self._report_pairs(step, suspects, others[suspects])

    def _have_observed(self, suspects: Indices, last: Array, unordered: Indices) -> Array:
        """Return which accesses are after an atomic operation that has observed others' writes.

        A write precedes what follows the operation that observes it (PTX manual 8.8), as where the
        last block of a grid resets the counter by which it knows that it is the last.
        """
        clock = self._logical_clock
        found = np.zeros(len(suspects), dtype=np.bool_)
        for number, those in groups(clock.site_numbers(last[suspects] >> THREAD_BITS)):
            access = clock.site(number)[1]
            found[those] = access.observes and access.scope not in NARROW
        return found & ~np.isin(suspects, unordered)

    def _report_pairs(self, step: UnitAccess, chosen: Indices, recorded: Array) -> Indices:
        """Report the races among unordered pairs; return the lanes that have one."""
        clock, space = self._logical_clock, step.part.space
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
        self, step: UnitAccess, chosen: Indices, recorded: Array, those: Indices, earlier: Access
    ) -> Array:
        """Return which threads are outside of the scope of the other one's access."""
        size = self._launch.block_threads
        if "cta" not in (earlier.scope, step.access.scope):
            size *= self._launch.cluster_blocks
        blocks = (recorded[those] & THREAD_MASK) // size
        found: Array = blocks != (step.words[chosen[those]] & THREAD_MASK) // size
        return found | ~self._of_grid(recorded[those])

    def _unordered(self, step: UnitAccess, order: HappensBefore, recorded: Array) -> Indices:
        """Return the lanes with an access of another thread that does not happen before."""
        if isinstance(step.part.region, Section) and self._launch.cluster_blocks == 1:
            # Only threads of its block can access it.
            later = recorded >> THREAD_BITS > order.of_block[step.lanes]
            if self._has_agents:
                later |= threads(recorded) >= FIRST_AGENT
            suspects = later.nonzero()[0]
        else:
            suspects = recorded.nonzero()[0]
        if self._history.order.has_several and not isinstance(step.part.region, Section):
            is_own = self._of_grid(recorded[suspects])
            of_others, suspects = suspects[~is_own], suspects[is_own]
            lanes = lane_sets.pick(step.lanes, of_others)
            knows = order.is_after_grids(lanes) | (self._launch.origin is not None)
            of_others = of_others[self._history.unordered(recorded[of_others], knows)]
        else:
            of_others = suspects[:0]
        if len(suspects) and step.access.agent in IN_ORDER:
            others = threads(recorded[suspects]) != threads(step.words[suspects])
            suspects = suspects[others]
        if len(suspects):
            lanes = lane_sets.pick(step.lanes, suspects)
            suspects = suspects[order.unordered(lanes, recorded[suspects])]
        return np.concatenate([of_others, suspects]) if len(of_others) else suspects

    def _of_grid(self, recorded: Array) -> Mask:
        """Return which accesses are of this grid."""
        found: Mask = self._logical_clock.grids(recorded >> THREAD_BITS) == self._grid
        return found

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Report the writes over other threads' writes that changed a value."""
        for over in self._overwritten:
            changed = (over.step.bytes_at(over.chosen) != over.before).any(axis=1)
            changed |= self._findings.strict
            if changed.any():
                self._report(over.step, over.chosen[changed], over.recorded[changed])
        self._overwritten.clear()
        for step, lost in self._lost:
            differs = np.ones(len(lost), dtype=np.bool_)
            if isinstance(action, MemoryStore) and not self._findings.strict:
                rows = lost if step.part.positions is None else step.part.positions[lost]
                given = stored(action, sources, rows)
                start = step.place * step.shadow.unit
                given = given[:, start : start + step.shadow.unit]
                differs = (given != step.bytes_at(lost)).any(axis=1)
            recorded = step.shadow.writes[step.units[lost]]
            if step.access.agent and not self._findings.strict:
                differs = ~self._are_one_copy(step, lost, recorded)
            if differs.any():
                self._report(step, lost[differs], recorded[differs])
        self._lost.clear()

    # --- findings --------------------------------------------------------------------------------

    def _report(
        self, step: UnitAccess, chosen: Indices, recorded: Array, problem: str = ""
    ) -> None:
        """Report races of lanes with the accesses in shadow memory."""
        memory = step.part.region, step.shadow.first_bytes(step.units[chosen]), step.shadow.unit
        at = step.site, step.access
        self._reporter.pairs(recorded, step.words[chosen], at, memory, problem)

    def lanes_exited(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        if batch in self._lifetimes:
            found = self._lifetimes[batch].exited(lane_sets.indices(lanes))
            self._reporter.lifetimes(found[0], EXITED, found[1])
        if self._finds_mixed:
            self._check_sources(batch, lane_sets.indices(lanes))
        if self._meet_in_clusters:  # their exit counts as an arrival
            self._orders[batch].clusters_arrive(lanes, relaxed=False)

    def _check_sources(self, batch: Batch, lanes: Indices) -> None:
        """Check that lanes know that their bulk copies have read the shared memory of the block."""
        words, offsets = self._sources[batch][:, lanes]
        left = self._orders[batch].unordered(lanes, words).nonzero()[0]
        clock = self._logical_clock
        for number, those in groups(clock.site_numbers(words[left] >> THREAD_BITS)):
            if not self._findings.tolerates((clock.site(number)[0],)):
                those = left[those]
                self._reporter.lifetimes(words[those], UNREAD, offsets[those])
