"""The elements of matrices: from words in memory to numbers and their exponents in memory.

A word has consecutive elements of a row of A, or of a column of B. Of the **left** matrix, a vector
has the same word of all rows; the words of the **right** one follow each other, column by column.
Numbers are f32, with the exponents beside them; or pairs of integers of 16 bits; or the words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cudarun.emulator.compiled.lanes.lowering import traced
from cudarun.emulator.compiled.lanes.permutations import counted, permuted
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    element_of,
    splat,
    vector_type,
)
from cudarun.emulator.machine.matrices import numbers
from cudarun.emulator.numerics.formats import element
from cudarun.emulator.numerics.products import NOTHING
from cudarun.emulator.numerics.types import Type, TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.compiled.products.shapes import MatrixShape

Array = npt.NDArray[np.generic]

WORDS_AT_ONCE = 16  # of the right matrix
_BIAS = 127
_SPECIAL = 128  # the exponent of infinities and NaN
_LIMIT = 50  # of exponents of products that are computed in f32


def load(code: CodeBuilder, pointer: str, kind: str, index: str, count: int) -> LaneVector:
    """Load a vector from the element with an index."""
    at = code.scalar(f"getelementptr {kind}, ptr {pointer}, i64 {index}")
    return code.vector(f"load {vector_type(kind, count)}, ptr {at}, align 4", kind, count)


def load_single(code: CodeBuilder, pointer: str, kind: str, index: str, count: int) -> LaneVector:
    """Load one element for all rows."""
    at = code.scalar(f"getelementptr {kind}, ptr {pointer}, i64 {index}")
    return code.broadcast(kind, code.scalar(f"load {kind}, ptr {at}, align 2"), count)


def store(code: CodeBuilder, value: LaneVector, pointer: str, index: str) -> None:
    """Store a vector to the element with an index."""
    at = code.scalar(f"getelementptr {value.element}, ptr {pointer}, i64 {index}")
    code.line(f"store {value.typed}, ptr {at}, align 2")


def scaled(code: CodeBuilder, index: str, factor: int, offset: int = 0) -> str:
    """Return an index multiplied by a factor, plus an offset."""
    product = code.scalar(f"mul i64 {index}, {factor}")
    return code.scalar(f"add i64 {product}, {offset}")


def greater(code: CodeBuilder, a: LaneVector, b: LaneVector) -> LaneVector:
    """Return the greater ones of signed integers."""
    return code.intrinsic("smax", a, b)


# --- words to numbers ----------------------------------------------------------------------------


def floats(code: CodeBuilder, words: LaneVector, ptx_type: Type) -> list[LaneVector]:
    """Return the elements of words as f32."""
    name = f"numbers.{ptx_type.name}.{words.count}"

    def convert(a: Array, d: Array) -> None:
        np.copyto(d, numbers(a, ptx_type).astype(np.float32))

    found = []
    for place in range(32 // ptx_type.bits):
        bits = words
        if place:
            shift = splat("i32", place * ptx_type.bits, words.count)
            bits = code.binary("lshr", words, shift)
        if ptx_type.bits < 32:
            bits = code.cast("trunc", bits, f"i{ptx_type.bits}")
        given = code.bitcast(bits, element_of(ptx_type.dtype))
        found.append(traced(code, name, convert, [ptx_type.dtype], np.dtype(np.float32), [given]))
    return found


def pairs_of_integers(code: CodeBuilder, words: LaneVector, ptx_type: Type) -> list[LaneVector]:
    """Return the elements of words as pairs of 16 bits."""
    count, bits = words.count, ptx_type.bits
    signed = ptx_type.kind is TypeKind.SIGNED
    low = splat("i32", 0xFFFF, count)
    found = []
    for first in range(0, 32 // bits, 2):
        parts = []
        for place in (first, first + 1):
            left = splat("i32", 32 - bits * (place + 1), count)
            top = code.binary("shl", words, left)
            right = splat("i32", 32 - bits, count)
            parts.append(code.binary("ashr" if signed else "lshr", top, right))
        found.append(_pair(code, parts[0], parts[1], low))
    return found


def _pair(code: CodeBuilder, a: LaneVector, b: LaneVector, low: LaneVector) -> LaneVector:
    upper = code.binary("shl", b, splat("i32", 16, b.count))
    return code.binary("or", code.binary("and", a, low), upper)


def exponents(code: CodeBuilder, values: LaneVector, least: int) -> LaneVector:
    """Return the exponents of f32; infinities and NaN have a large one."""
    count = values.count
    size = code.binary("shl", code.bitcast(values, "i32"), splat("i32", 1, count))
    field = code.binary("lshr", size, splat("i32", 24, count))
    exponent = code.binary("sub", field, splat("i32", _BIAS, count))
    exponent = greater(code, exponent, splat("i32", least, count))
    zero = code.compare("eq", size, splat("i32", 0, count))
    return code.select(zero, splat("i32", NOTHING, count), exponent)


def beyond(code: CodeBuilder, found: LaneVector, limit: int) -> LaneVector:
    """Return where exponents of numbers that are not zero are beyond a limit, up or down."""
    count = found.count
    moved = code.binary("add", found, splat("i32", limit, count))
    wide = code.compare("ugt", moved, splat("i32", 2 * limit, count))
    some = code.compare("ne", found, splat("i32", NOTHING, count))
    return code.binary("and", wide, some)


# --- matrices ------------------------------------------------------------------------------------


class MatrixElements:
    """The code that prepares one of the two matrices of a product.

    Args:
        which: ``"a"`` or ``"b"``.
    """

    def __init__(self, shape: MatrixShape, which: str) -> None:
        self.shape = shape
        self.type = shape.types[which]
        self.each = 32 // self.type.bits
        self.negated = shape.negated and which == "a"
        self.least = shape.least[element(self.type)] if shape.is_float else 0

    def left(self, code: CodeBuilder, words: str, values: str, found: str) -> str:
        """Prepare rows; return whether a number is too large or small to be multiplied in f32.

        Args:
            words: The words in memory: by number of the word, and row.
            values: Takes the numbers: by place along k, and row.
            found: Takes the exponents of floats: by pair of places along k, and row.
        """
        shape, rows = self.shape, self.shape.rows
        if not shape.is_float:
            with counted(code, shape.words) as number:
                word = load(code, words, "i32", scaled(code, number, rows), rows)
                pairs = pairs_of_integers(code, word, self.type)
                for place, pair in enumerate(pairs):
                    at = scaled(code, number, len(pairs) * rows, place * rows)
                    store(code, pair, values, at)
            return "false"
        flags = f"{found.partition('.')[0]}.flags"
        code.line(f"store <{rows} x i1> zeroinitializer, ptr {flags}")
        together = max(2 // self.each, 1)
        low = splat("i32", 0xFFFF, rows)
        with counted(code, shape.words // together) as step:
            parts = []
            for turn in range(together):
                at = scaled(code, step, together * rows, turn * rows)
                word = load(code, words, "i32", at, rows)
                parts.extend(floats(code, word, self.type))
            if self.negated:
                parts = [code.vector(f"fneg {p.typed}", "float", rows) for p in parts]
            exponents_ = [exponents(code, part, self.least) for part in parts]
            for place, value in enumerate(parts):
                first, stride = shape.place_of(place, len(parts))
                store(code, value, values, scaled(code, step, stride * rows, first * rows))
                if place % 2 == 0:
                    pair = _pair(code, exponents_[place], exponents_[place + 1], low)
                    at = scaled(code, step, stride // 2 * rows, first // 2 * rows)
                    store(code, pair, found, at)
            self._note(code, exponents_, flags)
        return self._noted(code, flags, rows)

    def right(self, code: CodeBuilder, words: str, values: str, found: str) -> str:
        """Prepare columns, as ``left``: the places along k of one column after the other."""
        shape, count = self.shape, WORDS_AT_ONCE
        row = np.arange(count)
        column, number = np.divmod(row, shape.words)
        flags = f"{found.partition('.')[0]}.flags"
        code.line(f"store <{count} x i1> zeroinitializer, ptr {flags}")
        with counted(code, shape.columns * shape.words // count) as step:
            word = load(code, words, "i32", scaled(code, step, count), count)
            if not shape.is_float:
                parts = pairs_of_integers(code, word, self.type)
            else:
                parts = floats(code, word, self.type)
            places = np.zeros(count * len(parts), dtype=np.int64)
            for place in range(len(parts)):
                first, stride = (
                    shape.place_of(place, len(parts)) if shape.is_float else (place, len(parts))
                )
                at = column * shape.words * len(parts) + first + stride * number
                places[at] = place * count + row
            start = scaled(code, step, len(places))
            store(code, permuted(code, parts, places), values, start)
            if shape.is_float:
                exponents_ = [exponents(code, part, self.least) for part in parts]
                short = [code.cast("trunc", each, "i16") for each in exponents_]
                store(code, permuted(code, short, places), found, start)
                self._note(code, exponents_, flags)
        return self._noted(code, flags, count)

    def _note(self, code: CodeBuilder, found: list[LaneVector], flags: str) -> None:
        """Note exponents beyond the limits."""
        wide = element(self.type) in ("bf16", "tf32")
        for each in found:
            if wide:
                bad = beyond(code, each, _LIMIT)
            else:
                bad = code.compare("eq", each, splat("i32", _SPECIAL, each.count))
            before = code.vector(f"load {bad.type}, ptr {flags}", "i1", bad.count)
            code.line(f"store {code.binary('or', before, bad).typed}, ptr {flags}")

    @staticmethod
    def _noted(code: CodeBuilder, flags: str, count: int) -> str:
        noted = code.scalar(f"load i{count}, ptr {flags}")
        return code.scalar(f"icmp ne i{count} {noted}, 0")
