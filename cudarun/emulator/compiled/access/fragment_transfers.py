"""The code of ``wmma.load`` and ``wmma.store``: each lane accesses the elements that it holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import GeneralAccess
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector, constant, splat
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import CheckedPlace, field
from cudarun.emulator.machine.matrices import Fragment, WarpMatrixTransfer, fragment

Array = npt.NDArray[np.int64]


class FragmentTransfers(AccessRules):
    """The code of these instructions."""

    def transfer(self, operation: Action, mask: str) -> None:
        """Compile ``wmma.load`` or ``wmma.store``."""
        code, action = self._code, operation.action
        assert isinstance(action, WarpMatrixTransfer)
        sources = self._sources(operation)
        uses = operation.destinations
        if not action.loads:
            uses = operation.sources[1 : 1 + action.words.count]
        dtype = lane_type(uses[0]).dtype
        matrix = fragment(action.words, action.which, action.words.type, len(uses), dtype)

        def accessed(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            (place,) = places
            elements = FragmentElements(code, action, matrix, given[-1] if action.strided else None)

            def transferred() -> list[LaneVector]:
                if not action.loads:
                    for number, value in enumerate(given[1 : 1 + len(uses)]):
                        self._store(place, elements, number, len(uses), (value, "%mask"))
                    return []
                registers = [
                    self._loaded(place, elements, number, len(uses), "%mask")
                    for number in range(len(uses))
                ]
                return [
                    code.bitcast(value, lane_type(use).element)
                    for value, use in zip(registers, uses, strict=True)
                ]

            inside = self._is_inside(place, elements.farthest())
            return self._executed_unless(inside, operation, given, "%mask", transferred)

        general = GeneralAccess(accessed)
        results = self._accesses.access(operation, action.accesses, sources, mask, general)
        self._finish(operation, results)

    def _is_inside(self, place: CheckedPlace, farthest: LaneVector) -> str:
        """Return whether the last element of each lane is in the region of the first one."""
        code = self._code
        count = code.broadcast("i64", field(code, place.entry, layout.COUNT, "i64"))
        last = code.binary("add", place.offsets, farthest)
        bad = code.compare("uge", last, count)
        beyond = code.to_mask(code.binary("and", bad, self._registers.mask))
        return code.scalar(f"icmp eq i32 {beyond}, 0")

    def _loaded(
        self, place: CheckedPlace, elements: FragmentElements, number: int, count: int, mask: str
    ) -> LaneVector:
        """Return a register; its elements are loaded together if they follow each other."""
        code, bits = self._code, elements.bits
        first, each, together = elements.of_register(number, count)
        value: LaneVector | None = None
        for turn, start in enumerate(range(first, first + each, together)):
            at = elements.place(place, start)
            part = self._accesses.memory.load(code, at, mask, bits * together, 0)
            if together == each:
                return part
            wide = code.cast("zext", part, "i32")
            if turn:
                wide = code.binary("shl", wide, splat("i32", bits * together * turn))
            value = wide if value is None else code.binary("or", value, wide)
        assert value is not None
        return value

    def _store(
        self,
        place: CheckedPlace,
        elements: FragmentElements,
        number: int,
        count: int,
        given: tuple[LaneVector, str],
    ) -> None:
        """Store a register."""
        code, bits = self._code, elements.bits
        value, mask = given
        first, each, together = elements.of_register(number, count)
        value = code.bitcast(value, f"i{bits * each}")
        for turn, start in enumerate(range(first, first + each, together)):
            part = value
            if together < each:
                moved = splat(value.element, bits * together * turn)
                part = code.cast("trunc", code.binary("lshr", value, moved), f"i{bits * together}")
            self._accesses.memory.store(code, elements.place(place, start), mask, part, 0)


class FragmentElements:
    """The places of the elements that lanes hold, relative to the first element of a matrix."""

    def __init__(
        self,
        code: CodeBuilder,
        action: WarpMatrixTransfer,
        matrix: Fragment,
        stride: LaneVector | None,
    ) -> None:
        self._code = code
        self._size = action.type.bytes
        self.bits = action.type.bits
        rows, columns = (matrix.row, matrix.column)
        self._lines, self._steps = (rows, columns) if action.by_rows else (columns, rows)
        self._count = matrix.count
        if stride is None:
            length = matrix.columns if action.by_rows else matrix.rows
            self._stride = splat("i64", length)
        else:
            wide = code.cast("zext", stride, "i64")
            if action.words.type.bits < 8:
                wide = code.binary("mul", wide, splat("i64", action.words.type.bits))
                wide = code.binary("udiv", wide, splat("i64", self.bits))
            self._stride = wide

    def of_register(self, number: int, count: int) -> tuple[int, int, int]:
        """Return the first element of a register, their number, and how many are accessed at once.

        They are together if all of them follow each other in memory.
        """
        each = self._count // count
        first = number * each
        part = slice(first, first + each)
        lines, steps = self._lines[:, part], self._steps[:, part]
        ahead = np.arange(each)
        follow = (lines == lines[:, :1]).all() and (steps == steps[:, :1] + ahead).all()
        return first, each, each if follow else 1

    def farthest(self) -> LaneVector:
        """Return the offset in bytes of the last element of each lane."""
        return self._offset(self._lines.max(axis=1), self._steps.max(axis=1))

    def place(self, place: CheckedPlace, number: int) -> CheckedPlace:
        """Return the place of an element of each lane."""
        offset = self._offset(self._lines[:, number], self._steps[:, number])
        return CheckedPlace(
            place.host, self._code.binary("add", place.offsets, offset), place.entry
        )

    def _offset(self, lines: Array, steps: Array) -> LaneVector:
        code = self._code
        assert len(lines) == WIDTH
        line = code.binary("mul", constant(lines.astype(np.int64)), self._stride)
        number = code.binary("add", line, constant(steps.astype(np.int64)))
        return code.binary("mul", number, splat("i64", self._size))
