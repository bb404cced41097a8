"""Texels between others: the linear filter of texture objects."""

import numpy as np
import pytest

from tests.conformance.arrays import array_with, numbers
from tests.conformance.texture_objects import (
    BORDER,
    CLAMP,
    LINEAR,
    MIRROR,
    NORMALIZED,
    WRAP,
    described,
    of_array,
)


def f32(*values):
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("coordinate", "value"),
    [(0.0, 16.0), (0.5, 16.0), (1.0, 24.0), (1.25, 28.0), (1.5, 32.0), (7.5, 128.0), (8.0, 128.0)],
)
def test_a_line_between_two_texels(fetch, texture, coordinate, value):
    created = texture(16 * numbers(8), filter_mode=LINEAR)
    assert fetch("float_1d", created, f32(coordinate))[0, 0] == value


def test_a_plane_between_four_texels(fetch, texture):
    texels = f32(0, 16, 32, 128).reshape(2, 2, 1)
    at = f32(1.0, 1.0, 0.75, 0.5, 0.5, 0.75, 1.25, 1.25).reshape(-1, 2)
    got = fetch("float_2d", texture(texels, filter_mode=LINEAR), at)[:, 0]
    assert got.tolist() == [44.0, 4.0, 8.0, 81.0]


def test_a_weight_has_8_bits(fetch, texture):
    """Coordinates between two weights get the nearer one."""
    created = texture(f32(0, 256).reshape(2, 1), filter_mode=LINEAR)
    steps = np.array([1, 1.25, 1.75, 2, 100.25, 100.75, 254.75, 255.25, 255.75])
    got = fetch("float_1d", created, (0.5 + steps / 256).astype(np.float32))[:, 0]
    assert got.tolist() == [1, 1, 2, 2, 100, 101, 255, 255, 256]


@pytest.mark.parametrize(
    ("dtype", "most"), [("f2", 0), ("u1", 0xFFFF), ("u2", 0xFFFF), ("i1", 0x7FFF), ("i2", 0x7FFF)]
)
def test_a_line_between_other_formats(fetch, texture, dtype, most):
    """Integers become fractions of 16 bits."""
    texels = np.array([[0], [np.iinfo(dtype).max if most else 1]], dtype)
    created = texture(texels, filter_mode=LINEAR)
    quarter = (most + 3) // 4 / most if most else 0.25
    got = fetch("float_1d", created, f32(0.5, 0.75, 1.5))[:, 0]
    assert got.tolist() == f32(0, quarter, 1).tolist()


def test_a_line_to_infinity(fetch, texture):
    """A texel without weight is not there."""
    texels = f32(np.inf, 1, np.nan, 2).reshape(4, 1)
    got = fetch("float_1d", texture(texels, filter_mode=LINEAR), f32(0.5, 1, 1.5, 2, 2.5, 3, 3.5))
    assert [str(value) for value in got[:, 0]] == ["inf", "inf", "1.0", "nan", "nan", "nan", "2.0"]


@pytest.mark.parametrize(("coordinate", "value"), [(np.nan, 1.0), (np.inf, 4.0), (-np.inf, 1.0)])
def test_a_line_at_coordinates_that_are_no_numbers(fetch, texture, coordinate, value):
    created = texture(numbers(4), filter_mode=LINEAR)
    assert fetch("float_1d", created, f32(coordinate))[0, 0] == value


@pytest.mark.parametrize(
    ("mode", "values"),
    [
        (CLAMP, [16.0, 64.0]),
        (WRAP, [40.0, 40.0]),
        (MIRROR, [16.0, 64.0]),
        (BORDER, [4.0, 16.0]),
    ],
)
def test_a_line_over_the_end(fetch, texture, mode, values):
    created = texture(16 * numbers(4), mode=mode, filter_mode=LINEAR, flags=NORMALIZED)
    assert fetch("float_1d", created, f32(0.0, 1.0))[:, 0].tolist() == values


LINE = f32(0, 0.5, 1, 1.5, 2, 2.5, 3, 4)


@pytest.mark.parametrize(
    ("modes", "values"),
    [
        ((BORDER, BORDER), [4, 8, 12, 16, 20, 24, 28, 16]),
        ((BORDER, CLAMP), [8, 16, 24, 32, 40, 48, 56, 32]),
        ((CLAMP, BORDER), [8, 8, 12, 16, 20, 24, 28, 32]),
    ],
)
def test_a_line_is_the_first_row_of_a_plane(cuda, fetch, context, modes, values):
    """To the filter it has two dimensions, and lies at y = 0: half the weight is before the row."""
    how = described(cuda, filter_mode=LINEAR)
    how.addressMode = [cuda.CUaddress_mode(mode) for mode in (*modes, CLAMP)]
    array = array_with(cuda, 16 * numbers(4))
    texture = cuda.cuTexObjectCreate(of_array(cuda, array), how, None)
    assert fetch("float_1d", texture, LINE)[:, 0].tolist() == values


def test_a_line_in_a_border_with_a_color(fetch, texture):
    created = texture(16 * numbers(4), mode=BORDER, filter_mode=LINEAR, border=(100.0,) * 4)
    got = fetch("float_1d", created, LINE)[:, 0]
    assert got.tolist() == [79, 58, 62, 66, 70, 74, 78, 91]
