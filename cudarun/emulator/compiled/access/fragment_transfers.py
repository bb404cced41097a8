"""The code of ``wmma.load``, ``wmma.store``, ``ldmatrix`` and ``stmatrix``.

Each lane accesses the elements that it holds (``native/fragments.c``).
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.vectors import WIDTH, LaneVector, constant, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.memory import CheckedPlace
from cudarun.emulator.compiled.state.sites import pass_values, take_results
from cudarun.emulator.machine.fragments import Fragment
from cudarun.emulator.machine.matrices import LoadMatrix, StoreMatrix, WarpMatrixTransfer

OFFSETS, REGISTERS = 2, 4  # the columns of operands of functions in ``native/fragments.c``

_LANES = np.arange(WIDTH)


class FragmentTransfers(AccessRules):
    """The code of these instructions."""

    def transfer_matrices(self, operation: Action, mask: str) -> None:
        """Compile ``ldmatrix`` or ``stmatrix``; incomplete warps are left to the caller."""
        code, action = self._code, operation.action
        assert isinstance(action, LoadMatrix | StoreMatrix)
        kinds = [lane_type(use) for use in operation.destinations]

        def pointing(_: list[LaneVector]) -> CheckedLanes:
            missing = code.scalar("xor i32 %mask, -1")
            return CheckedLanes([constant(8 * action.matrices > _LANES)], missing)

        def transferred(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            (place,) = places
            pass_values(code, [place.offsets], OFFSETS)
            pass_values(code, given[1:], REGISTERS)
            numbers = action.matrices, action.transposed, isinstance(action, LoadMatrix)
            constants = ", ".join(f"i32 {int(number)}" for number in numbers)
            where = f"ptr %ctx, ptr %state, i32 %warp, ptr {place.host}, ptr {place.entry}"
            call(code, "void", "transfer_matrices", f"{where}, {constants}", inline=True)
            return take_results(code, REGISTERS, kinds)

        self._accesses.access(operation, action.accesses, mask, transferred, pointing)

    def transfer(self, operation: Action, mask: str) -> None:
        """Compile ``wmma.load`` or ``wmma.store``."""
        code, action = self._code, operation.action
        assert isinstance(action, WarpMatrixTransfer)
        loads = action.loads
        uses = operation.destinations if loads else operation.sources[1 : 1 + action.words.count]
        kinds = [lane_type(use) for use in uses]
        matrix = Fragment(action.words, action.which, action.words.type, len(uses), kinds[0].dtype)
        lines, steps = matrix.row, matrix.column
        if not action.by_rows:
            lines, steps = steps, lines
        each = matrix.count // len(uses)
        # Whether the elements of every register follow each other in memory.
        ahead = [table.reshape(*table.shape[:1], -1, each) for table in (lines, steps)]
        ahead = [table - table[:, :, :1] for table in ahead]
        together = not ahead[0].any() and bool((ahead[1] == np.arange(each)).all())
        places = constant(np.stack([lines.T, steps.T], axis=1).astype(np.uint16))
        name = f"fragment.{action.words.get('shape')}.{action.which}.{len(uses)}.{each}"
        name += f".{int(action.by_rows)}"
        code.module.define(name, f"@{name} = internal constant {places.typed}")

        def stride_of(given: list[LaneVector]) -> LaneVector:
            """Return the elements from one line to the next: words, of less than 8 bits."""
            if not action.strided:
                return splat("i64", matrix.columns if action.by_rows else matrix.rows)
            wide, bits = self._wide(given[-1]), action.words.type.bits
            if bits < 8:
                wide = code.binary("mul", wide, splat("i64", bits))
                wide = code.binary("udiv", wide, splat("i64", action.type.bits))
            return wide

        def aligned(given: list[LaneVector]) -> CheckedLanes:
            offset = splat("i64", action.accesses[0].offset)
            start = code.binary("add", self._wide(given[0]), offset)
            line = code.binary("mul", stride_of(given), splat("i64", action.type.bytes))
            below = splat("i64", action.alignment(matrix) - 1)
            odd = code.binary("and", code.binary("or", start, line), below)
            misaligned = code.compare("ne", odd, splat("i64", 0))
            every = self._registers.mask
            return CheckedLanes([every], code.to_mask(code.binary("and", every, misaligned)))

        def accessed(found: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            (place,) = found
            stride = stride_of(given)
            values = [] if loads else given[1 : 1 + len(uses)]
            pass_values(code, [place.offsets, stride, *values], OFFSETS)
            numbers = len(uses), each, together, action.type.bytes, loads
            constants = ", ".join(f"i32 {int(number)}" for number in numbers)
            where = f"ptr %ctx, ptr %state, i32 %warp, ptr {place.host}, ptr {place.entry}"
            arguments = f"{where}, i32 %mask, ptr @{name}, {constants}"
            done = call(code, "i32", "transfer_fragment", arguments, inline=True)
            good = code.scalar(f"icmp ne i32 {done}, 0")

            def transferred() -> list[LaneVector]:
                return take_results(code, REGISTERS, kinds) if loads else []

            return self._executed_unless(good, operation, given, "%mask", transferred)

        self._accesses.access(operation, action.accesses, mask, accessed, aligned)
