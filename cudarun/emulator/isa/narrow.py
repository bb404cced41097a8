"""``cvt`` from and to formats of 4 to 8 bits (PTX manual 9.7.9), and with random bits (``.rs``).

All values are converted exactly to f32 or f64 and rounded once. Where random bits are added, and
which of them belong to an operand, was measured by others on a B200 and a B300 for f16, bf16 and
formats of 8 bits; for e2m1 it is as the manual has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, Keywords, computed, form
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import (
    element,
    from_pair,
    randomly_increased,
    rectified,
    to_e8m0,
    to_f32,
    to_narrow,
    to_tf32,
)
from cudarun.emulator.numerics.rounding import ZERO
from cudarun.emulator.numerics.temporaries import result_of
from cudarun.emulator.numerics.types import Type
from cudarun.emulator.words import Words

LARGEST_HALF = {"f16": 65504.0, "bf16": 3.3895313892515355e38}
_FIXED_UNIT = 64.0  # of s2f6
_LAST_TF32 = np.uint32(0x7F7FE000)


def _columns(a: Array, ptx_type: Type) -> list[Array]:
    """Return the packed elements of operands, the lowest first."""
    if ptx_type.elements == 2:
        return [a[:, 0], a[:, 1]]
    return [a & np.uint8(15), a >> np.uint8(4)]


def _packed(columns: Sequence[Array], ptx_type: Type) -> Array:
    """Return the packed operand with these elements, the lowest first."""
    if ptx_type.elements == 2:
        return np.stack(columns, axis=1)
    result, width = columns[0].astype(ptx_type.dtype), ptx_type.bits // len(columns)
    for place, column in enumerate(columns[1:], 1):
        result = result | column.astype(ptx_type.dtype) << ptx_type.dtype.type(place * width)
    return result


def _inputs(words: Words, sources: Sequence[Array]) -> list[Array]:
    """Return the f32 values to convert, the lowest first, with ``.relu`` if it is there."""
    values = [*sources[::-1]]
    if "atype" in words:
        source = words.type_named("atype")
        values = [to_f32(each, element(source)) for each in _columns(sources[0], source)]
    return [rectified(value) if words.get("relu") else value for value in values]


def _scales(words: Words, sources: Sequence[Array]) -> list[Array | float]:
    """Return the scale factors of both elements; 1 by default."""
    if "scale" not in words.given:
        return [1.0, 1.0]
    bits = sources[-1]
    halves = (bits & np.uint16(0xFF), bits >> np.uint16(8))
    return [to_f32(half.astype(np.uint8), "ue8m0").astype(np.float64) for half in halves]


@computed
def to_narrow_pair(words: Words, *sources: Array) -> Array:
    """Convert two values to a format of 4 to 8 bits."""
    target = words.type_named("dtype")
    return _packed([to_narrow(each, element(target)) for each in _inputs(words, sources)], target)


@computed
def from_narrow_pair(words: Words, *sources: Array) -> Array:
    """Convert two values of 4 to 8 bits to f16 or bf16."""
    source, target = words.type_named("atype"), element(words.type_named("dtype"))
    columns, largest = [], LARGEST_HALF[target]
    for each, scale in zip(_columns(sources[0], source), _scales(words, sources), strict=True):
        value = _fixed(each) if element(source) == "s2f6" else to_f32(each, element(source))
        value = value.astype(np.float64) * scale
        if words.get("relu"):
            value = np.where(value <= 0, 0.0, value)
        if words.get("satfinite"):
            value = np.clip(value, -largest, largest)
        columns.append(from_pair(value, np.zeros_like(value), target, "rn"))
    return np.stack(columns, axis=1)


def _fixed(a: Array) -> Array:
    return a.view(np.int8).astype(np.float32) / np.float32(_FIXED_UNIT)


@computed
def _to_fixed(words: Words, *sources: Array) -> Array:
    """Convert to s2f6: two integer bits with the sign, six of the fraction."""
    values = sources[: len(sources) - ("scale" in words.given)]
    columns = [
        np.clip(np.rint(each.astype(np.float64) / scale * _FIXED_UNIT), -128, 127)
        for each, scale in zip(_inputs(words, values), _scales(words, sources), strict=True)
    ]
    columns = [np.where(np.isnan(each), 0.0, each).astype(np.int8) for each in columns]
    return np.stack([each.view(np.uint8) for each in columns], axis=1)


@computed
def _to_exponents(words: Words, *sources: Array) -> Array:
    up, finite = words["rnd"] == "rp", bool(words.get("satfinite"))
    values = _inputs(words, sources)
    return np.stack([to_e8m0(each, up=up, finite=finite) for each in values], axis=1)


def _from_exponents(a: Array) -> Array:
    value = to_f32(a, "ue8m0").astype(np.float64)
    return from_pair(value, np.zeros_like(value), "bf16", ZERO)


@computed
def _random_pair(words: Words, a: Array, b: Array, random: Array) -> Array:
    """Return ``cvt.rs`` to two f16 or bf16: the upper half of the random bits is for ``a``."""
    name = element(words.type_named("dtype"))
    beyond, largest = 2.0**16 if name == "f16" else 2.0**128, LARGEST_HALF[name]
    columns, upper = [], random >> np.uint32(16)
    for value, bits in zip(_inputs(words, (a, b)), (random, upper), strict=True):
        total = randomly_increased(value, name, bits)
        if words.get("satfinite"):
            total = np.clip(total, -largest, largest)
        total = np.where(np.abs(total) >= beyond, np.copysign(np.inf, total), total)
        columns.append(from_pair(total, np.zeros_like(total), name, ZERO))
    return np.stack(columns, axis=1)


@computed
def _random_four(words: Words, *sources: Array) -> Array:
    """Return ``cvt.rs`` of four values, each of which has eight of the random bits."""
    target = words.type_named("dtype")
    name = target.name.removesuffix("x4")
    shifts = (0, 16, 8, 24) if name == "e2m1" else (0, 8, 16, 24)
    *values, random = sources
    columns = [
        to_narrow(randomly_increased(value, name, random >> np.uint32(shift)), name, ZERO)
        for value, shift in zip(_inputs(words, values), shifts, strict=True)
    ]
    return _packed(columns, target)


@computed
def _finite_tf32(words: Words, a: Array) -> Array:
    value = rectified(a) if words["relu"] else a
    bits = to_tf32(value, words["rnd"])
    largest = _LAST_TF32 | bits & np.uint32(0x80000000)
    return np.where(np.isinf(bits.view(np.float32)), largest, bits)


_SCALED = "scaled::n2::ue8m0"


def _rows(name: str) -> Iterator[InstructionForm]:
    """Return the rows of a format of 4 to 8 bits; those of 8 bits and f16 are in ``convert``."""
    to_it: Keywords = {"make": to_narrow_pair, "dtype": name}
    from_it: Keywords = {"make": from_narrow_pair, "atype": name}
    if name in ("e4m3x2", "e5m2x2"):
        sources = "bf16x2"
    else:
        sources = "f16x2 bf16x2"
        yield form("cvt.rn.satfinite{.relu}.dtype.f32  d:dtype, a:f32, b:f32", **to_it)
        yield form("cvt.rn{.relu}.dtype.atype  d:dtype, a:atype", dtype="f16x2", **from_it)
    yield form("cvt.rn.satfinite{.relu}.dtype.atype  d:dtype, a:atype", atype=sources, **to_it)
    yield from _to_bf16(name)


def _to_bf16(name: str) -> Iterator[InstructionForm]:
    """Return the rows of ``bf16x2`` from a format, without and with scale factors."""
    head = "cvt.rn{.relu}{.satfinite}"
    how: Keywords = {"make": from_narrow_pair, "dtype": "bf16x2", "atype": name}
    yield form(f"{head}.dtype.atype  d:dtype, a:atype", **how)
    yield form(f"{head}.{_SCALED}.dtype.atype  d:dtype, a:atype, scale:b16", **how)


def _to_fixed_rows() -> Iterator[InstructionForm]:
    for scaled, scale in (("", ""), (f".{_SCALED}", ", scale:b16")):
        head = f"cvt.rn.satfinite{{.relu}}{scaled}.dtype"
        yield form(f"{head}.f32  d:dtype, a:f32, b:f32{scale}", make=_to_fixed, dtype="s2f6x2")
        yield form(f"{head}.atype  d:dtype, a:atype{scale}", make=_to_fixed, dtype="s2f6x2",
                   atype="bf16x2")  # fmt: skip


FORMS: tuple[InstructionForm, ...] = (
    *(row for name in ("e2m1x2", "e2m3x2", "e3m2x2", "e4m3x2", "e5m2x2") for row in _rows(name)),
    *_to_fixed_rows(),
    *_to_bf16("s2f6x2"),
    form("cvt.rnd{.satfinite}.dtype.f32  d:dtype, a:f32, b:f32", make=_to_exponents, rnd="rz rp",
         dtype="ue8m0x2"),
    form("cvt.rnd{.satfinite}.dtype.atype  d:dtype, a:atype", make=_to_exponents, rnd="rz rp",
         dtype="ue8m0x2", atype="bf16x2"),
    form("cvt.rn.bf16x2.ue8m0x2  d:bf16x2, a:ue8m0x2", result_of(_from_exponents)),
    form("cvt.rs{.relu}{.satfinite}.dtype.f32  d:dtype, a:f32, b:f32, random:b32",
         make=_random_pair, dtype="f16x2 bf16x2"),
    form("cvt.rs{.relu}.satfinite.dtype.f32  d:dtype, {a:f32}, random:b32", make=_random_four,
         dtype="e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4"),
    form("cvt.rnd.satfinite{.relu}.tf32.f32  d:b32, a:f32", make=_finite_tf32, rnd="rn rz"),
)  # fmt: skip
