"""Loads and stores: checked positions of the lanes in host memory, and the functions that use them.

Every access has a cache entry with the region that it accessed last. Addresses outside of it, and
misaligned ones, call back: the caller changes the entry, executes the instruction, or raises its
fault. Host memory is never accessed by a number, only by an offset that has been checked.
"""

from __future__ import annotations

from typing import NamedTuple

from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    bits_of_element,
    splat,
    vector_type,
)
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.patterns import HALF, HalfPlaces

_OFFSETS = vector_type("i64")


class CheckedPlace(NamedTuple):
    """The checked accesses of a warp.

    Attributes:
        host: The host address that offsets are relative to.
        offsets: The offset of each lane.
        entry: The cache entry.
    """

    host: str
    offsets: LaneVector
    entry: str


def field(code: CodeBuilder, pointer: str, offset: int, kind: str) -> str:
    """Load a value at an offset from a pointer."""
    return code.scalar(f"load {kind}, ptr {pointer_to(code, pointer, offset)}, align 4")


def pointer_to(code: CodeBuilder, pointer: str, offset: int | str) -> str:
    """Return a pointer to an offset in bytes."""
    return code.scalar(f"getelementptr i8, ptr {pointer}, i64 {offset}")


def store_field(code: CodeBuilder, pointer: str, offset: int, kind: str, value: str) -> None:
    """Store a value at an offset from a pointer."""
    code.line(f"store {kind} {value}, ptr {pointer_to(code, pointer, offset)}, align 4")


def cache_entry(code: CodeBuilder, number: int) -> str:
    """Return the pointer to a cache entry."""
    cache = code.scalar("load ptr, ptr %cache.at, align 8, !invariant.load !0")
    return pointer_to(code, cache, code.number("i64", number * layout.CACHE_BYTES, "entry"))


