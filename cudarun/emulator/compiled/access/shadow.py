"""Shadow memory in compiled code: whether accesses of a launch may race.

Memory is divided into units of the smallest access of the kernel. A word per unit has its last
accesses on three levels. A thread that differs from the recorded one on a level conflicts with the
accesses recorded there; an access that is ordered after all of a level begins it anew:

* blocks are not ordered;
* warps of a block are ordered by barriers of the whole block, which begin an **epoch**;
* lanes of a warp are ordered by synchronizations of the whole warp, which are counted.

Other synchronization is not known here: there are conflicts that are no races, but every race of
the interpreter's detector is a conflict.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    constant,
    splat,
    vector_type,
)
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import (
    MemoryFunctions,
    contiguous,
    field,
    masked_load,
    masked_store,
    pointer_to,
    store_field,
)
from cudarun.emulator.compiled.state.patterns import HALF

READ, WRITE, ATOMIC = 1, 2, 4
"""The kinds of accesses; those of more than one kind conflict with any access."""

WORD = 8
"""Bytes of the shadow of a unit."""

# Fields of a word from the lowest bit on: the kinds on the three levels, then the last thread and
# its time. The highest value of a lane, a warp and a block stands for many.
_EVERY_LEVEL = 0o111  # times a kind
_IN_WARP, _IN_BLOCK, _IN_GRID, _KINDS = 0o007, 0o070, 0o700, 0o777
_LANE_AT, _SYNCS_AT, _WARP_AT = 9, 15, 25
_EPOCH_AT, _BLOCK_AT = layout.SHADOW_EPOCH, layout.SHADOW_BLOCK
_MANY_LANES = 1 << _SYNCS_AT - 1
_MANY_WARPS = 1 << _EPOCH_AT - 1
_MANY_BLOCKS = (1 << 64) - (1 << _BLOCK_AT)
_MOST_SYNCS = (1 << _WARP_AT - _SYNCS_AT) - 1

_NAMES = {READ: "read", WRITE: "write", ATOMIC: "atomic"}
_LANES = constant(np.arange(WIDTH, dtype=np.int64) << _LANE_AT)


def suspect(code: CodeBuilder, found: str, bits: int) -> None:
    """Record that there may be a finding if a number of some bits is not 0."""
    wide = code.scalar(f"zext i{bits} {found} to i64")
    before = field(code, "%ctx", layout.SUSPECTED, "i64")
    after = code.scalar(f"or i64 {before}, {wide}")
    store_field(code, "%ctx", layout.SUSPECTED, "i64", after)


def nonzero(code: CodeBuilder, value: LaneVector) -> str:
    """Return a number with a bit for each element that is not 0."""
    return code.to_mask(code.compare("ne", value, splat(value.element, 0, value.count)))


# --- time ----------------------------------------------------------------------------------------


def count_synchronization(
    code: CodeBuilder, mask: str, alive: str, members: LaneVector | None, syncs: int
) -> None:
    """Count a synchronization of lanes if they are their whole warp.

    Args:
        code: Where the code goes.
        mask: The active lanes.
        alive: The live lanes of the warp.
        members: The member mask of each lane; ``None`` for all lanes.
        syncs: The offset of the counter in the warp's state.
    """
    missing = code.scalar(f"xor i32 {mask}, {alive}")
    if members is not None:
        every = code.broadcast("i32", alive)
        named = code.binary("and", code.bitcast(members, "i32"), every)
        absent = code.to_mask(code.compare("ne", named, every))
        missing = code.scalar(f"or i32 {missing}, {code.scalar(f'and i32 {absent}, {mask}')}")
    before = field(code, "%state", syncs, "i32")
    whole = code.scalar(f"icmp eq i32 {missing}, 0")
    room = code.scalar(f"icmp ult i32 {before}, {_MOST_SYNCS}")
    step = code.scalar(f"zext i1 {code.scalar(f'and i1 {whole}, {room}')} to i32")
    store_field(code, "%state", syncs, "i32", code.scalar(f"add i32 {before}, {step}"))


def stamp_of_warp(code: CodeBuilder, syncs: int) -> str:
    """Return the word of an access by lane 0 now, without kinds."""
    stamp = field(code, "%ctx", layout.EPOCH, "i64")
    for count, place in ((field(code, "%state", syncs, "i32"), _SYNCS_AT), ("%warp", _WARP_AT)):
        wide = code.scalar(f"zext i32 {count} to i64")
        stamp = code.scalar(f"or i64 {stamp}, {code.scalar(f'shl i64 {wide}, {place}')}")
    return stamp


# --- words ---------------------------------------------------------------------------------------


def _words(value: int, count: int) -> LaneVector:
    return splat("i64", value - (1 << 64) if value >> 63 else value, count)


def _next_words(
    code: CodeBuilder, held: LaneVector, stamps: LaneVector, kind: int
) -> tuple[LaneVector, LaneVector]:
    """Return the words of units after accesses, and what of the words before conflicts with them.

    Args:
        code: Where the code goes.
        held: The words before.
        stamps: The thread and the time of each access.
        kind: The kind of the accesses.
    """
    count = held.count
    own = kind * _EVERY_LEVEL

    def select(condition: LaneVector, value: int, otherwise: LaneVector) -> LaneVector:
        return code.select(condition, _words(value, count), otherwise)

    many = code.binary("and", held, _words(_MANY_LANES, count))
    apart = code.binary("or", code.binary("xor", held, stamps), many)

    def is_same(place: int) -> LaneVector:
        """Return where the fields from a bit on are the same."""
        return code.compare("ult", apart, _words(1 << place, count))

    lane, syncs, warp, epoch, block = map(
        is_same, (_LANE_AT, _SYNCS_AT, _WARP_AT, _EPOCH_AT, _BLOCK_AT)
    )
    empty = code.compare("eq", held, _words(0, count))
    new_block = select(block, 0, _words(_MANY_BLOCKS | _IN_GRID & ~own, count))
    new_warp = select(epoch, _MANY_WARPS | _IN_BLOCK & ~own, new_block)
    new_lane = select(syncs, _MANY_LANES | _IN_WARP & ~own, select(warp, 0, new_warp))
    differs = select(empty, 0, select(lane, 0, new_lane))
    kept = select(syncs, _KINDS, select(epoch, _IN_BLOCK | _IN_GRID, _words(_IN_GRID, count)))
    conflicts = code.binary("and", code.binary("and", held, differs), _words(_KINDS, count))
    found = code.binary("or", stamps, code.binary("and", held, kept))
    found = code.binary("or", found, _words(own, count))
    found = code.binary(
        "or", found, code.binary("and", differs, _words(~_KINDS % (1 << 64), count))
    )
    return found, conflicts


class ShadowFunctions:
    """The functions of a module that check and record accesses in shadow memory.

    Args:
        module: The module.
        memory: The functions that load.
        unit: Bytes of a unit.
    """

    def __init__(self, module: ModuleText, memory: MemoryFunctions, unit: int) -> None:
        self._module = module
        self._memory = memory
        self._unit = unit
        self._scale = WORD // unit  # bytes of shadow per byte

    def pointer(self, code: CodeBuilder, shadow: str, offset: int | str) -> str:
        """Return the pointer to the shadow of an offset in bytes."""
        if isinstance(offset, int):
            return pointer_to(code, shadow, offset * self._scale) if offset else shadow
        return pointer_to(code, shadow, code.scalar(f"mul i64 {offset}, {self._scale}"))

    def units(self, width: int) -> int:
        """Return the units of ``width`` bits."""
        return width // 8 // self._unit

    # --- patterns --------------------------------------------------------------------------------

    def read_row(self, code: CodeBuilder, shadow: str, stamp: str, half: int, units: int) -> None:
        """Record the reads of a half whose lanes read some units each, one after the other."""
        name = "shadow.read.row"
        if not self._module.defines(name):
            self._define_row(name)
        stamps = code.broadcast("i64", stamp, HALF)
        for turn in range(units):
            lanes = (np.arange(HALF) + turn * HALF) // units + half * HALF
            mine = code.binary("or", stamps, constant(lanes.astype(np.int64) << _LANE_AT))
            at = pointer_to(code, shadow, turn * HALF * WORD)
            code.line(f"call void @{name}(ptr %ctx, ptr {at}, {mine.typed})")

    def _define_row(self, name: str) -> None:
        code = CodeBuilder(self._module)
        kind = vector_type("i64", HALF)
        held = code.vector(f"load {kind}, ptr %shadow, align 8", "i64", HALF)
        found, conflicts = _next_words(code, held, LaneVector("%stamps", "i64", HALF), READ)
        code.line(f"store {found.typed}, ptr %shadow, align 8")
        suspect(code, nonzero(code, conflicts), HALF)
        code.line("ret void")
        code.define(f"void @{name}(ptr %ctx, ptr %shadow, {kind} %stamps)")

    def read_uniform(self, code: CodeBuilder, shadow: str, stamp: str, units: int) -> None:
        """Record that all lanes of a half read the same units."""
        name = f"shadow.read.uniform.{units}"
        if not self._module.defines(name):
            self._define_uniform(name, units)
        code.line(f"call void @{name}(ptr %ctx, ptr {shadow}, i64 {stamp})")

    def _define_uniform(self, name: str, units: int) -> None:
        code = CodeBuilder(self._module)
        kind = vector_type("i64", units)
        held = code.vector(f"load {kind}, ptr %shadow, align 8", "i64", units)
        stamp = code.scalar(f"or i64 %stamp, {_MANY_LANES}")
        found, conflicts = _next_words(code, held, code.broadcast("i64", stamp, units), READ)
        code.line(f"store {found.typed}, ptr %shadow, align 8")
        suspect(code, nonzero(code, conflicts), units)
        code.line("ret void")
        code.define(f"void @{name}(ptr %ctx, ptr %shadow, i64 %stamp)")

    # --- all accesses ----------------------------------------------------------------------------

    def record(self, kind: int, width: int, *, joint: bool) -> str:
        """Return the name of a function that records accesses of the lanes of a mask.

        It has the parameters ``(context, shadow, offsets, mask, stamp)``. That of writes has the
        host memory and the values as well, and returns the lanes that write a unit together with
        another lane.

        Args:
            kind: The kind of the accesses.
            width: Bits per lane.
            joint: Whether other lanes of the warp can be those that make an access.
        """
        name = f"shadow.{_NAMES[kind]}.{width}{'.joint' * joint}"
        if not self._module.defines(name):
            self._define_record(name, kind, width, joint=joint)
        return name

    def _define_record(self, name: str, kind: int, width: int, *, joint: bool) -> None:
        code = CodeBuilder(self._module)
        units = self.units(width)
        code.label("entry")
        active = code.from_mask("%mask")
        stamps = code.binary("or", code.broadcast("i64", "%stamp"), _LANES)
        result = "i32" if kind == WRITE else "void"
        none = "ret i32 0" if kind == WRITE else "ret void"
        if units == 1 and not joint:
            first, together = contiguous(code, WIDTH, width // 8, "%mask")
            code.line(f"br i1 {together}, label %contiguous, label %scattered")
            code.label("contiguous")
            start = self.pointer(code, "%shadow", first)
            held = masked_load(code, start, active, "i64")
            found = self._checked(code, held, stamps, kind, width)
            masked_store(code, found, start, active)
            code.line(none)
        else:
            code.line("br label %scattered")
        code.label("scattered")
        gather, scatter = "@llvm.masked.gather.v32i64.v32p0", "@llvm.masked.scatter.v32i64.v32p0"
        words, pointers = vector_type("i64"), vector_type("ptr")
        self._module.declare(f"declare {words} {gather}({pointers}, i32, <32 x i1>, {words})")
        self._module.declare(f"declare void {scatter}({words}, {pointers}, i32, <32 x i1>)")
        scaled = code.binary("mul", LaneVector("%offsets", "i64"), splat("i64", self._scale))
        shared = "0"
        for unit in range(units):
            base = pointer_to(code, "%shadow", unit * WORD)
            places = code.scalar(f"getelementptr i8, ptr {base}, {scaled.typed}")
            given = f"{pointers} {places}, i32 8, {active.typed}, {words} zeroinitializer"
            held = code.vector(f"call {words} {gather}({given})", "i64")
            found = self._checked(code, held, stamps, kind, width)
            target = f"{pointers} {places}, i32 8"
            code.line(f"call void {scatter}({found.typed}, {target}, {active.typed})")
            now = code.vector(f"call {words} {gather}({given})", "i64")
            lost = code.binary("and", code.compare("ne", now, found), active)
            shared = code.scalar(f"or i32 {shared}, {code.to_mask(lost)}")
            many = code.binary("or", found, _words(_MANY_LANES, WIDTH))
            again = active if joint else lost
            code.line(f"call void {scatter}({many.typed}, {target}, {again.typed})")
        code.line(f"ret i32 {shared}" if kind == WRITE else "ret void")
        more = f", ptr %host, {vector_type(f'i{width}')} %value" if kind == WRITE else ""
        accesses = f"{words} %offsets, i32 %mask, i64 %stamp{more}"
        code.define(f"{result} @{name}(ptr %ctx, ptr %shadow, {accesses})")

    def _checked(
        self, code: CodeBuilder, held: LaneVector, stamps: LaneVector, kind: int, width: int
    ) -> LaneVector:
        """Return the words after accesses, and record conflicts; those of inactive lanes are 0."""
        if kind == WRITE:
            held = self._with_changes(code, held, width)
        found, conflicts = _next_words(code, held, stamps, kind)
        suspect(code, nonzero(code, conflicts), WIDTH)
        return found

    def _with_changes(self, code: CodeBuilder, held: LaneVector, width: int) -> LaneVector:
        """Return words before writes; writes that change the value of earlier ones are as reads.

        Writes of one value by many threads are no race.
        """
        writes = code.binary("and", held, _words(WRITE * _EVERY_LEVEL, WIDTH))
        some = code.scalar(f"icmp ne i32 {nonzero(code, writes)}, 0")
        before, compare, done = (code.fresh(stem) for stem in ("before", "compare", "done"))
        code.line(f"br label %{before}")
        code.label(before)
        code.line(f"br i1 {some}, label %{compare}, label %{done}")
        code.label(compare)
        offsets = LaneVector("%offsets", "i64")
        old = self._memory.load_from(code, "%host", offsets, "%mask", width)
        changes = code.compare("ne", old, LaneVector("%value", f"i{width}"))
        as_reads = code.binary("lshr", writes, _words(1, WIDTH))
        added = code.select(changes, as_reads, _words(0, WIDTH))
        changed = code.binary("or", held, added)
        code.line(f"br label %{done}")
        code.label(done)
        return code.vector(
            f"phi {held.type} [ {held.name}, %{before} ], [ {changed.name}, %{compare} ]", "i64"
        )
