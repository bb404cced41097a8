"""The code of ``cp.async`` and ``cp.async.bulk``."""

from __future__ import annotations

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes
from cudarun.emulator.compiled.lanes.vectors import LaneVector, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.memory import CheckedPlace
from cudarun.emulator.compiled.state.sites import pass_values
from cudarun.emulator.machine.bulk_copies import CHUNK, BulkCopy
from cudarun.emulator.machine.transfers import AsynchronousCopy, GroupControl, ProxyFence


class CopyCode(AccessRules):
    """The code of these instructions."""

    # --- cp.async --------------------------------------------------------------------------------

    def copy(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async``; the caller copies parts that are neither whole nor empty."""
        code, action, memory = self._code, operation.action, self._accesses.memory
        assert isinstance(action, AsynchronousCopy)
        unit = action.size // action.count

        def checked(given: list[LaneVector]) -> CheckedLanes:
            every = self._registers.mask
            reads, others = every, "0"
            if action.partial:
                whole = code.compare("eq", given[2], splat("i32", action.size))
                some = code.compare("ne", given[2], splat("i32", 0))
                reads = code.binary("and", every, whole)
                odd = code.binary("and", some, code.binary("xor", whole, splat("i1", True)))
                others = code.to_mask(code.binary("and", every, odd))
            elif action.ignorable:
                wanted = code.binary("xor", given[2], splat("i1", True))
                reads = code.binary("and", every, wanted)
            return CheckedLanes([every, reads], others)

        def copied(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            _, reads = checked(given).lanes
            reading = code.to_mask(reads)
            target, origin = places
            data = [
                memory.load(code, origin, reading, 8 * unit, unit * part)
                for part in range(action.count)
            ]
            memory.copy(code, target, origin, reading, action.size)
            for part, value in enumerate(data):
                kept = code.select(reads, value, splat(value.element, 0))
                memory.put(code, target, "%mask", kept, unit * part)
            return []

        self._accesses.access(operation, action.accesses[:2], mask, copied, checked)

    def control(self, operation: Action, mask: str) -> None:
        """Compile the end of a group, a wait or a fence, which only detectors observe."""
        action, state = operation.action, "ptr %state"
        if not self._accesses.memory.is_observed:
            return
        match action:
            case ProxyFence() if action.space != "global":
                given = "fence_proxy", f"{state}, i32 {mask}"
            case GroupControl(queue="wgmma" | "bulk" as queue):
                reads = f"{state}, i32 {int(queue == 'bulk')}, i32 {mask}"
                given = "commit_reads", reads
                if not action.commits:
                    given = "complete_reads", f"{reads}, i32 {action.pending}"
            case GroupControl(queue="cp.async", commits=True):
                given = "commit_copies", f"ptr %ctx, i32 %warp, i32 {mask}"
            case GroupControl(queue="cp.async"):
                groups = -1 if action.pending is None else action.pending
                copying = f"ptr %ctx, {state}, i32 %warp, i32 {mask}, i32 {groups}"
                given = "complete_copies", copying
            case _:
                return
        call(self._code, "void", *given)

    # --- cp.async.bulk ---------------------------------------------------------------------------

    def copy_bulk(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async.bulk``.

        Lanes copy one after the other, then complete their bytes on their barrier objects
        (``native/copies.c``). A copy that reaches beyond a region, or into another block, is left
        to the caller.
        """
        code, action = self._code, operation.action
        assert isinstance(action, BulkCopy)
        if action.multicast or action.within_cluster:
            self._accesses.call(operation, mask)
            return

        def checked(given: list[LaneVector]) -> CheckedLanes:
            some = code.compare("uge", self._wide(given[2]), splat("i64", CHUNK))
            copying = code.binary("and", some, self._registers.mask)
            return CheckedLanes([copying, copying], "0")

        def copied(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            to, origin = places
            values = [self._wide(given[place]) for place in (2, 0, 3)[: 2 + action.reports]]
            pass_values(code, [to.offsets, origin.offsets, *values])
            memory = f"ptr {to.host}, ptr {to.entry}, ptr {origin.host}, ptr {origin.entry}"
            offset = action.accesses[-1].offset if action.reports else 0
            objects = f"i32 {int(action.reports)}, i64 {offset}"
            arguments = f"ptr %ctx, {memory}, i32 %mask, {objects}"
            good = code.scalar(f"icmp ne i32 {call(code, 'i32', 'copy_bulk', arguments)}, 0")
            return self._executed_unless(good, operation, given, "%mask", list)

        self._accesses.access(operation, action.accesses[:2], mask, copied, checked)
