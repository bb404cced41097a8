"""Loads and stores: calls of functions in C (``native/access.c``), and rows of lanes.

Every access has a cache entry with the region that it accessed last. Addresses outside of it, and
misaligned ones, call back: the caller changes the entry, executes the instruction, or raises its
fault. Host memory is never accessed by a number, only by an offset that has been checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from cudarun.emulator.compiled.lanes.lowering import LaneType
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


class MemoryFunctions:
    """The code that loads and stores: functions in C (``native/access.c``), by width."""

    def __init__(self) -> None:
        self.is_joint = False  # whether other lanes of the warp can be those that make the accesses

    def load(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> LaneVector:
        """Return a value of ``width`` bits per lane, ``ahead`` bytes after its place."""
        pass_values(code, [place.offsets])
        access(code, "load_lanes", f"ptr {place.host}, i32 {mask}, i64 {ahead}", width)
        return take_results(code, 1, [LaneType(np.dtype(f"u{width // 8}"))])[0]

    def store(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, value: LaneVector, ahead: int
    ) -> None:
        """Store a value per lane, and mark its bytes as written where that is tracked."""
        pass_values(code, [place.offsets, value])
        access(code, "store_lanes", f"ptr {place.host}, i32 {mask}, i64 {ahead}", value.bits)
        self.mark(code, place, mask, value.bits, ahead)

    def mark(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """Mark bytes as written where that is tracked."""
        with unless_null(code, place.entry, layout.UNWRITTEN) as marks:
            pass_values(code, [place.offsets])
            access(code, "mark_lanes", f"ptr {marks}, i32 {mask}, i64 {ahead}", width)

    def update(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """Handle an atomic operation, before or after it: mark its bytes as written."""
        self.mark(code, place, mask, width, ahead)

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
        inner.define(f"void @{own}({', '.join(named)})")
    code.line(f"call void @{own}({', '.join(given)})")


@contextmanager
def unless_null(code: CodeBuilder, entry: str, offset: int) -> Iterator[str]:
    """Add code that runs if a pointer of a cache entry is not null; yield the pointer."""
    pointer = field(code, entry, offset, "ptr")
    present, absent = code.fresh("present"), code.fresh("absent")
    null = code.scalar(f"icmp eq ptr {pointer}, null")
    code.line(f"br i1 {null}, label %{absent}, label %{present}, !prof !1")
    code.label(present)
    yield pointer
    code.line(f"br label %{absent}")
    code.label(absent)
