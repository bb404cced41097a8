"""Sums of products as computed by the tensor cores of Blackwell; NVIDIA does not document them.

No such device was measured here. The rules are those of MMA-Sim (arXiv 2511.10909), which its
authors compared with a B200: products along k are one run, as on Hopper; those of narrow types are
not shortened. With one scale factor for all elements along k, its exponent is added to those of the
elements. With several, 16 products are added exactly and scaled, and the sums of these groups are
truncated 35 bits below the largest exponent of their scale factors and of the addend.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cudarun.emulator.numerics import algebra
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.products import (
    KEPT,
    LEAST_BY_WARPGROUP,
    LEAST_SUM,
    added,
    exponents_of,
    of_integers,
    rounded_sum,
)

_LEAST = {**LEAST_BY_WARPGROUP, "e2m1": 0, "e2m3": 0, "e3m2": -2, "ue8m0": -127, "ue4m3": -6}
_GROUP = 16
_KEPT_OF_GROUPS = 35


class Factors(NamedTuple):
    """Scale factors: by line and block along k."""

    a: Array  # those of the rows of A
    b: Array  # those of the columns of B


def multiplied_in_tensor_memory(
    a: Array,
    b: Array,
    c: Array,
    types: dict[str, str],
    factors: Factors | None,
    *,
    saturates: bool,
) -> Array:
    """Return ``a @ b + c`` in the type of the result.

    Args:
        a: By row and k, as f64 or integers.
        b: By row or 1, k and column: with a sparse ``a``, the elements for each of its row.
        c: By row and column.
        types: The types of ``"d"``, ``"a"`` and ``"b"``.
        factors: The scale factors, if the product has them.
        saturates: Clamp integers.
    """
    if types["d"] == "s32":
        factors_b = b if len(b) == 1 else b[None]
        whole: Array = of_integers(a[None], factors_b, c[None], satfinite=saturates, op="")[0]
        return whole
    if algebra.enabled:
        if factors is not None:
            width = a.shape[1] // factors.a.shape[1]
            a = a * np.repeat(factors.a, width, axis=1)
            b = b * np.repeat(factors.b.T, width, axis=0)
        return algebra.product(a, b, c, types["d"])
    if factors is not None and factors.a.shape[1] > 1:
        return _of_groups(a, b, c, factors)
    addend = c[None], exponents_of(c, _LEAST[types["d"]])[None]
    left = _scaled(a, _LEAST[types["a"]], None if factors is None else factors.a)
    right = _scaled(b, _LEAST[types["b"]], None if factors is None else factors.b.T)
    with np.errstate(invalid="ignore", over="ignore"):
        result: Array = rounded_sum(added(left, right, addend, KEPT), types["d"])[0]
    return result


def _scaled(values: Array, least: int, scales: Array | None) -> tuple[Array, Array]:
    """Return one matrix of a batch, scaled, and its exponents."""
    exponents = exponents_of(values, least)
    if scales is not None:
        values, exponents = values * scales, exponents + _exponents_of_scales(scales)
    return values[None], exponents[None]


def _exponents_of_scales(scales: Array) -> Array:
    return np.frexp(scales)[1].astype(np.int16) - np.int16(1)


def _of_groups(a: Array, b: Array, c: Array, factors: Factors) -> Array:
    """Multiply elements with several scale factors along k."""
    depth = a.shape[1]
    groups = depth // _GROUP
    blocks = np.arange(groups) * factors.a.shape[1] // groups
    shape = (*b.shape[:1], groups, _GROUP, b.shape[2])
    sums = (a.reshape(len(a), groups, _GROUP, 1) * b.reshape(shape)).sum(axis=2)
    scales = factors.a[:, blocks, None] * factors.b.T[None, blocks]
    exponents = _exponents_of_scales(factors.a)[:, blocks, None].astype(np.int32)
    exponents = exponents + _exponents_of_scales(factors.b.T)[None, blocks]
    addend = exponents_of(c, _LEAST["f32"]).astype(np.int32)
    largest = np.maximum(np.maximum(exponents.max(axis=1), addend), LEAST_SUM)
    places = _KEPT_OF_GROUPS - largest
    with np.errstate(invalid="ignore", over="ignore"):
        kept = np.trunc(np.ldexp(sums * scales, places[:, None])).sum(axis=1)
        total = np.ldexp(kept + np.trunc(np.ldexp(c, places)), -places)
        return rounded_sum(total, "f32")
