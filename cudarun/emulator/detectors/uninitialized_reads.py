"""The detector of uninitialized reads of shared, local and global memory, byte by byte.

Uninitialized bytes of global memory are kept across launches (`Allocation.unwritten`); shared
memory is new with every block, local memory with every call. Variables of a module have initial
values. What an asynchronous copy writes to shared memory is uninitialized until a thread knows that
the copy is complete. Tensor memory, as a product writes what the next one reads, is initialized at
once: reads that come too early are races.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cudarun.emulator.code import Site, Use, slots_of
from cudarun.emulator.detectors.agents import Agents, completed_agents, of_thread
from cudarun.emulator.detectors.findings import AccessSite, FindingTable, accessed_bytes
from cudarun.emulator.detectors.instrumentation import Detector, OrderingAction
from cudarun.emulator.detectors.speculative_loads import conditions_of_loads, holds
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.lanes import Lanes, groups
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import Footprint, Section
from cudarun.emulator.machine.transfers import GroupControl, MemoryLoad, MemoryStore
from cudarun.emulator.memory import mark_written, unwritten_units
from cudarun.emulator.numerics.arrays import Array, Arrays, Mask

_CURRENT = -1  # in the place of the parity of a phase


class UninitializedReadDetector(Detector):
    """A detector of uninitialized reads in one launch."""

    checks_marks = True

    def __init__(self, launch: Launch, findings: FindingTable) -> None:
        self._launch = launch
        self._findings = findings
        self._unwritten: dict[Section, Array] = {}  # as in an allocation
        self._agents = Agents()
        self._now = 0
        # by agent, the times and the places of what it writes; by object and parity, what a wait
        # for the last phase makes known, and by object that of the current one
        self._pending: dict[int, list[tuple[int, Access, Section, Array]]] = {}
        self._completing: dict[tuple[Batch, int, int], list[tuple[int, int]]] = {}
        self._loaded: dict[Site, tuple[Use, ...]] = {}
        self._conditions = conditions_of_loads(launch.kernel_function.blocks)
        self._used: set[int] = set()  # the slots whose values are not only copied
        for block in launch.kernel_function.blocks:
            self._used |= slots_of(block.terminator.reads)
            for operation in block.operations:
                is_store = isinstance(operation.action, MemoryStore)  # of values, to an address
                self._used |= slots_of(operation.sources[:1] if is_store else operation.sources)
                if isinstance(operation.action, MemoryLoad):
                    self._loaded[operation.site] = operation.destinations

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Mark shared memory of new blocks as uninitialized."""
        self._agents.begin(batch)
        self._completing = {key: each for key, each in self._completing.items() if key[0] != batch}
        for section in batch.sections:
            if section in self._unwritten:
                self._unwritten[section] = self._new(section)

    def _new(self, section: Section) -> Array:
        """Return marks of memory that is uninitialized, except where the system reserves it."""
        unwritten = np.ones(len(section.bytes), dtype=np.uint8)
        if section.name == "shared":
            blocks = unwritten.reshape(-1, self._launch.shared_stride)
            blocks[:, : self._launch.reserved_bytes] = 0
        return unwritten

    def stack_grows(self, batch: Batch, lanes: Lanes, start: Array, size: Array | int) -> None:
        """Mark allocated local memory as uninitialized."""
        section = batch.section("local")
        unwritten = self._unwritten.get(section)
        if unwritten is None:  # no access to it has been observed
            return
        assert section.starts is not None
        first = section.starts[lanes] + start.astype(np.int64)
        sizes = np.broadcast_to(size, first.shape)
        for bytes_of_each in np.unique(sizes):
            same = first[sizes == bytes_of_each]
            unwritten[same[:, None] + np.arange(int(bytes_of_each))] = 1

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        for part in parts:
            unwritten = self._unwritten_in(part)
            if unwritten is None:
                continue
            if access.reads:
                self._check(access, site, active, part, unwritten)
            is_pending = bool(access.agent) and part.space == "shared"
            if is_pending and isinstance(part.region, Section) and access.writes:
                self._now += 1
                agents = self._agents.of(access, active, _threads(active))
                agents = agents if part.positions is None else agents[part.positions]
                for agent, members in groups(agents):
                    written = self._now, access, part.region, part.offsets[members]
                    self._pending.setdefault(agent, []).append(written)
            elif access.discards:
                unwritten[part.offsets[:, None] + np.arange(access.bytes)] = 1
            elif access.writes and isinstance(part.region, Section):  # others record it themselves
                mark_written(unwritten, part.offsets, access.bytes)
            if access.kind is AccessKind.MBARRIER and self._pending:
                agents = self._agents.completing(active, _threads(active)).tolist()
                for agent, place in zip(agents, part.offsets.tolist(), strict=False):
                    found = self._completing.setdefault((active.batch, place, _CURRENT), [])
                    found.append((agent, self._now))
            asked = self._agents.asked
            if asked is not None and self._pending:
                for place, parity in zip(part.offsets.tolist(), asked.tolist(), strict=False):
                    self._complete_all(self._completing.pop((active.batch, place, parity), ()))

    # --- asynchronous copies ---------------------------------------------------------------------

    def issued(self, action: MemoryAction, active: Active, sources: Arrays) -> None:
        """See `Detector`."""
        self._agents.issue(action, active, sources)

    def ordered(self, action: OrderingAction, active: Active) -> None:
        """See `Detector`."""
        if not isinstance(action, GroupControl):
            return
        if action.commits:
            self._agents.commit(active, action.queue, self._now)
            return
        times = self._agents.completed(active, action, self._now)
        for kind in completed_agents(action) if self._pending else ():
            agents = of_thread(kind, _threads(active)).tolist()
            self._complete_all(zip(agents, times.tolist(), strict=True))

    def phase_completed(self, batch: Batch, place: int, parity: int) -> None:
        """See `Observer`."""
        ended = self._completing.pop((batch, place, _CURRENT), [])
        self._completing.setdefault((batch, place, parity), []).extend(ended)

    def _complete_all(self, ended: Iterable[tuple[int, int]]) -> None:
        """Mark what agents have written until some time of each."""
        complete: dict[tuple[Section, int], list[Array]] = {}
        for agent, time in ended:
            left = []
            for written in self._pending.pop(agent, ()):
                then, access, section, offsets = written
                if then <= time:
                    complete.setdefault((section, access.bytes), []).append(offsets)
                else:
                    left.append(written)
            if left:
                self._pending[agent] = left
        for (section, size), each in complete.items():
            mark_written(self._unwritten[section], np.concatenate(each), size)

    # --- reads -----------------------------------------------------------------------------------

    def _unwritten_in(self, part: Footprint) -> Array | None:
        if not isinstance(part.region, Section):
            return part.region.unwritten
        if part.space == "param":
            return None
        if part.region not in self._unwritten:
            self._unwritten[part.region] = self._new(part.region)
        return self._unwritten[part.region]

    def _check(
        self, access: Access, site: Site, active: Active, part: Footprint, unwritten: Array
    ) -> None:
        units, places = unwritten_units(unwritten, part.offsets, access.bytes)
        bad = np.flatnonzero(np.any([units[place] for place in places], axis=0))
        if len(bad) and site in self._loaded:
            offsets = part.offsets[bad]
            # Compilers also copy the padding behind a member of a struct alone, as bytes.
            are_bytes = access.dtype.itemsize == 1 < access.count
            others = (offsets % 8 != 0) & (unwritten[offsets - 1] == 0) & are_bytes
            read = unwritten[offsets[:, None] + np.arange(access.bytes)] != 0
            bad = bad[~self._is_padding(site, read, others | ~read.all(axis=1), access.count)]
        if len(bad) and site in self._conditions:
            lanes = bad if part.positions is None else part.positions[bad]
            bad = bad[holds(self._conditions[site], active)[lanes]]
        if not len(bad):
            return
        first = int(bad[0])
        offset = int(part.offsets[first])
        inside = np.flatnonzero(unwritten[offset : offset + access.bytes])
        lane = active.lane(first if part.positions is None else int(part.positions[first]))
        place = AccessSite(access.kind.value, site, *active.batch.threads.coordinates(lane))
        first_byte, count = offset + int(inside[0]), len(inside)
        memory = accessed_bytes(self._launch, part.region, first_byte, count)
        self._findings.add(self._launch, "uninit", memory, (place,), len(bad))

    def _is_padding(self, site: Site, read: Mask, are_beside: Mask, count: int) -> Mask:
        """Return which lanes only copy the unwritten bytes that they read beside others."""
        slots = [getattr(use, "slot", None) for use in self._loaded[site]]
        are_used = np.repeat([slot in self._used for slot in slots], count // len(slots))
        elements = read.reshape(len(read), count, -1).any(axis=2)
        return are_beside & ~(elements & are_used).any(axis=1)


def _threads(active: Active) -> Array:
    return active.batch.threads.number(0) + lane_sets.indices(active.lanes)
