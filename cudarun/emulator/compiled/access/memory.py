"""Loads and stores: calls of functions in C (``native/access.c``), and rows of lanes.

Every access has a cache entry with the region that it accessed last. Addresses outside of it, and
misaligned ones, call back: the caller changes the entry, executes the instruction, or raises its
fault. Host memory is never accessed by a number, only by an offset that has been checked.

If detectors observe a kernel, its accesses are checked and recorded, too (``native/shadow.c``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from cudarun.emulator.compiled.lanes.lowering import LaneType
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    bits_of_element,
    vector_type,
)
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import CheckedPlace, field, pointer_to
from cudarun.emulator.compiled.state.patterns import HALF, HalfPlaces
from cudarun.emulator.compiled.state.sites import pass_values, take_results

EVERY_LANE = "-1"  # the mask of the lanes of a row
_WARP = "ptr %state, i32 %warp"


class MemoryFunctions:
    """The code that loads and stores: functions in C (``native/access.c``), by width.

    Args:
        unit: Bytes of the smallest access if detectors observe the accesses, else 0.
    """

    def __init__(self, unit: int = 0) -> None:
        self.is_joint = False  # whether other lanes of the warp can be those that make the accesses
        self.is_observed = unit > 0
        self._unit = unit

    def load(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> LaneVector:
        """Return a value of ``width`` bits per lane, ``ahead`` bytes after its place."""
        self._observe(code, place, mask, width, ahead, layout.SHADOW_READ)
        pass_values(code, [place.offsets])
        access(code, "load_lanes", f"ptr {place.host}, i32 {mask}, i64 {ahead}", width)
        return take_results(code, 1, [LaneType(np.dtype(f"u{width // 8}"))])[0]

    def store(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, value: LaneVector, ahead: int
    ) -> None:
        """Store a value per lane, and mark its bytes as written where that is tracked."""
        if not self._observes(value.bits):
            self.put(code, place, mask, value, ahead)
            return
        pass_values(code, [place.offsets, value])
        given = f"{_given(place, mask, ahead)}, i32 {int(self.is_joint)}"
        access(code, "observe_stores", given, value.bits)
        self.mark(code, place, mask, value.bits, ahead)

    def put(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, value: LaneVector, ahead: int
    ) -> None:
        """Store a value per lane that detectors know of, and mark its bytes as written."""
        pass_values(code, [place.offsets, value])
        access(code, "store_lanes", f"ptr {place.host}, i32 {mask}, i64 {ahead}", value.bits)
        self.mark(code, place, mask, value.bits, ahead)

    def mark(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """Mark bytes as written where that is tracked."""
        with _marks(code, place.entry) as marks:
            pass_values(code, [place.offsets])
            access(code, "mark_lanes", f"ptr {marks}, i32 {mask}, i64 {ahead}", width)

    def copy(
        self, code: CodeBuilder, place: CheckedPlace, origin: CheckedPlace, reads: str, size: int
    ) -> None:
        """Record for detectors that lanes begin to copy some bytes, of which some read others."""
        if self.is_observed:
            pass_values(code, [place.offsets, origin.offsets])
            given = f"ptr {place.entry}, ptr {origin.entry}, i32 %mask, i32 {reads}, i32 {size}"
            call(code, "void", "begin_copies", f"ptr %ctx, {_WARP}, {given}")

    def update(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """Handle an atomic operation, before or after it: mark its bytes as written."""
        self._observe(code, place, mask, width, ahead, layout.SHADOW_ATOMIC)
        self.mark(code, place, mask, width, ahead)

    def _observes(self, width: int) -> bool:
        """Return whether accesses of some bits are observed, which are those of whole units."""
        if width < 8 * self._unit:
            raise Untraceable(f"an access of {width} bits with detectors")
        return self.is_observed

    def _observe(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int, kind: int
    ) -> None:
        """Check and record accesses that do not only write; without detectors, note reads."""
        if self._observes(width):
            pass_values(code, [place.offsets])
            given = f"{_given(place, mask, ahead)}, i32 {kind}, i32 {int(self.is_joint)}"
            access(code, "observe_loads", given, width)
            return
        with _marks(code, place.entry) as marks:
            pass_values(code, [place.offsets])
            access(code, "note_lanes", f"ptr {marks}, i32 {mask}, i64 {ahead}", width)

    def _observe_halves(
        self, code: CodeBuilder, function: str, places: HalfPlaces, entry: str, columns: list[str]
    ) -> None:
        """Do what `_observe` does for loads of the halves of a warp, of elements of some types."""
        bits = bits_of_element(columns[0])
        if not self._observes(bits):
            width = len(columns) * bits * (HALF if function == "read_row" else 1)
            with _marks(code, entry) as marks:
                for first in places.first:
                    access(code, "note_range", f"ptr {marks}, i64 {first}", width)
            return
        for half, first in enumerate(places.first):
            given = f"i64 {first}, i32 {half}, i32 {len(columns) * bits // 8}"
            call(code, "void", function, f"ptr %ctx, {_WARP}, ptr {entry}, {given}")

    # --- patterns --------------------------------------------------------------------------------

    def load_row(
        self, code: CodeBuilder, places: HalfPlaces, columns: list[str], entry: str
    ) -> list[LaneVector]:
        """Return the elements of accesses of lanes in a row, by their types.

        Args:
            places: The places of the halves.
            columns: The type of each element of a lane.
            entry: The cache entry.
        """
        self._observe_halves(code, "read_row", places, entry, columns)
        count, element = len(columns), columns[0]
        halves = []
        for first in places.first:
            text = f"load {vector_type(element, HALF * count)}, ptr "
            text += f"{pointer_to(code, places.host, first)}, align 1"
            halves.append(code.vector(text, element, HALF * count))
        lanes = range(WIDTH)
        return [
            code.shuffle(halves[0], [lane * count + column for lane in lanes], halves[1])
            for column in range(count)
        ]

    def load_uniform(
        self, code: CodeBuilder, places: HalfPlaces, columns: list[str], entry: str
    ) -> list[LaneVector]:
        """Return the elements of accesses of one address by all lanes of each half."""
        self._observe_halves(code, "read_uniform", places, entry, columns)
        found = []
        for column, element in enumerate(columns):
            halves = []
            for first in places.first:
                pointer = pointer_to(code, places.host, first)
                ahead = column * bits_of_element(element) // 8
                text = f"load {element}, ptr {pointer_to(code, pointer, ahead)}, align 1"
                halves.append(code.broadcast(element, code.scalar(text), HALF))
            found.append(code.shuffle(halves[0], range(WIDTH), halves[1]))
        return found

    def store_row(
        self, code: CodeBuilder, places: HalfPlaces, columns: list[LaneVector], place: CheckedPlace
    ) -> None:
        """Store the elements of accesses of lanes in a row, and mark their bytes as written."""
        if self.is_observed:
            if len(columns) > 1 or columns[0].bits != 8 * self._unit:
                for number, column in enumerate(columns):
                    self.store(code, place, EVERY_LANE, column, number * column.bits // 8)
                return
            pass_values(code, columns)
            for half, first in enumerate(places.first):
                given = f"{_WARP}, ptr {place.entry}, ptr {place.host}, i64 {first}, i32 {half}"
                call(code, "void", "write_row", f"ptr %ctx, {given}")
        count, parts = len(columns), columns
        while len(parts) > 2:
            parts = [
                code.shuffle(a, range(2 * a.count), b)
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
        for half, first in enumerate(places.first):
            lanes = range(half * HALF, (half + 1) * HALF)
            order = [column * WIDTH + lane for lane in lanes for column in range(count)]
            value = code.shuffle(parts[0], order, parts[1] if count > 1 else None)
            pointer = pointer_to(code, places.host, first)
            code.line(f"store {value.typed}, ptr {pointer}, align 1")
        for number, column in enumerate(columns):
            self.mark(code, place, EVERY_LANE, column.bits, number * column.bits // 8)


def access(code: CodeBuilder, name: str, arguments: str, width: int) -> None:
    """Call a function in C that accesses values of some bits; it is compiled for this size.

    Args:
        code: Where the call goes.
        name: The function, of which the first parameter is the context.
        arguments: Its arguments before the size.
        width: The bits.
    """
    given = ["ptr %ctx", *arguments.split(", ")]
    own = f"{name}.{width}"
    if not code.module.defines(own):
        inner = CodeBuilder(code.module)
        named = [f"{each.split()[0]} %p{place}" for place, each in enumerate(given)]
        call(inner, "void", name, ", ".join([*named, f"i32 {width // 8}"]), inline=True)
        inner.line("ret void")
        inner.define(f"void @{own}({', '.join(named)})", "hidden noinline")
    code.line(f"call void @{own}({', '.join(given)})")


@contextmanager
def _marks(code: CodeBuilder, entry: str) -> Iterator[str]:
    """Add code that runs where unwritten bytes are tracked; yield their marks."""
    marks = field(code, entry, layout.UNWRITTEN, "ptr")
    absent = code.fresh("absent")
    code.leave_if(code.scalar(f"icmp eq ptr {marks}, null"), absent, "present", ", !prof !1")
    yield marks
    code.line(f"br label %{absent}")
    code.label(absent)


def _given(place: CheckedPlace, mask: str, ahead: int) -> str:
    return f"{_WARP}, ptr {place.entry}, ptr {place.host}, i32 {mask}, i64 {ahead}"
