"""The detector of synchronization errors: barriers and warp operations with the wrong threads.

The rules are those of the programming guide for ``__syncthreads()`` and the ``_sync`` functions,
and of the PTX manual (9.7.13) for ``.aligned``. Exited threads count as arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import BlockCode, Site, Use
from cudarun.emulator.detectors.findings import AccessSite, FindingTable
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.barriers import Arrival, WarpBarrier
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.frame import Code, Frame
from cudarun.emulator.machine.lanes import Indices, groups
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.passing import following_blocks, passing_site
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.arrays import Array, Arrays, Mask

IN_WARP = "lanes of a warp at different barriers"
IN_BLOCK = "threads of a block at different barriers"
PARTIAL = "barrier without all lanes of a warp"
SKIPPED = "barrier or warp operation skipped by threads"
OUTSIDE = "lane outside its member mask"
EMPTY = "empty member mask"
MASKS = "different member masks"
WHOLE = "operation of a whole warp without all its lanes"

_ALL = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class _Arrived:
    """Lanes of a batch at some instructions: the number of each one's, and its member mask."""

    batch: Batch
    lanes: Indices
    sites: Sequence[Site]
    which: Array
    members: Array | None = None

    @classmethod
    def at(cls, batch: Batch, lanes: Indices, site: Site, members: Array | None = None) -> _Arrived:
        """Return lanes at one instruction."""
        return cls(batch, lanes, [site], np.zeros(len(lanes), dtype=np.intp), members)

    @classmethod
    def of(cls, batch: Batch, arrivals: Sequence[Arrival]) -> _Arrived:
        """Return the lanes of arrivals, with the expected counts as masks."""
        sites = [*dict.fromkeys(each.site for each in arrivals)]
        lanes = [lane_sets.indices(each.lanes) for each in arrivals]
        which = np.repeat([sites.index(each.site) for each in arrivals], [*map(len, lanes)])
        members = np.concatenate([each.expected for each in arrivals])
        return cls(batch, np.concatenate(lanes), sites, which, members)

    @property
    def warps(self) -> Array:
        """The warp of each lane, in the batch."""
        return self.batch.threads.slot_of[self.lanes] // WARP

    @property
    def bits(self) -> Array:
        """The bit of each lane in a mask of its warp."""
        return np.uint32(1) << (self.batch.threads.slot_of[self.lanes] % WARP).astype("u4")

    def together(self, numbers: Array) -> Array:
        """Return per lane the bits of the lanes with the same number."""
        _, groups_of = np.unique(numbers, return_inverse=True)
        found = np.zeros(len(numbers), dtype=np.uint32)
        np.bitwise_or.at(found, groups_of, self.bits)
        return found[groups_of]

    def chosen(self, those: Mask | Indices) -> _Arrived:
        """Return some of the lanes."""
        members = None if self.members is None else self.members[those]
        return replace(self, lanes=self.lanes[those], which=self.which[those], members=members)

    def place(self, at: int, *, access: str = "arrival", is_masked: bool = False) -> AccessSite:
        """Return the place of a lane, with the lanes of its warp that are there, too."""
        same = (self.warps == self.warps[at]) & (self.which == self.which[at])
        members = None
        if is_masked:
            assert self.members is not None
            same &= self.members == self.members[at]
            members = int(self.members[at])
        lanes = int(np.bitwise_or.reduce(self.bits[same]))
        coordinates = self.batch.threads.coordinates(int(self.lanes[at]))
        return AccessSite(access, self.sites[self.which[at]], *coordinates, lanes, members)


