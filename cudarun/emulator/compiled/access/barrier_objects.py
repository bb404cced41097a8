"""The code of ``mbarrier`` instructions that threads execute often: tests, arrivals, transactions.

Lanes change objects in their order, as in ``machine/mbarriers.py``. An arrival that no object waits
for leaves all objects as they were, and the caller executes the instruction: it raises the fault.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    splat,
    vector_type,
)
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import CheckedPlace, field, pointer_to, store_field
from cudarun.emulator.machine.barrier_objects import ALL_BYTES, BYTES, COUNT, NO_BYTES, PENDING
from cudarun.emulator.machine.barrier_objects import PHASE as PHASE_BIT
from cudarun.emulator.machine.mbarriers import (
    Arrive,
    ArriveAfterCopies,
    Initialize,
    Transactions,
    Wait,
)
from cudarun.emulator.numerics.arrays import Arrays

_WORDS = vector_type("i64")
_NOTHING_OWED = NO_BYTES << BYTES


OBJECT_TEST = np.dtype(
    [("failed", np.uint32), ("asked", np.uint32), ("addresses", np.uint64, WIDTH)]
)
"""The last test of objects by a warp at an instruction: the lanes that found a phase incomplete,
the parities that lanes asked for, and the addresses without the offset of the operand."""


def _valid_counts(sources: Arrays) -> Arrays | None:
    """Return that all lanes write, or nothing if the caller has to raise a fault."""
    counts = sources[1].astype(np.int64)
    valid = (counts >= 1) & (counts <= COUNT)
    return (np.ones_like(valid),) if valid.all() else None


class BarrierObjects(AccessRules):
    """The code of these instructions."""

    def initialize(self, operation: Action, mask: str) -> None:
        """Compile ``mbarrier.init`` and ``mbarrier.inval``."""
        code, action = self._code, operation.action
        assert isinstance(action, Initialize)
        sources = self._sources(operation)
        word, checked = splat("i64", 0), None
        if len(sources) > 1:
            count = self._wide(sources[1])
            pending = code.binary("shl", count, splat("i64", PENDING))
            word = code.binary("or", code.binary("or", count, pending), splat("i64", _NOTHING_OWED))
            less = code.binary("sub", count, splat("i64", 1))
            invalid = code.compare("uge", less, splat("i64", COUNT))
            others = code.to_mask(code.binary("and", invalid, self._registers.mask))
            checked = CheckedLanes([self._registers.mask], others, _valid_counts)

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            self._accesses.memory.store(code, places[0], mask, word, 0)
            return []

        self._accesses.access(operation, action.accesses, sources, mask, fast, checked)

    def test(self, operation: Action, mask: str) -> None:
        """Compile ``mbarrier.test_wait`` and ``mbarrier.try_wait``."""
        code, action = self._code, operation.action
        assert isinstance(action, Wait)
        sources = self._sources(operation)
        tests = self._accesses.sites.tests
        number = len(tests)
        tests.append(operation)

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            word = self._accesses.memory.load(code, places[0], mask, 64, 0)
            given, phase = self._wide(sources[1]), splat("i64", PHASE_BIT)
            if action.parity:
                asked = code.binary("and", given, splat("i64", 1))
            else:
                asked = code.binary("lshr", given, phase)
            complete = code.compare("ne", code.binary("lshr", word, phase), asked)
            self._record(number, mask, complete, asked, self._wide(sources[0]))
            return [complete]

        self._finish(
            operation, self._accesses.access(operation, action.accesses, sources, mask, fast)
        )

    def _record(
        self, number: int, mask: str, complete: LaneVector, asked: LaneVector, at: LaneVector
    ) -> None:
        """Record a test, as an `OBJECT_TEST`, for reports of threads that wait for ever."""
        code = self._code
        warps = field(code, "%ctx", layout.WARPS, "i64")
        first = code.scalar(f"mul i64 {warps}, {number}")
        place = code.scalar(f"add i64 {first}, {code.scalar('zext i32 %warp to i64')}")
        place = code.scalar(f"mul i64 {place}, {OBJECT_TEST.itemsize}")
        test = pointer_to(code, field(code, "%ctx", layout.TESTS, "ptr"), place)
        failed = code.scalar(f"xor i32 {code.to_mask(complete)}, -1")
        failed = code.scalar(f"and i32 {failed}, {mask}")
        phases = code.to_mask(code.compare("ne", asked, splat("i64", 0)))
        for offset, kind, value in ((0, "i32", failed), (4, "i32", phases), (8, at.type, at.name)):
            store_field(code, test, offset, kind, value)

    def change(self, operation: Action, mask: str) -> None:
        """Compile an arrival, or a change of the expected bytes."""
        code, action = self._code, operation.action
        assert isinstance(action, Arrive | ArriveAfterCopies | Transactions)
        sources = self._sources(operation)
        given = self._wide(sources[1]) if len(sources) > 1 else None
        one, none = splat("i64", 1), splat("i64", 0)
        match action:
            case Arrive():
                counts, owed = (one, given) if action.expects else (given, none)
            case ArriveAfterCopies():
                counts, owed = splat("i64", action.counts), none
            case _:
                assert given is not None
                counts, owed = none, given
                if action.sign < 0:
                    owed = code.binary("sub", none, given)
        name = define_change(code.module, drops=action.drops)

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            (place,) = places
            arguments = ", ".join(
                each.typed for each in (place.offsets, counts or one, owed or none)
            )
            kind = f"{{ i1, {_WORDS} }}"
            found = code.scalar(f"call {kind} @{name}(ptr {place.host}, {arguments}, i32 {mask})")
            good = code.scalar(f"extractvalue {kind} {found}, 0")
            states = code.vector(f"extractvalue {kind} {found}, 1", "i64")

            def changed() -> list[LaneVector]:
                self._accesses.memory.mark(code, place, mask, 64, 0)
                return [states] * len(operation.destinations)

            return self._executed_unless(good, operation, sources, mask, changed)

        self._finish(
            operation, self._accesses.access(operation, action.accesses, sources, mask, fast)
        )

    def _wide(self, value: LaneVector) -> LaneVector:
        return value if value.bits == 64 else self._code.cast("zext", value, "i64")


def define_change(module: ModuleText, *, drops: bool) -> str:
    """Define a change of objects lane by lane, and return its name.

    ``name(host, offsets, counts, bytes, mask)`` returns whether all objects were changed, and the
    objects before.
    """
    name = f"mbarrier.{'drop' if drops else 'change'}"
    if module.defines(name):
        return name
    code = CodeBuilder(module)
    for each in ("cttz", "ctlz"):
        module.declare(f"declare i32 @llvm.{each}.i32(i32, i1)")
    code.label("entry")
    for each in ("offsets", "counts", "bytes", "old"):
        code.line(f"%{each}.at = alloca {_WORDS}, align 64")
        value = "zeroinitializer" if each == "old" else f"%{each}"
        code.line(f"store {_WORDS} {value}, ptr %{each}.at, align 64")
    code.line("br label %next")
    code.label("next")
    code.line("%left = phi i32 [ %mask, %entry ], [ %rest, %store ]")
    code.line("%none = icmp eq i32 %left, 0")
    code.line("br i1 %none, label %done, label %lane")
    code.label("lane")
    code.line("%number = call i32 @llvm.cttz.i32(i32 %left, i1 true)")
    code.line("%less = add i32 %left, -1")
    code.line("%rest = and i32 %left, %less")
    memory, count, owed = _lane_values(code, "%number")
    code.line(f"%word = load i64, ptr {memory}, align 1")
    code.line("%old.lane = getelementptr i64, ptr %old.at, i32 %number")
    code.line("store i64 %word, ptr %old.lane")
    expected = code.scalar(f"and i64 %word, {COUNT}")
    pending = code.scalar(f"and i64 {code.scalar(f'lshr i64 %word, {PENDING}')}, {COUNT}")
    before = code.scalar(f"and i64 {code.scalar(f'lshr i64 %word, {BYTES}')}, {ALL_BYTES}")
    phase = code.scalar(f"lshr i64 %word, {PHASE_BIT}")
    too_many = code.scalar(f"icmp ugt i64 {count}, {pending}")
    if drops:
        also = code.scalar(f"icmp ugt i64 {count}, {expected}")
        too_many = code.scalar(f"or i1 {too_many}, {also}")
        expected = code.scalar(f"sub i64 {expected}, {count}")
    code.line(f"br i1 {too_many}, label %undo, label %store, !prof !2")
    code.label("store")
    pending = code.scalar(f"sub i64 {pending}, {count}")
    after = code.scalar(f"and i64 {code.scalar(f'add i64 {before}, {owed}')}, {ALL_BYTES}")
    settled = code.scalar(f"icmp eq i64 {after}, {NO_BYTES}")
    arrived = code.scalar(f"icmp eq i64 {pending}, 0")
    complete = code.scalar(f"and i1 {settled}, {arrived}")
    pending = code.scalar(f"select i1 {complete}, i64 {expected}, i64 {pending}")
    turned = code.scalar(f"zext i1 {complete} to i64")
    phase = code.scalar(f"xor i64 {phase}, {turned}")
    word = expected
    for part, bit in ((pending, PENDING), (after, BYTES), (phase, PHASE_BIT)):
        word = code.scalar(f"or i64 {word}, {code.scalar(f'shl i64 {part}, {bit}')}")
    code.line(f"store i64 {word}, ptr {memory}, align 1")
    code.line("br label %next")
    code.label("done")
    states = code.scalar(f"load {_WORDS}, ptr %old.at, align 64")
    kind = f"{{ i1, {_WORDS} }}"
    found = code.scalar(f"insertvalue {kind} poison, i1 true, 0")
    code.line(f"ret {kind} {code.scalar(f'insertvalue {kind} {found}, {_WORDS} {states}, 1')}")
    _undo(code, kind)
    parameters = f"ptr %host, {_WORDS} %offsets, {_WORDS} %counts, {_WORDS} %bytes, i32 %mask"
    head = f"define internal {kind} @{name}({parameters}) noinline #0 {{"
    module.define(name, "\n".join([head, *code.lines, "}"]))
    return name


def _lane_values(code: CodeBuilder, lane: str) -> tuple[str, str, str]:
    """Return the pointer to a lane's object, the count of arrivals and the bytes."""
    values = []
    for each in ("offsets", "counts", "bytes"):
        at = code.scalar(f"getelementptr i64, ptr %{each}.at, i32 {lane}")
        values.append(code.scalar(f"load i64, ptr {at}"))
    return code.scalar(f"getelementptr i8, ptr %host, i64 {values[0]}"), values[1], values[2]


