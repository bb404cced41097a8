"""The code of bulk copies between global memory and the block's own shared memory.

Lanes copy one after the other, then complete their bytes on their barrier objects. A copy that
reaches beyond a region, or into another block, is left to the caller.
"""

from __future__ import annotations

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes
from cudarun.emulator.compiled.access.barrier_objects import define_change
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    splat,
    vector_type,
)
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import CheckedPlace, field
from cudarun.emulator.machine.bulk_copies import CHUNK, BulkCopy
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.numerics.arrays import Arrays

_OBJECT_BYTES = 8
_OFFSET = (1 << RANK_SHIFT) - 1
_RANKS = (1 << 32) - 1 - _OFFSET
_WORDS = vector_type("i64")


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
                hosts = f"ptr {to.host}, ptr {marks}, ptr {origin.host}"
                given = f"{to.offsets.typed}, {origin.offsets.typed}, {size.typed}, i32 {lanes}"
                code.line(f"call void @{_define_copy(code.module)}({hosts}, {given})")
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
        end = code.binary("add", objects, splat("i64", _OBJECT_BYTES))
        beyond = code.binary(
            "or", code.compare("ugt", objects, memory), code.compare("ugt", end, memory)
        )
        low = code.binary("and", objects, splat("i64", _OBJECT_BYTES - 1))
        misaligned = code.compare("ne", low, splat("i64", 0))
        invalid = code.binary("or", elsewhere, code.binary("or", beyond, misaligned))
        return objects, invalid

    def _complete(self, objects: LaneVector, size: LaneVector, mask: str) -> None:
        """Complete bytes on the objects."""
        code, none = self._code, splat("i64", 0)
        owed = code.binary("sub", none, size)
        memory = field(code, "%ctx", layout.SHARED, "ptr")
        given = f"{objects.typed}, {none.typed}, {owed.typed}, i32 {mask}"
        name = define_change(code.module, drops=False)
        code.line(f"call {{ i1, {_WORDS} }} @{name}(ptr {memory}, {given})")


def _define_copy(module: ModuleText) -> str:
    """Define the copy of ranges lane by lane, and return its name.

    ``name(host, marks, origin, offsets, offsets of the origin, sizes, mask)`` also marks the bytes
    as written, where that is tracked.
    """
    name = "bulk.copy"
    if module.defines(name):
        return name
    code = CodeBuilder(module)
    module.declare("declare i32 @llvm.cttz.i32(i32, i1)")
    module.declare("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
    module.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    code.label("entry")
    for each in ("to", "from", "sizes"):
        code.line(f"%{each}.at = alloca {_WORDS}, align 64")
        code.line(f"store {_WORDS} %{each}, ptr %{each}.at, align 64")
    code.line("%tracked = icmp ne ptr %marks, null")
    code.line("br label %next")
    code.label("next")
    code.line("%left = phi i32 [ %mask, %entry ], [ %rest, %copied ]")
    code.line("%none = icmp eq i32 %left, 0")
    code.line("br i1 %none, label %done, label %lane")
    code.label("lane")
    code.line("%number = call i32 @llvm.cttz.i32(i32 %left, i1 true)")
    code.line("%less = add i32 %left, -1")
    code.line("%rest = and i32 %left, %less")
    for each in ("to", "from", "sizes"):
        at = code.scalar(f"getelementptr i64, ptr %{each}.at, i32 %number")
        code.line(f"%{each}.lane = load i64, ptr {at}")
    for host, offset in (("host", "to"), ("marks", "to"), ("origin", "from")):
        code.line(f"%{host}.lane = getelementptr i8, ptr %{host}, i64 %{offset}.lane")
    given = "ptr %host.lane, ptr %origin.lane, i64 %sizes.lane, i1 false"
    code.line(f"call void @llvm.memmove.p0.p0.i64({given})")
    code.line("br i1 %tracked, label %mark, label %copied, !prof !2")
    code.label("mark")
    given = "ptr %marks.lane, i8 0, i64 %sizes.lane, i1 false"
    code.line(f"call void @llvm.memset.p0.i64({given})")
    code.line("br label %copied")
    code.label("copied")
    code.line("br label %next")
    code.label("done")
    code.line("ret void")
    ranges = f"{_WORDS} %to, {_WORDS} %from, {_WORDS} %sizes, i32 %mask"
    head = f"define internal void @{name}(ptr %host, ptr %marks, ptr %origin, {ranges})"
    module.define(name, "\n".join([head + " noinline #0 {", *code.lines, "}"]))
    return name
