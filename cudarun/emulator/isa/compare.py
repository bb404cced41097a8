"""Comparison and selection (PTX manual 9.7.6), of all types."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, Keywords, computed, form
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import element, flushed_half, to_f32
from cudarun.emulator.numerics.special_values import flushed
from cudarun.emulator.numerics.temporaries import Function, temporaries
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.emulator.words import Words

INTEGER_TESTS: dict[str, Function] = {
    "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
# For NaN numpy's test equals PTX's for these; the others are negations of one.
_ORDERED: dict[str, Function] = {
    "eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "neu": np.not_equal,
}  # fmt: skip
_OPPOSITE: dict[str, Function] = {
    "ltu": np.greater_equal, "leu": np.greater, "gtu": np.less_equal, "geu": np.less,
}  # fmt: skip

_BIT_TESTS = "eq ne"
_SIGNED_TESTS = "eq ne lt le gt ge"
_UNSIGNED_TESTS = "eq ne lt le gt ge lo ls hi hs"
_FLOAT_TESTS = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"
_BOOL = "and or xor"
_COMBINE: dict[str, Function] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
}  # fmt: skip


def comparison(name: str, ptx_type: Type) -> Function:
    """Return the test ``function(a, b, out)``."""
    if ptx_type.kind is not TypeKind.FLOAT:
        return INTEGER_TESTS[name]
    if name in _ORDERED:
        return _ORDERED[name]

    def test(a: Array, b: Array, out: Array) -> None:
        if name in _OPPOSITE:
            _OPPOSITE[name](a, b, out)
            np.logical_not(out, out=out)
        elif name == "ne":
            out[...] = (a < b) | (a > b)
        elif name == "equ":
            out[...] = ~((a < b) | (a > b))
        else:
            nan = np.isnan(a) | np.isnan(b)
            out[...] = nan if name == "nan" else ~nan

    return test


def _prepared(words: Words) -> Function:
    """Return the test of an instruction, with ``.ftz`` and the format applied to its operands."""
    test, number_format = comparison(words["cmp"], words.type), element(words.type)
    is_half, ftz = number_format in ("f16", "bf16"), words.get("ftz")
    if not (is_half or ftz):
        return test

    def compare(*operands: Array) -> None:
        *values, out = operands
        if is_half:
            values = [to_f32(value, number_format) for value in values]
        if ftz:
            values = [flushed_half(x, number_format) if is_half else flushed(x) for x in values]
        test(*values, out)

    return compare


# --- setp ----------------------------------------------------------------------------------------


def _setp(words: Words) -> Function:
    test = _prepared(words)

    def setp(a: Array, b: Array, p: Array, q: Array) -> None:
        test(a, b, p)
        np.logical_not(p, out=q)

    return setp if "q" in words.given else test


def _setp_with(words: Words) -> Function:
    test, combine = _prepared(words), _COMBINE[words["bool"]]

    @temporaries("pred")
    def setp_one(a: Array, b: Array, c: Array, p: Array, t: Array) -> None:
        test(a, b, t)
        combine(t, c, p)

    def setp(a: Array, b: Array, c: Array, p: Array, q: Array) -> None:
        t = np.empty_like(p)
        test(a, b, t)
        other = np.logical_not(t)
        c = c.copy()
        combine(t, c, p)
        combine(other, c, q)

    return setp if "q" in words.given else setp_one


def _setp_halves(words: Words) -> Function:
    """``setp.f16x2``: one predicate for each half."""
    test = _prepared(words)

    def setp(a: Array, b: Array, *rest: Array) -> None:
        *given, p, q = rest
        both = np.empty_like(a, dtype=np.bool_)
        test(a, b, both)
        if given:
            combine, c = _COMBINE[words["bool"]], given[0].copy()
            combine(both[:, 0], c, p)
            combine(both[:, 1], c, q)
        else:
            np.copyto(p, both[:, 0])
            np.copyto(q, both[:, 1])

    return setp


# --- set -----------------------------------------------------------------------------------------


def _set(words: Words) -> Function:
    """Write 1.0 or all bits for true; of two halves, per half of the result."""
    test = _prepared(words)
    ptx_type = words.type_named("dtype")
    number_format = element(ptx_type)
    true: int = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(number_format, -1)
    pairs = words.type.elements > 1
    unsigned = np.dtype(np.uint16 if pairs else f"u{ptx_type.dtype.itemsize}")
    one = np.array(true & ((1 << 8 * unsigned.itemsize) - 1), dtype=unsigned)

    def set_(a: Array, b: Array, *rest: Array) -> None:
        *given, d = rest
        result = np.empty_like(a, dtype=np.bool_)
        test(a, b, result)
        if given:
            c = given[0] if result.ndim == 1 else given[0][:, None]
            result = _COMBINE[words["bool"]](result, c)
        values = np.where(result, one, np.array(0, unsigned)).view(d.dtype)
        np.copyto(d, values.reshape(d.shape))

    return set_


# --- selp, slct ----------------------------------------------------------------------------------


@temporaries("pred")
def _selp(a: Array, b: Array, c: Array, d: Array, unchosen: Array) -> None:
    if np.may_share_memory(a, d):
        np.logical_not(c, out=unchosen)
        if a is not d:
            np.copyto(d, a)
        np.copyto(d, b, where=unchosen)
        return
    np.copyto(d, b)
    np.copyto(d, a, where=c)


@computed
def _slct(words: Words, a: Array, b: Array, c: Array) -> Array:
    return np.where((flushed(c) if words.get("ftz") else c) >= 0, a, b)


_WORDS = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"
_FLOATS: Keywords = {"cmp": _FLOAT_TESTS}
_SET_FROM_WORDS = "u32 s32 f32 f16 bf16"
_SET_FROM_HALVES = "u16 s16 u32 s32"


def _tests(syntax: str, **how: Any) -> tuple[InstructionForm, ...]:
    """Return the rows of an instruction that compares integers and f64, by kind of type."""
    kinds = (
        (_BIT_TESTS, "b16 b32 b64"),
        (_SIGNED_TESTS, "s16 s32 s64"),
        (_UNSIGNED_TESTS, "u16 u32 u64"),
        (_FLOAT_TESTS, "f64"),
    )
    return tuple(form(syntax, cmp=tests, type=types, **how) for tests, types in kinds)


def _set_rows(cmp: str, operands: str, **how: object) -> tuple[InstructionForm, ...]:
    """Return the rows of ``set`` with or without a predicate to combine with."""
    of_f32, of_f16 = "u32 s32 f32 f16", f"{_SET_FROM_HALVES} f16"
    how = {"make": _set, **how}
    floats = {**how, **_FLOATS}
    return (
        *_tests(f"set{cmp}.dtype.type  {operands}", dtype=_SET_FROM_WORDS, **how),
        form(f"set{cmp}{{.ftz}}.dtype.f32  {operands}", dtype=of_f32, **floats),
        form(f"set{cmp}.dtype.f32  {operands}", dtype="bf16", **floats),
        form(f"set{cmp}{{.ftz}}.dtype.f16  {operands}", dtype=of_f16, **floats),
        form(f"set{cmp}.dtype.f16  {operands}", dtype="bf16", **floats),
        form(f"set{cmp}.dtype.bf16  {operands}", dtype=f"{_SET_FROM_HALVES} bf16", **floats),
        form(f"set{cmp}{{.ftz}}.dtype.f16x2  {operands}", dtype="f16x2", **floats),
        form(f"set{cmp}{{.ftz}}.dtype.f16x2  {operands}", dtype="u32 s32", **floats),
        form(f"set{cmp}.dtype.bf16x2  {operands}", dtype="bf16x2", **floats),
        form(f"set{cmp}.dtype.bf16x2  {operands}", dtype="u32 s32", **floats),
    )


def _setp_rows(cmp: str, more: str, make: Function, **how: object) -> tuple[InstructionForm, ...]:
    """Return the rows of ``setp`` with or without a predicate to combine with."""
    one, two = f"p:pred, a, b{more}", f"p:pred|q:pred, a, b{more}"
    either, floats = f"p:pred|?q:pred, a, b{more}", {**how, **_FLOATS}
    return (
        *_tests(f"setp{cmp}.type  {either}", make=make, **how),
        form(f"setp{cmp}{{.ftz}}.f32  {either}", make=make, **floats),
        form(f"setp{cmp}{{.ftz}}.f16  {one}", make=make, **floats),
        form(f"setp{cmp}.bf16  {one}", make=make, **floats),
        form(f"setp{cmp}{{.ftz}}.f16x2  {two}", make=_setp_halves, **floats),
        form(f"setp{cmp}.bf16x2  {two}", make=_setp_halves, **floats),
    )


FORMS: tuple[InstructionForm, ...] = (
    *_setp_rows(".cmp", "", _setp),
    *_setp_rows(".cmp.bool", ", c:pred", _setp_with, bool=_BOOL),
    *_set_rows(".cmp", "d:dtype, a, b"),
    *_set_rows(".cmp.bool", "d:dtype, a, b, c:pred", bool=_BOOL),
    form("selp.type  d, a, b, c:pred", _selp, type=_WORDS),
    form("slct.type.s32  d, a, b, c:s32", make=_slct, type=_WORDS),
    form("slct{.ftz}.type.f32  d, a, b, c:f32", make=_slct, type=_WORDS),
)  # fmt: skip
