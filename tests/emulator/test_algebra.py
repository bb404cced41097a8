"""Registers, matrices and memory whose floats are numbers modulo a prime."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from cudarun.base.residues import MOST, PRIME, representative
from cudarun.emulator.numerics import algebra, products
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.scaled_products import Factors, multiplied_in_tensor_memory
from cudarun.emulator.numerics.types import TYPES

ALL = np.arange(-MOST, MOST + 1, dtype=np.float64)


@pytest.fixture
def _enabled() -> Iterator[None]:
    algebra.enabled = True
    yield
    algebra.enabled = False


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_a_format_has_all_numbers(name: str) -> None:
    for stored in (algebra.store(ALL, name), algebra.as_format(ALL, name)):
        assert stored.dtype == TYPES[name].dtype
        assert np.array_equal(algebra.load(stored, name), ALL)
    special = np.array([np.inf, -np.inf, np.nan, 0.0])
    loaded = algebra.load(algebra.store(special, name), name)
    assert np.array_equal(loaded, special, equal_nan=True)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_bits_that_are_dropped_change_a_number(name: str) -> None:
    stored = algebra.store(ALL, name)
    bits = stored.view(f"u{stored.itemsize}")
    half = bits >> bits.dtype.type(4 * stored.itemsize) << bits.dtype.type(4 * stored.itemsize)
    changed = algebra.load(half.view(stored.dtype), name) != ALL
    assert np.count_nonzero(changed) > 0.99 * PRIME


def matrices(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [
        to_f32(random.standard_normal(each).astype("f2"), "f16").astype("f8") for each in shapes
    ]


def exact(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return ``a @ b + c`` modulo the prime by Python's integers."""
    a, b, c = (representative(each).astype(np.int64).astype(object) for each in (a, b, c))
    return ((a @ b + c) % PRIME).astype(np.int64)


def numbers_of(result: np.ndarray, name: str) -> np.ndarray:
    return algebra.load(result, name).astype(np.int64) % PRIME


@pytest.mark.usefixtures("_enabled")
@pytest.mark.parametrize(
    ("a", "d"), [("f16", "f16"), ("bf16", "f32"), ("tf32", "f32"), ("e4m3", "f16"), ("f64", "f64")]
)
def test_matrix_products_are_exact(a: str, d: str) -> None:
    left, right, addend = matrices((2, 16, 32), (2, 32, 8), (2, 16, 8))
    types = {"a": TYPES[a], "b": TYPES[a], "c": TYPES[d], "d": TYPES[d]}
    want = exact(left, right, addend)
    found = [
        products.multiplied(left, right, addend, types, 16),
        products.multiplied_by_warpgroup(left, right, addend, types, satfinite=False),
        products.multiplied_at_once(left, right, addend, types),
    ]
    if d != "f64":
        found.append(products.multiplied_by_lanes(left, right, addend, d))
    assert all(np.array_equal(numbers_of(each, d), want) for each in found)


@pytest.mark.usefixtures("_enabled")
def test_rows_of_a_sparse_matrix_have_their_own_columns() -> None:
    left, right, addend = matrices((1, 4, 8), (1, 4, 8, 3), (1, 4, 3))
    types = {"a": TYPES["f16"], "b": TYPES["f16"], "c": TYPES["f32"], "d": TYPES["f32"]}
    found = numbers_of(products.multiplied(left, right, addend, types, 8), "f32")
    for row in range(4):
        want = exact(left[0, row], right[0, row], addend[0, row])
        assert np.array_equal(found[0, row], want)


@pytest.mark.usefixtures("_enabled")
@pytest.mark.parametrize("blocks", [1, 4])
def test_products_in_tensor_memory_are_scaled(blocks: int) -> None:
    left, right, addend = matrices((16, 64), (64, 8), (16, 8))
    scales = [2.0 ** np.random.default_rng(5).integers(-9, 9, (rows, blocks)) for rows in (16, 8)]
    types = {"d": "f32", "a": "e4m3", "b": "e4m3"}
    found = multiplied_in_tensor_memory(
        left, right[None], addend, types, Factors(*scales), saturates=False
    )
    wide = [np.repeat(each, 64 // blocks, axis=1) for each in scales]
    assert np.array_equal(
        numbers_of(found, "f32"), exact(left * wide[0], right * wide[1].T, addend)
    )
