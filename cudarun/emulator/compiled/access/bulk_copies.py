"""The code of bulk copies between global memory and the block's own shared memory.

Lanes copy one after the other, then complete their bytes on their barrier objects. A copy that
reaches beyond a region, or into another block, is left to the caller.
"""

from __future__ import annotations

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes
from cudarun.emulator.compiled.access.barrier_objects import changed_objects
from cudarun.emulator.compiled.lanes.vectors import LaneVector, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import CheckedPlace, field
from cudarun.emulator.compiled.state.sites import pass_sources
from cudarun.emulator.machine.bulk_copies import CHUNK, BulkCopy
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.numerics.arrays import Arrays

_OFFSET = (1 << RANK_SHIFT) - 1
_RANKS = (1 << 32) - 1 - _OFFSET


def _copying(sources: Arrays) -> Arrays:
    """Return the lanes that copy anything, for both accesses."""
    copying = sources[2] >= CHUNK
    return copying, copying


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
        size = code.binary("and", self._wide(sources[2]), splat("i64", ~(CHUNK - 1)))
        some = code.compare("ne", size, splat("i64", 0))
        copying = code.binary("and", some, self._registers.mask)
        lanes = code.to_mask(copying)

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            to, origin = places
            wrong = code.binary("or", self._beyond(to, size), self._beyond(origin, size))
            wrong = code.binary("and", wrong, some)
            objects = splat("i64", 0)
            if action.reports:
                objects, invalid = self._objects(action, sources)
                wrong = code.binary("or", wrong, invalid)
            wrong = code.binary("and", wrong, self._registers.mask)
            good = code.scalar(f"icmp eq i32 {code.to_mask(wrong)}, 0")

            def copied() -> list[LaneVector]:
                marks = field(code, to.entry, layout.UNWRITTEN, "ptr")
                pass_sources(code, [to.offsets, origin.offsets, size])
                hosts = f"ptr %ctx, ptr {to.host}, ptr {marks}, ptr {origin.host}"
                call(code, "void", "copy_ranges", f"{hosts}, i32 {lanes}")
                if action.reports:
                    self._complete(objects, size, mask)
                return []

            return self._executed_unless(good, operation, sources, mask, copied)

        checked = CheckedLanes([copying, copying], "0", _copying)
        self._accesses.access(operation, action.accesses[:2], sources, mask, fast, checked)

    def _wide(self, value: LaneVector) -> LaneVector:
        return value if value.bits == 64 else self._code.cast("zext", value, "i64")

    def _beyond(self, place: CheckedPlace, size: LaneVector) -> LaneVector:
        """Return the lanes whose last chunk is not in the region of the first one."""
        code = self._code
        count = code.broadcast("i64", field(code, place.entry, layout.COUNT, "i64"))
        last = code.binary("sub", code.binary("add", place.offsets, size), splat("i64", CHUNK))
        return code.compare("uge", last, count)

    def _objects(
        self, action: BulkCopy, sources: list[LaneVector]
    ) -> tuple[LaneVector, LaneVector]:
        """Return the places of objects in the own block, and the lanes without an object."""
        code = self._code
        to, given = self._wide(sources[0]), self._wide(sources[3])
        elsewhere = code.compare("ugt", to, splat("i64", _OFFSET))
        objects = code.binary("and", given, splat("i64", ~_RANKS))
        objects = code.binary("add", objects, splat("i64", action.accesses[-1].offset))
        start = field(code, "%ctx", layout.SHARED_START, "i64")
        objects = code.binary("sub", objects, code.broadcast("i64", start))
        memory = code.broadcast("i64", field(code, "%ctx", layout.SHARED_BYTES, "i64"))
        end = code.binary("add", objects, splat("i64", layout.OBJECT_SIZE))
        beyond = code.binary(
            "or", code.compare("ugt", objects, memory), code.compare("ugt", end, memory)
        )
        low = code.binary("and", objects, splat("i64", layout.OBJECT_SIZE - 1))
        misaligned = code.compare("ne", low, splat("i64", 0))
        invalid = code.binary("or", elsewhere, code.binary("or", beyond, misaligned))
        return objects, invalid

    def _complete(self, objects: LaneVector, size: LaneVector, mask: str) -> None:
        """Complete bytes on the objects."""
        code, none = self._code, splat("i64", 0)
        owed = code.binary("sub", none, size)
        memory = field(code, "%ctx", layout.SHARED, "ptr")
        changed_objects(code, memory, (objects, none, owed), mask)
