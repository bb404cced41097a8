"""The code of ``mbarrier`` instructions that threads execute often: tests, arrivals, transactions.

Lanes change objects in their order, as in ``machine/mbarriers.py``. An arrival that no object waits
for leaves all objects as they were, and the caller executes the instruction: it raises the fault.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes
from cudarun.emulator.compiled.lanes.lowering import LaneType
from cudarun.emulator.compiled.lanes.vectors import WIDTH, LaneVector, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.memory import CheckedPlace
from cudarun.emulator.compiled.state.sites import pass_values, take_results
from cudarun.emulator.machine.barrier_objects import BYTES, COUNT, NO_BYTES, PENDING
from cudarun.emulator.machine.mbarriers import (
    Arrive,
    ArriveAfterCopies,
    Initialize,
    PhaseTest,
    Transactions,
)

_WORD, _TRUTH = LaneType(np.dtype(np.uint64)), LaneType(np.dtype(np.bool_))
_NOTHING_OWED = NO_BYTES << BYTES


OBJECT_TEST = np.dtype(
    [("failed", np.uint32), ("asked", np.uint32), ("addresses", np.uint64, WIDTH)]
)
"""The last test of objects by a warp at an instruction, as ``test_objects`` records it; the
addresses are without the offset of the operand."""


class BarrierObjects(AccessRules):
    """The code of these instructions."""

    def initialize(self, operation: Action, mask: str) -> None:
        """Compile ``mbarrier.init`` and ``mbarrier.inval``."""
        code, action = self._code, operation.action
        assert isinstance(action, Initialize)

        def checked(given: list[LaneVector]) -> CheckedLanes:
            less = code.binary("sub", self._wide(given[1]), splat("i64", 1))
            invalid = code.compare("uge", less, splat("i64", COUNT))
            others = code.to_mask(code.binary("and", invalid, self._registers.mask))
            return CheckedLanes([self._registers.mask], others)

        def initialized(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            word = splat("i64", 0)
            if len(given) > 1:
                count = self._wide(given[1])
                both = code.binary("or", count, code.binary("shl", count, splat("i64", PENDING)))
                word = code.binary("or", both, splat("i64", _NOTHING_OWED))
            self._accesses.memory.store(code, places[0], "%mask", word, 0)
            return []

        lanes = checked if len(operation.sources) > 1 else None
        self._accesses.access(operation, action.accesses, mask, initialized, lanes)

    def test(self, operation: Action, mask: str) -> None:
        """Compile ``mbarrier.test_wait`` and ``mbarrier.try_wait``."""
        code, action = self._code, operation.action
        assert isinstance(action, PhaseTest)
        tests = self._accesses.sites.tests
        number = len(tests)
        tests.append(operation)

        def tested(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            (place,) = places
            pass_values(code, [place.offsets, *map(self._wide, given[:2])])
            numbers = f"i32 {code.number('i32', number)}, i32 {int(action.parity)}"
            arguments = f"ptr %ctx, ptr {place.host}, i32 %warp, i32 %mask, {numbers}"
            call(code, "void", "test_objects", arguments)
            return take_results(code, 3, [_TRUTH])

        self._accesses.access(operation, action.accesses, mask, tested)

    def change(self, operation: Action, mask: str) -> None:
        """Compile an arrival, or a change of the expected bytes."""
        code, action = self._code, operation.action
        assert isinstance(action, Arrive | ArriveAfterCopies | Transactions)
        one, none = splat("i64", 1), splat("i64", 0)

        def amounts(given: LaneVector | None) -> tuple[LaneVector | None, LaneVector | None]:
            """Return the arrivals and the bytes."""
            match action:
                case Arrive():
                    return (one, given) if action.expects else (given, none)
                case ArriveAfterCopies():
                    return splat("i64", action.counts), none
            assert given is not None
            return none, given if action.sign > 0 else code.binary("sub", none, given)

        def arrived(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            (place,) = places
            counts, owed = amounts(self._wide(given[1]) if len(given) > 1 else None)
            pass_values(code, [place.offsets, counts or one, owed or none])
            arguments = f"ptr %ctx, i32 %warp, ptr {place.host}, i32 %mask, i32 {int(action.drops)}"
            good = code.scalar(f"icmp ne i32 {call(code, 'i32', 'change_objects', arguments)}, 0")

            def changed() -> list[LaneVector]:
                self._accesses.memory.mark(code, place, "%mask", 64, 0)
                return take_results(code, 3, [_WORD] * len(operation.destinations))

            return self._executed_unless(good, operation, given, "%mask", changed)

        self._accesses.access(operation, action.accesses, mask, arrived)