def _undo(code: CodeBuilder, kind: str) -> None:
    """Restore the objects of the lanes before the one that failed, the last lane first."""
    code.label("undo")
    bit = code.scalar("shl i32 1, %number")
    lower = code.scalar(f"sub i32 {bit}, 1")
    changed = code.scalar(f"and i32 %mask, {lower}")
    code.line("br label %undo.next")
    code.label("undo.next")
    code.line(f"%undone = phi i32 [ {changed}, %undo ], [ %undo.rest, %undo.lane ]")
    code.line("%undo.none = icmp eq i32 %undone, 0")
    code.line("br i1 %undo.none, label %failed, label %undo.lane")
    code.label("undo.lane")
    zeros = code.scalar("call i32 @llvm.ctlz.i32(i32 %undone, i1 true)")
    lane = code.scalar(f"sub i32 {WIDTH - 1}, {zeros}")
    code.line(f"%undo.rest = xor i32 %undone, {code.scalar(f'shl i32 1, {lane}')}")
    memory, _, _ = _lane_values(code, lane)
    at = code.scalar(f"getelementptr i64, ptr %old.at, i32 {lane}")
    code.line(f"store i64 {code.scalar(f'load i64, ptr {at}')}, ptr {memory}, align 1")
    code.line("br label %undo.next")
    code.label("failed")
    code.line(f"ret {kind} zeroinitializer")