class SyncDetector(Detector):
    """A detector of synchronization errors in one launch."""

    def __init__(self, launch: Launch, findings: FindingTable) -> None:
        self._launch = launch
        self._findings = findings
        self._blocks = launch.kernel_function.blocks
        self._following = following_blocks(launch.kernel_function)
        self._marked = {index for each in self._following.values() for index in each}
        self._executed: dict[tuple[Batch, int | None], Mask] = {}

    def _report(self, problem: str, count: int, *places: AccessSite) -> None:
        places = tuple(sorted(places, key=lambda place: place.site.line))
        self._findings.add(self._launch, "sync", None, places, count, problem)

    def _report_each(
        self, problem: str, arrived: _Arrived, wrong: Mask, *, is_masked: bool = False
    ) -> None:
        """Report lanes at each instruction."""
        if wrong.any():
            positions = np.flatnonzero(wrong)
            for _, those in groups(arrived.which[positions]):
                place = arrived.place(int(positions[those[0]]), is_masked=is_masked)
                self._report(problem, len(those), place)

    # --- threads that skip an instruction --------------------------------------------------------

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Forget what the lanes have executed for blocks before."""
        for index in self._marked:
            self._executed[batch, index] = np.zeros(batch.lanes, dtype=np.bool_)

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        """Return code that records the lanes that execute it."""
        if frame.depth or block.index not in self._marked:
            return code
        return replace(code, entries=[(self._mark, (frame.batch, block.index)), *code.entries])

    def _mark(self, batch: Batch, index: int) -> None:
        assert batch.active is not None
        self._executed[batch, index][batch.active.lanes] = True

    def _check_skipped(self, arrived: _Arrived, *, is_masked: bool) -> None:
        """Report exited lanes that have executed what follows an instruction, and not it."""
        for number, those in groups(arrived.which):
            following = self._following.get(arrived.sites[number])
            if following is None:  # it is in a called function
                continue
            here = arrived.chosen(those)
            self._check_passed(here, following.loads, None, is_masked=is_masked)
            self._check_passed(here, following.accesses, following.wait, is_masked=is_masked)

    def _check_passed(
        self, arrived: _Arrived, after: int | None, before: int | None, *, is_masked: bool
    ) -> None:
        """Report exited lanes that lanes at an instruction have waited for.

        Args:
            arrived: The lanes at the instruction.
            after: A block after it that the exited ones have executed.
            before: A block that they have executed, too.
            is_masked: Whether the lanes wait for those of a member mask, else for their block.
        """
        if after is None:
            return
        batch = arrived.batch
        passed = self._executed[batch, after] & ~batch.alive
        if before is not None:
            passed &= self._executed[batch, before]
        if not passed.any():
            return
        site = passing_site(self._blocks[after], writes=before is not None)
        assert site is not None
        others = _Arrived.at(batch, np.flatnonzero(passed), site)
        if is_masked:
            assert arrived.members is not None
            owners, owner = arrived.warps, others.warps
            named = np.zeros(int(max(owners.max(), owner.max())) + 1, dtype=np.uint32)
            np.bitwise_or.at(named, owners, arrived.members)
            missed = np.flatnonzero(named[owner] & others.bits)
        else:
            block_of = batch.threads.block_of
            owners, owner = block_of[arrived.lanes], block_of[others.lanes]
            missed = np.flatnonzero(np.isin(owner, owners))
        if len(missed):
            at, other = int(np.argmax(owners == owner[missed[0]])), int(missed[0])
            places = arrived.place(at, is_masked=is_masked), others.place(other, access="skip")
            self._report(SKIPPED, len(missed), *places)

    # --- barriers --------------------------------------------------------------------------------

    def barrier(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """See `Observer`."""
        aligned = [
            each
            for each in released
            if each.path is not None
            and (each.site.name.startswith("bar.") or "aligned" in each.site.name.split("."))
        ]
        if not aligned:
            return
        arrived = _Arrived.of(batch, aligned)
        assert arrived.members is not None
        is_plain = arrived.members == 0  # all threads of the block
        present = batch.threads.warp_bits(_Arrived.of(batch, released).lanes)
        missing = batch.threads.warp_bits(np.flatnonzero(batch.alive)) & ~present
        self._report_each(PARTIAL, arrived, ~is_plain & (missing[arrived.warps] != 0))
        diverged = self._check_places(IN_WARP, arrived, arrived.warps)
        if aligned[0].barrier == 0 and is_plain.any():  # __syncthreads()
            self._check_skipped(arrived.chosen(is_plain), is_masked=False)
            block_of = batch.threads.block_of[arrived.lanes]
            rest = is_plain & ~np.isin(block_of, block_of[diverged])
            self._check_places(IN_BLOCK, arrived.chosen(rest), block_of[rest])

    def _check_places(self, problem: str, arrived: _Arrived, owners: Array) -> Mask:
        """Report warps or blocks with lanes at several instructions.

        Returns:
            Per lane, whether it is at another one than the first lane of its owner.
        """
        _, first, owner = np.unique(owners, return_index=True, return_inverse=True)
        wrong: Mask = arrived.which != arrived.which[first[owner]]
        positions = np.flatnonzero(wrong)
        for _, those in groups(arrived.which[positions]):
            at = positions[those]
            places = arrived.place(int(first[owner[at[0]]])), arrived.place(int(at[0]))
            self._report(problem, len(np.unique(owner[at])), *places)
        return wrong

    # --- warps -----------------------------------------------------------------------------------

    def warp_barrier(self, active: Active, masks: Use) -> None:
        """See `Observer`."""
        barrier, members = active.block.terminator, active.read(masks)
        assert isinstance(barrier, WarpBarrier)
        if not all_take_part(active, members):
            lanes = lane_sets.indices(active.lanes)
            self._check_masks(_Arrived.at(active.batch, lanes, barrier.site, members))

    def warp_barriers(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """See `Observer`."""
        arrived = _Arrived.of(batch, released)
        self._check_masks(arrived)
        self._check_skipped(arrived, is_masked=True)

    def collective(self, action: WarpAction, site: Site, active: Active, sources: Arrays) -> None:
        """See `Detector`."""
        if all_take_part(active, sources[-1] if action.waits_for == "mask" else None):
            return
        batch, lanes = active.batch, lane_sets.indices(active.lanes)
        if action.waits_for != "mask":
            arrived = _Arrived.at(batch, lanes, site)
            self._report_each(WHOLE, arrived, arrived.together(arrived.warps) != 0xFFFFFFFF)
            return
        arrived = _Arrived.at(batch, lanes, site, sources[-1])
        self._check_skipped(arrived, is_masked=True)
        parked = batch.synchronizing.get(active.path)
        if parked is not None:  # lanes with other masks, which do not continue now
            assert active.block.sync_mask is not None
            masks = active.frame.register_values(active.block.sync_mask, parked)
            lanes = np.concatenate([lanes, lane_sets.indices(parked)])
            arrived = _Arrived.at(batch, lanes, site, np.concatenate([sources[-1], masks]))
        self._check_masks(arrived)

    def _check_masks(self, arrived: _Arrived) -> None:
        """Check that the lanes of each member mask have this mask, and that callers are in it."""
        members, warps = arrived.members, arrived.warps
        assert members is not None
        outside = (members & arrived.bits) == 0
        self._report_each(EMPTY, arrived, members == 0, is_masked=True)
        self._report_each(OUTSIDE, arrived, outside & (members != 0), is_masked=True)
        same = arrived.together(warps.astype(np.int64) << WARP | members)
        others = members & arrived.together(warps) & ~same
        wrong = np.flatnonzero(others)
        if len(wrong):
            at = int(wrong[0])
            there = (warps == warps[at]) & ((arrived.bits & others[at]) != 0)
            places = (
                arrived.place(at, is_masked=True),
                arrived.place(int(np.argmax(there)), is_masked=True),
            )
            self._report(MASKS, len(wrong), *places)


def all_take_part(active: Active, masks: Array | None) -> bool:
    """Return whether the active lanes are whole warps, and their member masks are, too."""
    threads = active.batch.threads
    are_whole = threads.threads % WARP == 0 and threads.whole_warps(active)
    return are_whole and active.valid is None and (masks is None or bool((masks == _ALL).all()))
