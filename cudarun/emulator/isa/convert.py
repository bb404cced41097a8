"""``cvt`` (PTX manual 9.7.9): between all integer and floating types, rounded once.

Integers are converted to floating point through a pair of f64, exact for 64 bits. Floating-point
values are rounded to an integer, then clamped to the range; NaN is converted by the manual's table.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, Keywords, computed, form
from cudarun.emulator.isa.move import copy
from cudarun.emulator.isa.narrow import LARGEST_HALF, from_narrow_pair, to_narrow_pair
from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import (
    element,
    from_f32,
    from_pair,
    modified,
    rectified,
    to_f32,
    to_tf32,
)
from cudarun.emulator.numerics.native import any_of
from cudarun.emulator.numerics.special_values import canonical, flushed
from cudarun.emulator.numerics.temporaries import Function, result_of
from cudarun.emulator.numerics.types import Type
from cudarun.emulator.words import Words

_NOT_BYTES = "u16 u32 u64 s16 s32 s64"
_INTEGERS = f"u8 s8 {_NOT_BYTES}"
_WHOLE: dict[str, Function] = {
    "rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil,
}  # fmt: skip


def _integer_range(bits: int, *, signed: bool) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type."""
    return (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def _range_of(ptx_type: Type) -> tuple[int, int]:
    return _integer_range(ptx_type.bits, signed=ptx_type.signed)


def _integer_pair(a: Array) -> tuple[Array, Array]:
    """Convert an integer array to an exact pair of f64."""
    if a.dtype.itemsize < 8:
        s = a.astype(np.float64)
        return s, np.zeros_like(s)
    high = a >> 32 if a.dtype.kind == "i" else a >> np.uint64(32)
    low = (a.view(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return rounding.two_sum(high.astype(np.float64) * 4294967296.0, low)


def _to_f64(a: Array, ptx_type: Type, *, ftz: bool) -> Array:
    """Convert a floating-point value to f64."""
    if ptx_type.name in ("f16", "bf16"):
        return to_f32(a, ptx_type.name).astype(np.float64)
    if ptx_type.name == "f32":
        return (flushed(a) if ftz else a).astype(np.float64)
    return a


def _half_nan(nan: Array, number_format: str) -> Array:
    """Convert f64 NaN to 16 bits, keeping the sign and the upper bits of the payload."""
    fraction = {"f16": 10, "bf16": 7}[number_format]
    quiet = 0xFFFF << fraction - 1 & 0x7FFF
    bits = nan.view(np.uint64)
    payload = bits >> np.uint64(52 - fraction) & np.uint64((1 << fraction) - 1)
    return (bits >> np.uint64(48) & np.uint64(0x8000) | payload | np.uint64(quiet)).astype("u2")


# --- integers ------------------------------------------------------------------------------------


def _sat_matters(words: Words) -> bool:
    """Allow ``.sat`` only where a value may be out of range."""
    (least, most), (low, high) = (_range_of(words.type_named(f"{n}type")) for n in "da")
    return not words["sat"] or low < least or high > most


def _to_integer(words: Words) -> Function:
    """Convert integer to integer: truncate to the low bits or, with ``.sat``, clamp."""
    target, source = words.type_named("dtype"), words.type_named("atype")
    if not words["sat"]:  # truncate first: a wider register takes the extended value
        return copy if target.bits >= 32 else result_of(lambda a: a.astype(target.dtype))
    (least, most), (low, high) = _range_of(target), _range_of(source)
    return result_of(lambda a: np.clip(a, max(least, low), min(most, high)))


# --- integers to floating point ------------------------------------------------------------------


def _from_integer(words: Words) -> Function:
    target, mode, sat = words.type_named("dtype"), words["rnd"], words.get("sat")
    if mode == rounding.NEAREST and target.name in ("f32", "f64") and not sat:
        return copy

    def convert(a: Array) -> Array:
        result = from_pair(*_integer_pair(a), target.name, mode)
        return modified(result, target.name, sat=True) if sat else result

    return result_of(convert)


# --- floating point to integers ------------------------------------------------------------------


def _to_whole(words: Words) -> Function:
    target, source = words.type_named("dtype"), words.type_named("atype")
    whole, (least, most) = _WHOLE[words["irnd"]], _range_of(target)
    # The first f64 values beyond the range; exact, being powers of two (or minus one).
    above, below = float(most + 1), float(least)
    nan = 0 if source.name != "f64" and target.bits < 64 else 1 << (target.bits - 1)
    if nan > most:
        nan -= 1 << target.bits
    ftz = words.get("ftz")

    def convert(a: Array) -> Array:
        value: Array = whole(_to_f64(a, source, ftz=bool(ftz)))
        over, under = value >= above, value < below
        unknown = np.isnan(value)
        strange = over | under | unknown
        if any_of(strange):
            value = np.where(strange, 0.0, value)
        result: Array = value.astype(target.dtype)
        if any_of(strange):
            result[over] = most
            result[under] = least
            result[unknown] = nan
        return result

    return result_of(convert)


# --- floating point to floating point ------------------------------------------------------------


def _between_floats(words: Words) -> Function:
    target, source = words.type_named("dtype"), words.type_named("atype")
    mode = words.get("rnd") or rounding.NEAREST
    ftz, sat, relu = (bool(words.get(word)) for word in ("ftz", "sat", "relu"))
    whole = _WHOLE.get(words.get("irnd", ""))

    # Hardware does not flush subnormal f32 when converting to f16, even with .ftz.
    flushes = ftz and target.name != "f16"

    def convert(a: Array, d: Array) -> None:
        value = _to_f64(a, source, ftz=flushes)
        if whole is not None:
            value = whole(value)
        result = from_pair(value, np.zeros_like(value), target.name, mode)
        if source.name == "f64" and target.bits == 16:
            nan = np.isnan(value)
            result.view(np.uint16)[nan] = _half_nan(value[nan], target.name)
        if sat or relu:
            result = modified(result, target.name, sat=sat, relu=relu)
        if ftz and target.name == "f32":
            result = flushed(result)
        np.copyto(d, result)
        if target.name == "f32" and source.name != "f64":
            canonical(d)

    def widen(a: Array, d: Array) -> None:
        if ftz:
            a = flushed(a).copy()
            canonical(a)
        np.copyto(d, a)

    plain = not (sat or relu or ftz or whole) and mode == rounding.NEAREST
    if (source.name, target.name) == ("f64", "f32") and plain:
        return copy
    if (source.name, target.name) == ("f32", "f64") and not (sat or whole):
        return widen
    if target.name == "f32" and not (sat or ftz or whole):  # the bits unchanged, including NaN
        if source.name == "f32":
            return copy
        if source.name == "bf16":
            return result_of(partial(to_f32, number_format="bf16"))
    return convert


@computed
def _to_tf32(words: Words, a: Array) -> Array:
    result = to_tf32(a, words["rnd"])
    if words.get("satfinite"):
        # The preceding bit pattern: the largest number for infinity, another NaN for NaN.
        result = np.where(np.isfinite(result.view(np.float32)), result, result - _LAST_TF32)
    return rectified(result.view(np.float32)).view(np.uint32) if words.get("relu") else result


_LAST_TF32 = np.uint32(0x2000)

# --- pairs ---------------------------------------------------------------------------------------


def _pair(words: Words) -> Function:
    """Convert a pair, ``cvt.rn.f16x2.f32 d, a, b``: ``a`` becomes the upper half; or one value."""
    number_format = element(words.type_named("dtype"))
    largest = np.float32(LARGEST_HALF[number_format])

    def convert(*arguments: Array) -> None:
        *given, d = arguments
        values = np.stack(given[::-1], axis=1).reshape(d.shape)
        if words.get("satfinite"):
            values = np.clip(values, -largest, largest)
        result = from_f32(values, number_format, words["rnd"])
        if words.get("relu"):
            result = modified(result, number_format, relu=True)
        np.copyto(d, result)

    return convert


# --- cvt.pack ------------------------------------------------------------------------------------


@computed
def _pack(words: Words, a: Array, b: Array, *c: Array) -> Array:
    """Convert and pack two clamped integers: ``b`` below ``a``, below the contents of ``c``."""
    kind, bits = words["dtype"][0], int(words["dtype"][1:])
    least, most = _integer_range(bits, signed=kind == "s")
    high, low = (np.clip(x, least, most).astype(np.int64) & (1 << bits) - 1 for x in (a, b))
    result: Array = (high << bits) | low
    if c:
        result |= c[0].astype(np.int64) << (2 * bits)
    return result


_IRND: Keywords = {"irnd": "rni rzi rmi rpi"}
_RND: Keywords = {"rnd": rounding.MODES}
_EIGHT = "e4m3x2 e5m2x2"


def _floats(words: str, target: str, source: str, **classes: Any) -> InstructionForm:
    return form(f"{words}.dtype.atype  d:dtype, a:atype", make=_between_floats, dtype=target,
                atype=source, **classes)  # fmt: skip


FORMS: tuple[InstructionForm, ...] = (
    form("cvt{.sat}.dtype.atype  ~d:dtype, ~a:atype", make=_to_integer, only=_sat_matters,
         dtype=_INTEGERS, atype=_INTEGERS),
    # integers to floating point
    form("cvt.rnd{.ftz}{.sat}.dtype.atype  d:dtype, ~a:atype", make=_from_integer, **_RND,
         dtype="f32", atype=_INTEGERS),
    form("cvt.rnd{.sat}.dtype.atype  d:dtype, ~a:atype", make=_from_integer, **_RND,
         dtype="f16 f64", atype=_INTEGERS),
    form("cvt.rnd.dtype.atype  d:dtype, a:atype", make=_from_integer, **_RND,
         dtype="bf16", atype=_INTEGERS),
    # floating point to integers
    form("cvt.irnd{.ftz}{.sat}.dtype.atype  ~d:dtype, a:atype", make=_to_whole, **_IRND,
         dtype=_INTEGERS, atype="f32"),
    form("cvt.irnd{.sat}.dtype.atype  ~d:dtype, a:atype", make=_to_whole, **_IRND,
         dtype=_INTEGERS, atype="f16 f64"),
    form("cvt.irnd.dtype.atype  d:dtype, a:atype", make=_to_whole, **_IRND,
         dtype=_INTEGERS, atype="bf16"),
    # floating point to floating point: the same type, to a wider one, to a narrower one
    _floats("cvt{.irnd}{.ftz}{.sat}", "f32", "f32", **_IRND),
    _floats("cvt{.irnd}{.sat}", "f16", "f16", **_IRND),
    _floats("cvt{.irnd}{.sat}", "f64", "f64", **_IRND),
    _floats("cvt{.irnd}", "bf16", "bf16", **_IRND),
    _floats("cvt{.ftz}{.sat}", "f32", "f16"),
    _floats("cvt{.ftz}{.sat}", "f64", "f32"),
    _floats("cvt{.sat}", "f64", "f16"),
    _floats("cvt{.rnd}{.ftz}", "f32", "bf16", **_RND),
    _floats("cvt{.rnd}", "f64", "bf16", **_RND),
    _floats("cvt.rnd{.ftz}{.sat}", "f32", "f64", **_RND),
    _floats("cvt.rnd{.ftz}{.sat}", "f16", "f32", **_RND),
    _floats("cvt.rnd{.sat}", "f16", "f64", **_RND),
    _floats("cvt.rnd{.ftz}", "bf16", "f32", **_RND),
    _floats("cvt.rnd", "bf16", "f64", **_RND),
    _floats("cvt{.rnd}", "bf16", "f16", **_RND),
    _floats("cvt{.rnd}", "f16", "bf16", **_RND),
    _floats("cvt.rnd.relu", "f16 bf16", "f32", rnd="rn rz"),
    form("cvt.rnd{.relu}.satfinite.dtype.f32  d:dtype, a:f32", make=_pair, rnd="rn rz",
         dtype="f16 bf16"),
    form("cvt.rnd{.relu}{.satfinite}.dtype.f32  d:dtype, a:f32, b:f32", make=_pair, rnd="rn rz",
         dtype="f16x2 bf16x2"),
    form("cvt.rnd{.relu}.tf32.f32  d:b32, a:f32", make=_to_tf32, rnd="rn rz"),
    form("cvt.rnd{.satfinite}.tf32.f32  d:b32, a:f32", make=_to_tf32, rnd="rna"),
    form("cvt.rn.satfinite{.relu}.dtype.f32  d:dtype, a:f32, b:f32", make=to_narrow_pair,
         dtype=_EIGHT),
    form("cvt.rn.satfinite{.relu}.dtype.atype  d:dtype, a:atype", make=to_narrow_pair,
         dtype=_EIGHT, atype="f16x2"),
    form("cvt.rn{.relu}.dtype.atype  d:dtype, a:atype", make=from_narrow_pair, dtype="f16x2",
         atype=_EIGHT),
    form("cvt.pack.sat.dtype.s32  d:b32, a:s32, b:s32", make=_pack, dtype="u16 s16"),
    form("cvt.pack.sat.dtype.s32.b32  d:b32, a:s32, b:s32, c:b32", make=_pack,
         dtype="u8 s8 u4 s4 u2 s2"),
)  # fmt: skip