class MemoryFunctions:
    """The functions of a module that load and store, by width."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module

    def load(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> LaneVector:
        """Return a value of ``width`` bits per lane, ``ahead`` bytes after its place."""
        host = pointer_to(code, place.host, ahead) if ahead else place.host
        return self.load_from(code, host, place.offsets, mask, width)

    def load_from(
        self, code: CodeBuilder, host: str, offsets: LaneVector, mask: str, width: int
    ) -> LaneVector:
        """Return a value of ``width`` bits per lane, at offsets from a pointer."""
        name = f"load.{width}"
        if not self._module.defines(name):
            self._define_load(name, width)
        kind = vector_type(f"i{width}")
        text = f"call {kind} @{name}(ptr {host}, {offsets.typed}, i32 {mask})"
        return code.vector(text, f"i{width}")

    def store(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, value: LaneVector, ahead: int
    ) -> None:
        """Store a value per lane, and mark its bytes as written where that is tracked."""
        name = f"store.{value.bits}"
        if not self._module.defines(name):
            self._define_store(name, value.bits)
        host = pointer_to(code, place.host, ahead) if ahead else place.host
        code.line(
            f"call void @{name}(ptr {host}, {place.offsets.typed}, {value.typed}, i32 {mask})"
        )
        self.mark(code, place, mask, value.bits, ahead)

    def mark(
        self, code: CodeBuilder, place: CheckedPlace, mask: str, width: int, ahead: int
    ) -> None:
        """Mark bytes as written where that is tracked."""
        name = f"store.{width}"
        if not self._module.defines(name):
            self._define_store(name, width)
        marks = field(code, place.entry, layout.UNWRITTEN, "ptr")
        tracked, done = code.fresh("tracked"), code.fresh("stored")
        untracked = code.scalar(f"icmp eq ptr {marks}, null")
        code.line(f"br i1 {untracked}, label %{done}, label %{tracked}, !prof !1")
        code.label(tracked)
        at = pointer_to(code, marks, ahead) if ahead else marks
        zeros = f"{vector_type(f'i{width}')} zeroinitializer"
        code.line(f"call void @{name}(ptr {at}, {place.offsets.typed}, {zeros}, i32 {mask})")
        code.line(f"br label %{done}")
        code.label(done)

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
            code: Where the code goes.
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
        self,
        code: CodeBuilder,
        places: HalfPlaces,
        columns: list[LaneVector],
        place: CheckedPlace,
        mask: str,
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
            self.mark(code, place, mask, column.bits, number * column.bits // 8)

    # --- definitions -----------------------------------------------------------------------------

    def _define_load(self, name: str, width: int) -> None:
        kind = vector_type(f"i{width}")
        code = CodeBuilder(self._module)
        offsets = LaneVector("%offsets", "i64")
        halves = []
        for half in range(2):
            part = code.shuffle(offsets, range(half * HALF, (half + 1) * HALF))
            shifted = code.scalar(f"lshr i32 %mask, {half * HALF}")
            mask = code.scalar(f"trunc i32 {shifted} to i16")
            text = f"call <16 x i{width}> @half.{name}(ptr %host, {part.typed}, i16 {mask})"
            halves.append(code.vector(text, f"i{width}", HALF))
        both = code.shuffle(halves[0], range(WIDTH), halves[1])
        code.line(f"ret {both.typed}")
        code.define(f"{kind} @{name}(ptr %host, {_OFFSETS} %offsets, i32 %mask)")
        self._define_half_load(f"half.{name}", width)

    def _define_half_load(self, name: str, width: int) -> None:
        """Define the load of 16 lanes: contiguous, all the same, or scattered."""
        element = f"i{width}"
        code = CodeBuilder(self._module)
        code.label("entry")
        first, together = contiguous(code, HALF, width // 8, "%mask")
        start = pointer_to(code, "%host", first)
        active = code.vector("bitcast i16 %mask to <16 x i1>", "i1", HALF)
        code.line(f"br i1 {together}, label %contiguous, label %apart")
        code.label("contiguous")
        whole = masked_load(code, start, active, element)
        code.line(f"ret {whole.typed}")
        code.label("apart")
        first = code.scalar("call i16 @llvm.cttz.i16(i16 %mask, i1 false)")
        place = code.scalar(f"and i16 {first}, 15")
        offset = code.scalar(f"extractelement <16 x i64> %offsets, i16 {place}")
        offsets = LaneVector("%offsets", "i64", HALF)
        same = code.compare("eq", offsets, code.broadcast("i64", offset, HALF))
        inactive = code.binary("xor", active, splat("i1", True, HALF))
        every = code.to_mask(code.binary("or", same, inactive))
        uniform = code.scalar(f"icmp eq i16 {every}, -1")
        some = code.scalar("icmp ne i16 %mask, 0")
        uniform = code.scalar(f"and i1 {uniform}, {some}")
        code.line(f"br i1 {uniform}, label %uniform, label %scattered")
        code.label("uniform")
        pointer = pointer_to(code, "%host", offset)
        value = code.scalar(f"load {element}, ptr {pointer}, align 1")
        spread = code.broadcast(element, value, HALF)
        code.line(f"ret {spread.typed}")
        code.label("scattered")
        kind = vector_type(element, HALF)
        intrinsic = f"@llvm.masked.gather.v16{element}.v16p0"
        self._module.declare(f"declare {kind} {intrinsic}(<16 x ptr>, i32, <16 x i1>, {kind})")
        self._module.declare("declare i16 @llvm.cttz.i16(i16, i1)")
        pointers = code.scalar("getelementptr i8, ptr %host, <16 x i64> %offsets")
        given = f"<16 x ptr> {pointers}, i32 1, {active.typed}, {kind} zeroinitializer"
        found = code.vector(f"call {kind} {intrinsic}({given})", element, HALF)
        code.line(f"ret {found.typed}")
        code.define(f"{kind} @{name}(ptr %host, <16 x i64> %offsets, i16 %mask)")

    def _define_store(self, name: str, width: int) -> None:
        element, kind = f"i{width}", vector_type(f"i{width}")
        code = CodeBuilder(self._module)
        code.label("entry")
        first, together = contiguous(code, WIDTH, width // 8, "%mask")
        start = pointer_to(code, "%host", first)
        active = code.from_mask("%mask")
        code.line(f"br i1 {together}, label %contiguous, label %scattered")
        code.label("contiguous")
        masked_store(code, LaneVector("%value", element), start, active)
        code.line("ret void")
        code.label("scattered")
        scatter = f"@llvm.masked.scatter.v32{element}.v32p0"
        self._module.declare(f"declare void {scatter}({kind}, <32 x ptr>, i32, <32 x i1>)")
        pointers = code.scalar(f"getelementptr i8, ptr %host, {_OFFSETS} %offsets")
        code.line(
            f"call void {scatter}({kind} %value, <32 x ptr> {pointers}, i32 1, {active.typed})"
        )
        code.line("ret void")
        code.define(f"void @{name}(ptr %host, {_OFFSETS} %offsets, {kind} %value, i32 %mask)")


def contiguous(code: CodeBuilder, count: int, size: int, mask: str) -> tuple[str, str]:
    """Return the offset of lane 0 of ``%offsets``, and whether all active lanes follow it."""
    code.module.declare(f"declare i{count} @llvm.cttz.i{count}(i{count}, i1)")
    first = code.scalar(f"call i{count} @llvm.cttz.i{count}(i{count} {mask}, i1 false)")
    place = code.scalar(f"and i{count} {first}, {count - 1}")
    offsets = LaneVector("%offsets", "i64", count)
    offset = code.scalar(f"extractelement {offsets.typed}, i{count} {place}")
    wide = code.scalar(f"zext i{count} {place} to i64")
    before = code.scalar(f"mul i64 {wide}, {size}")
    start = code.scalar(f"sub i64 {offset}, {before}")
    listed = ", ".join(f"i64 {lane * size}" for lane in range(count))
    expected = code.binary(
        "add", code.broadcast("i64", start, count), LaneVector(f"<{listed}>", "i64", count)
    )
    same = code.compare("eq", offsets, expected)
    active = code.vector(f"bitcast i{count} {mask} to <{count} x i1>", "i1", count)
    inactive = code.binary("xor", active, splat("i1", True, count))
    every = code.to_mask(code.binary("or", same, inactive))
    return start, code.scalar(f"icmp eq i{count} {every}, -1")


def masked_load(code: CodeBuilder, start: str, active: LaneVector, element: str) -> LaneVector:
    """Return consecutive elements from a pointer on, zeros for inactive lanes."""
    kind = vector_type(element, active.count)
    intrinsic = f"@llvm.masked.load.v{active.count}{element}.p0"
    code.module.declare(f"declare {kind} {intrinsic}(ptr, i32, {active.type}, {kind})")
    given = f"ptr {start}, i32 1, {active.typed}, {kind} zeroinitializer"
    return code.vector(f"call {kind} {intrinsic}({given})", element, active.count)


def masked_store(code: CodeBuilder, value: LaneVector, start: str, active: LaneVector) -> None:
    """Store the elements of active lanes from a pointer on."""
    intrinsic = f"@llvm.masked.store.v{value.count}{value.element}.p0"
    code.module.declare(f"declare void {intrinsic}({value.type}, ptr, i32, {active.type})")
    code.line(f"call void {intrinsic}({value.typed}, ptr {start}, i32 1, {active.typed})")
