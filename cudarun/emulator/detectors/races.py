"""The race detector: unordered accesses to one byte by two threads, one of them a write.

Covers shared and global memory. Which pairs are races is in `shadow.py`. Two plain writes of the
same value are none: it is common that many threads set one flag, and the result is the same. Nor is
one copy that several lanes issue at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cudarun.emulator.code import Site
from cudarun.emulator.detectors.agents import (
    FIRST_AGENT,
    IN_ORDER,
    TOGETHER,
    Agents,
    completed_agents,
    is_generic,
)
from cudarun.emulator.detectors.findings import FindingTable
from cudarun.emulator.detectors.grid_history import GridHistory
from cudarun.emulator.detectors.happens_before import HappensBefore
from cudarun.emulator.detectors.instrumentation import Detector, OrderingAction
from cudarun.emulator.detectors.lifetimes import EXITED, UNREAD, SharedLifetimes
from cudarun.emulator.detectors.race_reports import RaceReporter
from cudarun.emulator.detectors.releases import ReleasedClocks
from cudarun.emulator.detectors.shadow import (
    NARROW,
    NO_POSITIONS,
    Conflict,
    Conflicts,
    Overwritten,
    Row,
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
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.child_grids import ChildGrid
from cudarun.emulator.machine.clusters import ClusterArrive
from cudarun.emulator.machine.lanes import Indices, Lanes, groups
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import Footprint, Section
from cudarun.emulator.machine.tensor_maps.actions import AcquireMap
from cudarun.emulator.machine.transfers import (
    Fence,
    GridDependency,
    GroupControl,
    MemoryStore,
    ProxyFence,
)
from cudarun.emulator.numerics.arrays import Array, Arrays, Mask


def _ordered(event: str) -> Callable[..., Any]:
    """Return the method that passes an event of `Observer` on to the order of the batch."""

    def notify(detector: RaceDetector, batch: Batch, *arguments: object) -> Any:
        return getattr(detector._orders[batch], event)(*arguments)

    return notify


def _without(lanes: Indices, others: Indices) -> Indices:
    return lanes[~np.isin(lanes, others)] if len(lanes) and len(others) else lanes


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
        self._conflicts = Conflicts(launch, self._logical_clock)
        self._finds_mixed = findings.baseline is not None
        self._checks_strong = self._finds_mixed  # atomic accesses among each other
        # What determined that reads by which threads may wait had no race, by access and thread.
        self._polls: dict[tuple[Access, int], tuple[object, ...]] = {}

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
        self._polls.clear()
        for section in batch.sections & self._history.shadows.keys():
            self._history.shadows[section].clear()

    def ordered(self, action: OrderingAction, active: Active) -> None:
        """See `Detector`."""
        order, lanes = self._orders[active.batch], lane_sets.indices(active.lanes)
        match action:
            case Fence():
                order.fence(lanes, action.scope)
                if isinstance(action, AcquireMap):
                    order.make_visible(lanes, ("tensormap",))
                elif action.is_of_objects:
                    order.make_visible(lanes, ("mbarrier",))
            case ProxyFence():
                spaces = action.space or "shared", action.space or "global"
                order.make_visible(lanes, spaces)
            case GroupControl(commits=True):
                self._agents.commit(active, action.queue, self._logical_clock.now)
            case GroupControl():
                self._awaited(active, action)
            case GridDependency(waits=True):
                self._history.order.host.has_waited = True
                self._logical_clock.next(0)  # what a fence after it releases
                order.acquire(lanes, AFTER_WAIT)
            case GridDependency():
                blocks = order.thread[lanes] // order.threads
                self._history.trigger(blocks, order.is_after_grids(lanes))

    def child_launched(self, launch: Launch, child: ChildGrid, stream: int, block: int) -> None:
        """See `Observer`."""
        self._history.order.launched(child, stream, block, self._logical_clock.now)

    arrived = _ordered("arrived")
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

    def _awaited(self, active: Active, wait: GroupControl) -> None:
        """Order lanes after the operations that a wait for groups completes."""
        order, lanes = self._orders[active.batch], lane_sets.indices(active.lanes)
        completed = self._agents.completed(active, wait, self._logical_clock.now)
        if wait.queue in TOGETHER:
            agents = self._agents.together(wait.queue, active, order.thread[lanes])
            for _, members in groups(agents):
                clock = VectorClock.latest(agents[members], completed[members])
                order.acquire(lanes[members], clock)
        for kind in completed_agents(wait):
            order.completions.complete(lanes, kind, completed)

    def phase_completed(self, batch: Batch, place: int, parity: int) -> None:
        """See `Observer`."""
        self._releases.complete_phase(place, parity, self._orders[batch])

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
            region, shadows = part.region, self._history.shadows
            if region not in shadows:
                shadows[region] = Shadow(len(region.bytes), region.base, access.bytes)
            shadow = shadows[region]
            is_strong = access.strong and not access.agent
            if is_strong:
                if self._repeats(access, part, shadow, active.batch, theirs):
                    for units in shadow.units(part.offsets, access.bytes):
                        shadow.note(units, theirs, strong=False)
                    continue
                self._releases.acquire(access, part, order, lane_sets.indices(here))
            if part.space == "shared" and active.batch in self._lifetimes:
                lifetimes = self._lifetimes[active.batch]
                wrong = lifetimes.accessed(lane_sets.indices(here), part.offsets, theirs)
                for problem, those in wrong.items():
                    self._reporter.lifetimes(theirs[those], problem, part.offsets[those])
            if part.space == "shared" and access.agent == "bulk read":
                self._sources[active.batch][:, lane_sets.indices(here)] = theirs, part.offsets
            for place, units in enumerate(shadow.units(part.offsets, access.bytes)):
                step = UnitAccess(access, site, part, shadow, order, here, theirs, units, place)
                self._check(step, has_pairs=self._finds_mixed or not is_object)
            asked = self._agents.asked
            if asked is not None:  # the object has to be ready before the wait
                asked = asked if rows is None else asked[rows]
                self._releases.acquire_phases(part, order, lane_sets.indices(here), asked)
            if is_strong:
                mine = agents if rows is None or not len(agents) else agents[rows]
                self._releases.release(access, part, order, lane_sets.indices(here), mine)

    def _repeats(
        self, access: Access, part: Footprint, shadow: Shadow, batch: Batch, words: Array
    ) -> bool:
        """Return whether a strong read repeats one without a race, and memory has not changed.

        Threads that wait for others make many; meanwhile they can only come to know more.
        """
        depends_on_more = self._history.order.has_several or batch in self._lifetimes
        if access.kind is not AccessKind.READ or depends_on_more:
            return False
        by = threads(words)
        state = shadow, shadow.changes, self._checks_strong, by.tobytes(), part.offsets.tobytes()
        known, self._polls[access, int(by[0])] = self._polls.get((access, int(by[0]))), state
        return known == state

    def _check(self, step: UnitAccess, *, has_pairs: bool) -> None:
        shadow, units, access = step.shadow, step.units, step.access
        plain_write = access.writes and not access.strong
        with_strong = shadow.has_strong and (self._checks_strong or not access.strong)
        first = Row.LAST_READ if access.writes and has_pairs else Row.WRITE
        end = Row.OTHER_STRONG if with_strong and has_pairs else Row.WRITE
        rows = {row: shadow.words[row][units] for row in range(first, end + 1)}
        recorded = rows[Row.WRITE]
        unordered = self._unordered(step, rows)
        chosen = unordered.get(Row.WRITE, NO_POSITIONS)
        reads = not (access.writes or is_generic(access) or step.part.space == "tensor")
        reports = self._agents.report and access.kind is AccessKind.MBARRIER and self._finds_mixed
        if reads or reports:
            self._check_visible(step, recorded, chosen)
        if reads and shadow.has_strong:
            self._check_visible(step, shadow.words[Row.LAST_STRONG][units], chosen)
        if len(chosen) and plain_write and not access.agent:
            of_agents = threads(recorded[chosen]) >= FIRST_AGENT
            by_threads, chosen = chosen[~of_agents], chosen[of_agents]
            if len(by_threads):
                recorded_there, before = recorded[by_threads], step.bytes_at(by_threads)
                self._overwritten.append(Overwritten(step, by_threads, recorded_there, before))
        if len(chosen) and access.writes and access.agent and not self._findings.strict:
            chosen = chosen[~self._are_one_copy(step, chosen, recorded[chosen])]
        if len(chosen):
            self._report(step, chosen, recorded[chosen])
        for row in (Row.LAST_READ, Row.LAST_STRONG) if unordered else ():
            with_last = unordered.get(row, NO_POSITIONS)
            with_other = unordered.get(row + 1, NO_POSITIONS)
            if len(with_last):
                last = rows[row][with_last]
                with_other = _without(with_other, self._report_pairs(step, with_last, last))
            if len(with_other) and row == Row.LAST_STRONG:
                has_observed = self._conflicts.observe(rows[row][with_other])
                with_other = _without(with_other, _without(with_other[has_observed], with_last))
            if len(with_other):
                self._report_pairs(step, with_other, rows[row + 1][with_other])
        if plain_write:
            lost = shadow.replace(Row.WRITE, units, step.words)
            if len(lost):
                self._check_lost(step, lost)
            return
        lost = shadow.note(units, step.words, strong=access.writes)
        if len(lost) and access.scope in NARROW and access.writes:
            self._report_pairs(step, lost, shadow.words[Row.LAST_STRONG][step.units_at(lost)])

    def _check_lost(self, step: UnitAccess, lost: Indices) -> None:
        """Check plain writes of lanes after which others have written the same memory."""
        recorded = step.shadow.words[Row.WRITE][step.units_at(lost)]
        action, _, sources = self._agents.issued
        if isinstance(action, MemoryStore):
            rows = lost if step.part.positions is None else step.part.positions[lost]
            first = step.place * step.shadow.unit
            given = stored(action, sources, rows)[:, first : first + step.shadow.unit]
            self._overwritten.append(Overwritten(step, lost, recorded, given))
            return
        if step.access.agent and not self._findings.strict:
            those = (~self._are_one_copy(step, lost, recorded)).nonzero()[0]
            lost, recorded = lost[those], recorded[those]
        if len(lost):
            self._report(step, lost, recorded)

    def _are_one_copy(self, step: UnitAccess, chosen: Indices, recorded: Array) -> Array:
        """Return which accesses are of one copy with those recorded, which lanes issue at once."""
        same = self._agents.are_one_copy(threads(recorded), threads(step.words[chosen]))
        return same & (recorded >> THREAD_BITS > self._before_issue)

    def _check_visible(self, step: UnitAccess, recorded: Array, known: Indices) -> None:
        """Check that the async proxy sees what happens before: writes, or an initialization."""
        those = _without(recorded.nonzero()[0], known)
        those = those[self._of_grid(recorded[those])]
        proxy, spaces = "async", [step.part.space]
        if step.access.agent == "tensormap":
            proxy, spaces = "tensormap", ["tensormap"]
        elif step.access.writes:
            spaces.append("mbarrier")
        for site, access, positions in self._logical_clock.by_site(recorded[those]):
            left = those[positions] if is_generic(access) else NO_POSITIONS
            for space in spaces:
                lanes = lane_sets.pick(step.lanes, left)
                left = left[step.order.invisible(lanes, recorded[left], space)]
            if len(left) and step.access.writes and self._findings.tolerates((site, step.site)):
                continue
            if len(left):
                self._report(step, left, recorded[left], f"no fence.proxy.{proxy} between them")

    def _report_pairs(self, step: UnitAccess, chosen: Indices, recorded: Array) -> Indices:
        """Report the races among unordered pairs; return the lanes that have one."""
        found = [chosen[:0]]
        for site, access, those in self._logical_clock.by_site(recorded):
            pair = (site, access), (step.site, step.access)
            conflict = self._conflicts.of(*pair, step.part.space)
            if conflict is Conflict.APART:
                is_apart = self._conflicts.are_apart(
                    recorded[those], step.words[chosen[those]], pair
                )
                those = those[is_apart | ~self._of_grid(recorded[those])]
            elif conflict is Conflict.NONE or (
                conflict is Conflict.PROVED
                and (not self._finds_mixed or self._findings.tolerates((site, step.site)))
            ):
                continue
            if len(those):
                found.append(chosen[those])
                self._report(step, chosen[those], recorded[those])
        return np.concatenate(found)

    def _unordered(self, step: UnitAccess, rows: dict[int, Array]) -> dict[int, Indices]:
        """Return by row the lanes with another thread's access that does not happen before.

        Args:
            rows: The accesses in some rows of shadow memory.
        """
        used = [row for row in rows if np.count_nonzero(rows[row])]
        if not used:
            return {}
        recorded = np.array([rows[row] for row in used])
        is_section = isinstance(step.part.region, Section)
        has_several = self._history.order.has_several and not is_section
        if is_section and self._launch.cluster_blocks == 1:
            # Only threads of its block can access it.
            suspects = recorded >> THREAD_BITS > step.order.of_block[step.lanes]
            if self._has_agents:
                suspects |= recorded & THREAD_MASK >= FIRST_AGENT
        else:
            suspects = recorded != 0
        if step.access.agent in IN_ORDER:
            is_other = threads(recorded ^ step.words) != 0
            suspects &= is_other | ~self._of_grid(recorded) if has_several else is_other
        at = suspects.ravel().nonzero()[0]  # slow for two dimensions
        if not len(at):
            return {}
        which, places = np.divmod(at, recorded.shape[1])
        words, lanes = recorded[which, places], lane_sets.pick(step.lanes, places)
        is_own = self._of_grid(words) if has_several else np.ones(len(words), dtype=np.bool_)
        found = np.zeros(len(words), dtype=np.bool_)
        found[is_own] = step.order.unordered(lanes[is_own], words[is_own])
        if has_several:
            knows = step.order.is_after_grids(lanes[~is_own]) | (self._launch.origin is not None)
            found[~is_own] = self._history.unordered(words[~is_own], knows)
        chosen = found.nonzero()[0]
        which, places = which[chosen], places[chosen]
        return {used[number]: places[those] for number, those in groups(which)}

    def _of_grid(self, recorded: Array) -> Mask:
        """Return which accesses are of this grid."""
        found: Mask = self._logical_clock.grids(recorded >> THREAD_BITS) == self._grid
        return found

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Report the writes over other threads' writes that changed a value."""
        for over in self._overwritten:
            changed = (over.step.bytes_at(over.chosen) != over.expected).any(axis=1)
            changed |= self._findings.strict
            if changed.any():
                self._report(over.step, over.chosen[changed], over.recorded[changed])
        self._overwritten.clear()

    # --- findings --------------------------------------------------------------------------------

    def _report(
        self, step: UnitAccess, chosen: Indices, recorded: Array, problem: str = ""
    ) -> None:
        """Report races of lanes with the accesses in shadow memory."""
        self._polls.clear()  # a report counts repetitions
        memory = step.part.region, step.shadow.first_bytes(step.units_at(chosen)), step.shadow.unit
        at = step.site, step.access
        self._reporter.pairs(recorded, step.words[chosen], at, memory, problem)

    def lanes_exited(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        if batch in self._lifetimes:
            found = self._lifetimes[batch].exited(lane_sets.indices(lanes))
            self._reporter.lifetimes(found[0], EXITED, found[1])
        if self._finds_mixed:
            words, offsets = self._sources[batch][:, lane_sets.indices(lanes)]
            left = self._orders[batch].unordered(lane_sets.indices(lanes), words).nonzero()[0]
            for site, _, those in self._logical_clock.by_site(words[left]):
                if not self._findings.tolerates((site,)):
                    those = left[those]  # bulk copies that may still read the block's memory
                    self._reporter.lifetimes(words[those], UNREAD, offsets[those])
        if self._meet_in_clusters:  # their exit counts as an arrival
            self._orders[batch].clusters_arrive(lanes, relaxed=False)
