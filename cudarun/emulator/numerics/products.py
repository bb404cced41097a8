"""Sums of products as computed by the tensor cores of an H200; NVIDIA does not document them.

Derived from recorded results (``tests/golden``, ``tests/programs/recorded``), which these functions
reproduce bit for bit. f64: consecutive fused multiply-adds along k. Narrower types: the products of
a **run** along k are exact; they and the addend are truncated toward zero, 25 bits below the
largest exponent among them, added exactly, and the sum is rounded once. ``mma`` multiplies 8-bit
types as f16, first the lower halves of all registers, then the upper ones; the addend is added to
their sum last, by an addition to nearest in its type. ``wgmma`` multiplies them as they are,
keeping only 13 bits, in the sums and in f32 results. Products with a sparse matrix are those of its
nonzero elements.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics import algebra, rounding
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import element, from_f32, from_pair
from cudarun.emulator.numerics.fused import fused_f64
from cudarun.emulator.numerics.special_values import canonical
from cudarun.emulator.numerics.temporaries import temporaries_of
from cudarun.emulator.numerics.types import Type, TypeKind

KEPT = 25
"""The bits below the largest exponent."""
NOTHING = -2000
"""The exponent of a zero: it never is the largest."""
KEPT_OF_EIGHT_BITS = 13
"""The same for elements of 8 bits by ``wgmma``."""
EIGHT_BITS = ("e4m3", "e5m2")
LEAST = {"f16": -14, "e4m3": -14, "e5m2": -14, "bf16": -126, "tf32": -126, "f32": -126}
"""The exponents of the least normal numbers: subnormal ones have the same.

