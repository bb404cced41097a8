"""The code of bulk copies between global memory and the block's own shared memory.

Lanes copy one after the other, then complete their bytes on their barrier objects
(``native/copies.c``). A copy that reaches beyond a region, or into another block, is left to the
caller.
"""

from __future__ import annotations

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes
from cudarun.emulator.compiled.lanes.vectors import LaneVector, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.memory import CheckedPlace
from cudarun.emulator.compiled.state.sites import pass_sources
from cudarun.emulator.machine.bulk_copies import CHUNK, BulkCopy


class BulkCopies(AccessRules):
    """The code of these instructions."""

    def copy(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async.bulk``."""
        code, action = self._code, operation.action
        assert isinstance(action, BulkCopy)
        if action.multicast or action.within_cluster:
            self._accesses.call(operation, mask)
            return
        sources = self._sources(operation)
        some = code.compare("uge", self._wide(sources[2]), splat("i64", CHUNK))
        copying = code.binary("and", some, self._registers.mask)

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            to, origin = places
            given = [self._wide(sources[place]) for place in (2, 0, 3)[: 2 + action.reports]]
            pass_sources(code, [to.offsets, origin.offsets, *given])
            memory = f"ptr {to.host}, ptr {to.entry}, ptr {origin.host}, ptr {origin.entry}"
            offset = action.accesses[-1].offset if action.reports else 0
            objects = f"i32 {int(action.reports)}, i64 {offset}"
            arguments = f"ptr %ctx, {memory}, i32 {mask}, {objects}"
            copied = code.scalar(f"icmp ne i32 {call(code, 'i32', 'copy_bulk', arguments)}, 0")
            return self._executed_unless(copied, operation, sources, mask, list)

        checked = CheckedLanes([copying, copying], "0")
        self._accesses.access(operation, action.accesses[:2], sources, mask, fast, checked)
