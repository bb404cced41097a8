"""Loads and stores that compiled code observes for detectors (``native/shadow.c``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cudarun.emulator.compiled.access.memory import EVERY_LANE, MemoryFunctions, access, unless_null
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, bits_of_element, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import SHADOW_ATOMIC, SHADOW_READ
from cudarun.emulator.compiled.state.memory import CheckedPlace, field, store_field
from cudarun.emulator.compiled.state.patterns import HalfPlaces
from cudarun.emulator.compiled.state.sites import pass_values

_WARP = "ptr %state, i32 %warp"


def suspect(code: CodeBuilder, found: str, bits: int) -> None:
    """Record that there may be a finding if a number of some bits is not 0."""
    wide = code.scalar(f"zext i{bits} {found} to i64")
    before = field(code, "%ctx", layout.SUSPECTED, "i64")
    after = code.scalar(f"or i64 {before}, {wide}")
    store_field(code, "%ctx", layout.SUSPECTED, "i64", after)


class ObservedMemory(MemoryFunctions):
    """Code that loads and stores, and checks whether there may be a finding."""

    def __init__(self, unit: int, *, finds_unwritten: bool) -> None:
        super().__init__()
        # Whether to check that bytes have been written before they are read.
        self._finds_unwritten = finds_unwritten
        self._unit = unit  # bytes of the smallest access

    # --- loads and stores ------------------------------------------------------------------------

    def load(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> LaneVector:
        """See `MemoryFunctions`."""
        self._observe(code, place, mask, width, ahead, SHADOW_READ)
        return super().load(code, place, mask, width, ahead)

    def store(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, value: LaneVector, ahead: int
    ) -> None:
        """See `MemoryFunctions`."""
        self._checked_width(value.bits)
        pass_values(code, [place.offsets, value])
        given = f"{_given(place, mask, ahead)}, i32 {int(self.is_joint)}"
        access(code, "observe_stores", given, value.bits)
        self.mark(code, place, mask, value.bits, ahead)

    def update(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """See `MemoryFunctions`."""
        self._observe(code, place, mask, width, ahead, SHADOW_ATOMIC)
        super().update(code, place, mask, width, ahead)

    def _observe(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int, kind: int
    ) -> None:
        """Check and record accesses that do not only write."""
        self._checked_width(width)
        pass_values(code, [place.offsets])
        given = f"{_given(place, mask, ahead)}, i32 {kind}, i32 {int(self.is_joint)}"
        access(code, "observe_loads", given, width)

    # --- patterns --------------------------------------------------------------------------------

    def load_row(
        self, code: CodeBuilder, places: HalfPlaces, columns: list[str], entry: str
    ) -> list[LaneVector]:
        """See `MemoryFunctions`."""
        with self._marks(code, entry) as marks:
            if marks:
                found = super().load_row(code, HalfPlaces(marks, places.first), columns, entry)
                self._suspect_marks(code, found)
        width = len(columns) * self._checked_width(bits_of_element(columns[0]))
        with unless_null(code, entry, layout.SHADOW) as shadow:
            for half, first in enumerate(places.first):
                given = f"ptr %ctx, {_WARP}, ptr {shadow}, i64 {first}, i32 {half}, i32 {width}"
                call(code, "void", "read_row", given)
        return super().load_row(code, places, columns, entry)

    def load_uniform(
        self, code: CodeBuilder, places: HalfPlaces, columns: list[str], entry: str
    ) -> list[LaneVector]:
        """See `MemoryFunctions`."""
        with self._marks(code, entry) as marks:
            if marks:
                found = super().load_uniform(code, HalfPlaces(marks, places.first), columns, entry)
                self._suspect_marks(code, found)
        width = len(columns) * self._checked_width(bits_of_element(columns[0]))
        with unless_null(code, entry, layout.SHADOW) as shadow:
            for first in places.first:
                given = f"ptr %ctx, {_WARP}, ptr {shadow}, i64 {first}, i32 {width}"
                call(code, "void", "read_uniform", given)
        return super().load_uniform(code, places, columns, entry)

    def store_row(
        self, code: CodeBuilder, places: HalfPlaces, columns: list[LaneVector], place: CheckedPlace
    ) -> None:
        """See `MemoryFunctions`."""
        if len(columns) > 1 or columns[0].bits != 8 * self._unit:
            for number, column in enumerate(columns):
                self.store(code, place, EVERY_LANE, column, number * column.bits // 8)
            return
        with unless_null(code, place.entry, layout.SHADOW) as shadow:
            pass_values(code, columns)
            for half, first in enumerate(places.first):
                given = f"{_WARP}, ptr {shadow}, ptr {place.host}, i64 {first}, i32 {half}"
                call(code, "void", "write_row", f"ptr %ctx, {given}")
        super().store_row(code, places, columns, place)

    # --- checks ----------------------------------------------------------------------------------

    def _checked_width(self, width: int) -> int:
        """Return bytes of bits, which are those of units."""
        if width < 8 * self._unit:
            raise Untraceable(f"an access of {width} bits with detectors")
        return width // 8

    @contextmanager
    def _marks(self, code: CodeBuilder, entry: str) -> Iterator[str]:
        """Add code for accesses to memory whose unwritten bytes are tracked."""
        if not self._finds_unwritten:
            yield ""
            return
        with unless_null(code, entry, layout.UNWRITTEN) as marks:
            yield marks

    def _suspect_marks(self, code: CodeBuilder, marks: list[LaneVector]) -> None:
        for each in marks:
            marked = code.compare("ne", each, splat(each.element, 0, each.count))
            suspect(code, code.to_mask(marked), each.count)


def _given(place: CheckedPlace, mask: str, ahead: int) -> str:
    return f"{_WARP}, ptr {place.entry}, ptr {place.host}, i32 {mask}, i64 {ahead}"