Those of 8 bits are multiplied as f16.
"""
LEAST_SUM = -400
"""The exponent below which no sum is scaled: all its parts are zeros."""
LEAST_BY_WARPGROUP = {**LEAST, "e4m3": -6}
"""The same for ``wgmma``."""


def multiplied(
    a: Array,
    b: Array,
    c: Array,
    types: dict[str, Type],
    run: int,
    *,
    satfinite: bool = False,
    op: str = "",
    mode: str = rounding.NEAREST,
) -> Array:
    """Return ``a @ b + c`` in the type of the result; integers wrap, or are clamped.

    Args:
        a: Matrices as f64, or integers: by warp, m, k.
        b: By warp, k, n; with a sparse ``a``, the rows for each of its elements, by warp, m, k, n.
        c: By warp, m, n.
        types: The types of ``d``, ``a``, ``b``, ``c``.
        run: The number of products that are added at once.
        satfinite: Clamp integers.
        op: The operation on single bits, ``"and"`` or ``"xor"``, whose results are counted.
        mode: The rounding of f64.
    """
    if types["d"].kind is not TypeKind.FLOAT:
        return of_integers(a, b, c, satfinite=satfinite, op=op)
    if algebra.enabled:
        return algebra.product(a, b, c, element(types["d"]))
    if types["a"].name == "f64":
        return _chain(a, b, c, mode)
    names = {which: element(ptx_type) for which, ptx_type in types.items()}
    if names["a"] in EIGHT_BITS:
        return _of_eight_bits(a, b, c, names, run)
    return _by_runs(a, b, c, names, run)


def multiplied_by_warpgroup(
    a: Array, b: Array, c: Array, types: dict[str, Type], *, satfinite: bool
) -> Array:
    """Return the same as ``wgmma`` computes it: all products along k are one run."""
    run = a.shape[2]
    names = {which: element(ptx_type) for which, ptx_type in types.items()}
    if names["a"] not in EIGHT_BITS or algebra.enabled:
        return multiplied(a, b, c, types, run, satfinite=satfinite)
    result = _by_runs(a, b, c, names, run, KEPT_OF_EIGHT_BITS, LEAST_BY_WARPGROUP)
    return shortened(result) if names["d"] == "f32" else result


def multiplied_at_once(a: Array, b: Array, c: Array, types: dict[str, Type]) -> Array:
    """Return ``a @ b + c`` of scaled or narrow elements: all products along k are one run."""
    if algebra.enabled:
        return algebra.product(a, b, c, types["d"].name)
    names = {"d": types["d"].name, "a": "scaled", "b": "scaled", "c": types["c"].name}
    return _by_runs(a, b, c, names, a.shape[2], least={**LEAST, "scaled": LEAST_SUM})


def shortened(result: Array) -> Array:
    """Return f32 with the bits that ``wgmma`` keeps of sums of elements of 8 bits."""
    kept = np.uint32(0xFFFFFFFF << 23 - KEPT_OF_EIGHT_BITS & 0xFFFFFFFF)
    bits = (result.view(np.uint32) & kept).view(np.float32)
    return np.where(np.isfinite(result), bits, result)


def multiplied_by_lanes(a: Array, b: Array, c: Array, number_format: str) -> Array:
    """Return ``a @ b + c`` of ``mma.m8n8k4`` of f16, which an H200 computes without tensor cores.

    It is a routine of f32 additions and fused multiply-adds; products of f16 are exact in f32.

    Args:
        a: Matrices as f64: by product, m, k.
        b: By product, k, n.
        c: By product, m, n.
        number_format: The type of the result, ``"f16"`` or ``"f32"``.
    """
    if algebra.enabled:
        return algebra.product(a, b, c, number_format)
    products = [a[:, :, k, None] * b[:, k, None, :] for k in range(a.shape[2])]
    total = c.astype(np.float32)
    if number_format == "f16":
        for first in range(0, len(products), 2):
            pair = products[first].astype(np.float32) + products[first + 1]
            total = total + pair.astype(np.float32)
        return from_f32(total, number_format)
    run = np.zeros_like(total)
    for each in products:
        run = (run + each).astype(np.float32)
    total = total + run
    canonical(total)
    return total


def of_integers(a: Array, b: Array, c: Array, *, satfinite: bool, op: str) -> Array:
    """Multiply integers, or single bits; arguments as of `multiplied`."""
    common = a @ b if b.ndim == 3 else (a[:, :, None] @ b)[:, :, 0]
    total = common + c
    if op == "xor":  # as many bits as both have, without those that they share
        total = a.sum(axis=2)[:, :, None] + b.sum(axis=1)[:, None] - 2 * common + c
    if satfinite:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    return total.astype(np.int32)


def _of_eight_bits(a: Array, b: Array, c: Array, names: dict[str, str], run: int) -> Array:
    """Multiply fp8: of the four values that a register has along k, two are in the first run."""
    order = np.argsort(np.arange(a.shape[2]) % 4 >= 2, kind="stable")
    result = _by_runs(a[:, :, order], b[..., order, :], np.zeros_like(c), names, run)
    with np.errstate(over="ignore", invalid="ignore"):
        return with_addend(result, c, names["d"])


def with_addend(result: Array, c: Array, number_format: str) -> Array:
    """Add the addend to a sum of products of elements of 8 bits."""
    total: Array = result.astype(np.float32) + c.astype(np.float32)
    if number_format == "f32":
        canonical(total)
        return total
    return from_f32(total, number_format)


def _by_runs(
    a: Array,
    b: Array,
    c: Array,
    names: dict[str, str],
    run: int,
    kept: int = KEPT,
    least: dict[str, int] = LEAST,
) -> Array:
    """Add each run to the result of the previous ones; arguments as of `multiplied`."""
    names = dict(names)
    b = b[:, None] if b.ndim == 3 else b
    exponents = [exponents_of(x, least[names[which]]) for x, which in ((a, "a"), (b, "b"))]
    for start in range(0, a.shape[2], run):
        part = slice(start, start + run)
        total = added(
            (a[:, :, part], exponents[0][:, :, part]),
            (b[:, :, part], exponents[1][:, :, part]),
            (c, exponents_of(c, least[names["c"]])),
            kept,
        )
        result = rounded_sum(total, names["d"])
        c, names["c"] = result.astype(np.float64), names["d"]
    return result


def _chain(a: Array, b: Array, c: Array, mode: str) -> Array:
    """Compute f64 by consecutive fused multiply-adds along k."""
    total = np.ascontiguousarray(c).ravel()
    scratch = [np.empty(total.shape, dtype) for dtype in temporaries_of(fused_f64)]
    for k in range(a.shape[2]):
        each = np.broadcast_arrays(a[:, :, k, None], b[:, k, None, :])
        left, right = (factor.ravel() for factor in each)
        if mode == rounding.NEAREST:
            result = np.empty_like(total)
            fused_f64(left, right, total, result, *scratch)
        else:
            result = rounding.fused_f64(left, right, total, mode)
        total = result
    return total.reshape(c.shape)


def exponents_of(values: Array, least: int) -> Array:
    """Return the exponent of each value, of those below the least normal one its exponent."""
    exponents = np.frexp(values)[1].astype(np.int16) - np.int16(1)
    np.maximum(exponents, least, out=exponents)
    exponents[values == 0] = NOTHING
    return exponents


def added(
    a: tuple[Array, Array], b: tuple[Array, Array], c: tuple[Array, Array], kept: int
) -> Array:
    """Return the sum of a run of products and the addend; each is given with its exponents."""
    largest = (a[1][:, :, :, None] + b[1]).max(axis=2)
    np.maximum(largest, c[1], out=largest)
    np.maximum(largest, LEAST_SUM, out=largest)
    places = kept - largest.astype(np.int32)
    scale = np.ldexp(1.0, places)
    products = a[0][:, :, :, None] * b[0]
    products *= scale[:, :, None, :]
    np.trunc(products, out=products)
    total = products.sum(axis=2) + np.trunc(c[0] * scale)
    exact: Array = np.ldexp(total, -places)
    return exact


def rounded_sum(total: Array, number_format: str) -> Array:
    """Round to f32 toward zero, infinite beyond its range, or to f16 to nearest."""
    nothing = np.zeros_like(total)
    if number_format != "f32":
        return from_pair(total, nothing, number_format, rounding.NEAREST)
    result = rounding.narrow(total, nothing, rounding.ZERO)
    result = np.where(np.abs(total) >= 2.0**128, total, result).astype(np.float32)
    canonical(result)
    return result
