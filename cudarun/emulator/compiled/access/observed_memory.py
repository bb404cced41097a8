"""Loads and stores that compiled code observes for detectors (``native/shadow.c``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    bits_of_element,
    splat,
)
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import SHADOW_ATOMIC, SHADOW_READ, SHADOW_WRITE
from cudarun.emulator.compiled.state.memory import (
    CheckedPlace,
    MemoryFunctions,
    field,
    pointer_to,
    store_field,
)
from cudarun.emulator.compiled.state.patterns import HalfPlaces
from cudarun.emulator.compiled.state.sites import pass_values

_WARP = "ptr %ctx, ptr %state, i32 %warp"


def suspect(code: CodeBuilder, found: str, bits: int) -> None:
    """Record that there may be a finding if a number of some bits is not 0."""
    wide = code.scalar(f"zext i{bits} {found} to i64")
    before = field(code, "%ctx", layout.SUSPECTED, "i64")
    after = code.scalar(f"or i64 {before}, {wide}")
    store_field(code, "%ctx", layout.SUSPECTED, "i64", after)


class ObservedMemory(MemoryFunctions):
    """Functions that load and store, and check whether there may be a finding.

    Args:
        module: The module.
        unit: Bytes of the smallest access.
        finds_unwritten: Whether to check that bytes have been written before they are read.

    Attributes:
        is_joint: Whether other lanes of the warp can be those that make the accesses.
    """

    def __init__(self, module: ModuleText, unit: int, *, finds_unwritten: bool) -> None:
        super().__init__(module)
        self._finds_unwritten = finds_unwritten
        self._unit = unit
        self.is_joint = False

    # --- loads and stores ------------------------------------------------------------------------

    def load(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> LaneVector:
        """See `MemoryFunctions`."""
        self._check_written(code, place, mask, width, ahead)
        self._record(code, place, mask, width, ahead, SHADOW_READ)
        return super().load(code, place, mask, width, ahead)

    def store(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, value: LaneVector, ahead: int
    ) -> None:
        """See `MemoryFunctions`."""
        shared = self._record(code, place, mask, value.bits, ahead, SHADOW_WRITE, value)
        super().store(code, place, mask, value, ahead)
        host = pointer_to(code, place.host, ahead) if ahead else place.host
        given = f"ptr %ctx, ptr {host}, i32 {shared}, i32 {value.bits // 8}"
        call(code, "void", "check_equal", given)

    def update(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """See `MemoryFunctions`."""
        self._check_written(code, place, mask, width, ahead)
        self._record(code, place, mask, width, ahead, SHADOW_ATOMIC)
        super().update(code, place, mask, width, ahead)

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
        with self._unless_null(code, entry, layout.SHADOW) as shadow:
            for half, first in enumerate(places.first):
                given = f"{_WARP}, ptr {shadow}, i64 {first}, i32 {half}, i32 {width}"
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
        with self._unless_null(code, entry, layout.SHADOW) as shadow:
            for first in places.first:
                given = f"{_WARP}, ptr {shadow}, i64 {first}, i32 {width}"
                call(code, "void", "read_uniform", given)
        return super().load_uniform(code, places, columns, entry)

    def store_row(
        self,
        code: CodeBuilder,
        places: HalfPlaces,
        columns: list[LaneVector],
        place: CheckedPlace,
        mask: str,
    ) -> None:
        """See `MemoryFunctions`."""
        if len(columns) == 1 and columns[0].bits == 8 * self._unit:
            with self._unless_null(code, place.entry, layout.SHADOW) as shadow:
                pass_values(code, columns)
                for half, first in enumerate(places.first):
                    given = f"{_WARP}, ptr {shadow}, ptr {place.host}, i64 {first}, i32 {half}"
                    call(code, "void", "write_row", given)
        else:
            for number, column in enumerate(columns):
                ahead = number * column.bits // 8
                # lanes that follow each other share no unit
                self._record(code, place, mask, column.bits, ahead, SHADOW_WRITE, column)
        super().store_row(code, places, columns, place, mask)

    # --- checks ----------------------------------------------------------------------------------

    def _checked_width(self, width: int) -> int:
        """Return bytes of bits, which are those of units."""
        if width < 8 * self._unit:
            raise Untraceable(f"an access of {width} bits with detectors")
        return width // 8

    @contextmanager
    def _unless_null(self, code: CodeBuilder, entry: str, offset: int) -> Iterator[str]:
        """Add code that runs if a pointer of a cache entry is not null; yield the pointer."""
        pointer = field(code, entry, offset, "ptr")
        present, absent = code.fresh("present"), code.fresh("absent")
        null = code.scalar(f"icmp eq ptr {pointer}, null")
        code.line(f"br i1 {null}, label %{absent}, label %{present}")
        code.label(present)
        yield pointer
        code.line(f"br label %{absent}")
        code.label(absent)

    @contextmanager
    def _marks(self, code: CodeBuilder, entry: str) -> Iterator[str]:
        """Add code for accesses to memory whose unwritten bytes are tracked."""
        if not self._finds_unwritten:
            yield ""
            return
        with self._unless_null(code, entry, layout.UNWRITTEN) as marks:
            yield marks

    def _suspect_marks(self, code: CodeBuilder, marks: list[LaneVector]) -> None:
        for each in marks:
            marked = code.compare("ne", each, splat(each.element, 0, each.count))
            suspect(code, code.to_mask(marked), each.count)

    def _check_written(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """Suspect a read of bytes that have not been written."""
        with self._marks(code, place.entry) as marks:
            if marks:
                at = pointer_to(code, marks, ahead) if ahead else marks
                found = self.load_from(code, at, place.offsets, mask, width)
                self._suspect_marks(code, [found])

    def _record(
        self,
        code: CodeBuilder,
        place: CheckedPlace,
        mask: str,
        width: int,
        ahead: int,
        kind: int,
        value: LaneVector | None = None,
    ) -> str:
        """Record accesses in the shadow; return the lanes that write together with others."""
        size = self._checked_width(width)
        skipped, recorded = code.fresh("skipped"), code.fresh("recorded")
        code.line(f"br label %{skipped}")
        code.label(skipped)
        with self._unless_null(code, place.entry, layout.SHADOW) as shadow:
            host = pointer_to(code, place.host, ahead) if ahead else place.host
            pass_values(code, [place.offsets] if value is None else [place.offsets, value])
            given = f"{_WARP}, ptr {shadow}, ptr {host}, i32 {mask}, i64 {ahead}"
            kinds = f"i32 {size}, i32 {kind}, i32 {int(self.is_joint)}"
            found = call(code, "i32", "record_accesses", f"{given}, {kinds}")
            code.line(f"br label %{recorded}")
            code.label(recorded)
        return code.scalar(f"phi i32 [ 0, %{skipped} ], [ {found}, %{recorded} ]")
