"""Numbers as text: read exactly, rounded once, and shown so that they read back."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudarun.arguments.dtypes import scalar_dtype
from cudarun.arguments.literals import LiteralError, as_number, decode, encode, read, show
from cudarun.arguments.types import SCALARS

FLOATS = [scalar for scalar in SCALARS.values() if scalar.is_float]
INTEGERS = [scalar for scalar in SCALARS.values() if scalar.is_integer]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-17", -17),
        ("+5", 5),
        ("1_000_000", 1_000_000),
        ("0xff", 255),
        ("0XFF_ff", 65535),
        ("0b101", 5),
        ("0o17", 15),
        ("4Ki", 4096),
        ("-2Mi", -(2 << 20)),
        ("1Gi", 1 << 30),
        ("3K", 3000),
        ("2M", 2_000_000),
        ("1G", 10**9),
    ],
)
def test_integers(text, value):
    assert read(text).integer == value
    assert as_number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.5", 2.5),
        (".5", 0.5),
        ("3.", 3.0),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("-0.0", -0.0),
        ("0x1.8p3", 12.0),
        ("0x.8p-1", 0.25),
        ("1_0.2_5", 10.25),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("0f3f800000", 1.0),
        ("0F40490FDB", 3.1415927410125732),
        ("0d3ff0000000000000", 1.0),
    ],
)
def test_floats(text, value):
    found = as_number(text)
    assert struct.pack("d", found) == struct.pack("d", value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "abc", "1.2.3", "0x", "0b2", "0o8", "1__0", "_1", "1e", "2.0f", "1Kb", "0x1p"),
        *("--1", "-true", "1 2", "٣", "0xK", "1.5K", "0f", "0fxyz", "-0f3f800000", "+nan-"),
    ],
)
def test_what_is_no_number(text):
    with pytest.raises(LiteralError):
        read(text)


def test_a_leading_zero_is_neither_octal_nor_decimal():
    with pytest.raises(LiteralError, match="'010': write 0o10 for octal, 10 for decimal"):
        read("010")
    assert read("0").integer == read("00").integer == 0


def test_no_text_makes_a_huge_number():
    assert as_number("0e999999999") == 0.0
    assert as_number("1e-999999999") == 0.0
    with pytest.raises(LiteralError, match="out of range for f64"):
        as_number("1e999999999")
    with pytest.raises(LiteralError, match="a number has 5000 characters"):
        read("1" * 5000)


@pytest.mark.parametrize("scalar", INTEGERS, ids=str)
def test_integers_fit_or_are_refused(scalar):
    limits = np.iinfo(scalar_dtype(scalar))
    for value in (limits.min, limits.max, 0, 1):
        raw = encode(str(value), scalar).to_bytes(scalar.size, "little")
        assert np.frombuffer(raw, scalar_dtype(scalar))[0] == value
        assert decode(encode(str(value), scalar), scalar) == value
    for value in (int(limits.min) - 1, int(limits.max) + 1):
        with pytest.raises(LiteralError, match=f"{value} is out of range for {scalar}, "):
            encode(str(value), scalar)


@given(st.floats(allow_nan=False))
def test_f64_is_what_python_reads(value):
    assert encode(repr(value), SCALARS["f64"]) == struct.unpack("Q", struct.pack("d", value))[0]


@given(st.floats(allow_nan=False, width=32))
def test_f32_agrees_with_numpy(value):
    for text in (repr(value), str(np.float32(value))):
        bits = np.float32(value).view(np.uint32)
        assert encode(text, SCALARS["f32"]) == bits


def test_rounding_happens_once():
    # Just above the middle of two floats, but the middle itself as a double: by way of a double
    # it would be rounded down.
    text = "1.00000005960464477539062500000000000001"
    assert float(np.float32(float(text))) == 1.0
    assert decode(encode(text, SCALARS["f32"]), SCALARS["f32"]) == float(np.float32(1 + 2**-23))


@pytest.mark.parametrize("scalar", FLOATS, ids=str)
@given(st.data())
def test_every_float_is_rounded_to_nearest_even(scalar, data):
    """Between two neighbours, the text of any fraction goes to the nearer, a tie to the even."""
    lower = data.draw(st.integers(0, _largest(scalar) - 1))
    below, above = (Fraction(decode(bits, scalar)) for bits in (lower, lower + 1))
    part = data.draw(st.integers(0, 16) | st.just(8))
    text = _decimal(below + (above - below) * part / 16)
    if len(text) > 1000:
        with pytest.raises(LiteralError, match="at most 1000 are read"):
            read(text)
    else:
        assert encode(text, scalar) == lower + (part > 8 or (part == 8 and lower % 2))


def _decimal(value: Fraction) -> str:
    """A fraction over a power of two, exactly, in decimal digits."""
    places = value.denominator.bit_length()
    return f"{value.numerator * 10**places // value.denominator}e-{places}"


def _largest(scalar) -> int:
    # By way of a double: int() of a large bfloat16 overflows to a negative number.
    return encode(str(int(float(ml_dtypes.finfo(scalar_dtype(scalar)).max))), scalar)


@pytest.mark.parametrize("scalar", [s for s in FLOATS if s.size <= 2], ids=str)
def test_every_bit_pattern_of_a_small_float(scalar):
    """Decoded as ml_dtypes and numpy do, and shown as text that encodes to the same bits."""
    patterns = np.arange(1 << (8 * scalar.size), dtype=f"u{scalar.size}")
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values = patterns.view(scalar_dtype(scalar)).astype(np.float64)
    ours = np.array([decode(int(bits), scalar) for bits in patterns])
    np.testing.assert_array_equal(ours, values)
    for bits in map(int, patterns[:: 1 if scalar.size == 1 else 7]):
        assert encode(show(bits, scalar), scalar) == bits


@given(st.integers(0, (1 << 32) - 1))
def test_every_f32_is_shown_so_that_it_reads_back(bits):
    assert encode(show(bits, SCALARS["f32"]), SCALARS["f32"]) == bits


@pytest.mark.parametrize(
    ("text", "scalar", "shown"),
    [
        ("0.1", "f32", "0.1"),
        ("65504", "f16", "65504"),
        ("449", "f8e4m3", "448"),
        ("1e-45", "f32", "1e-45"),
        ("-0.0", "f32", "-0"),
        ("0f7fc00001", "f32", "0f7fc00001"),
        ("nan", "f8e4m3", "nan"),
        ("1e300", "f64", "1e+300"),
    ],
)
def test_shown(text, scalar, shown):
    assert show(encode(text, SCALARS[scalar]), SCALARS[scalar]) == shown


@pytest.mark.parametrize(
    ("text", "scalar", "message"),
    [
        ("65520", "f16", "out of range for f16, whose largest value is 65504"),
        ("1e39", "f32", "out of range for f32, whose largest value is 3.40282e+38"),
        ("464.1", "f8e4m3", "out of range for f8e4m3, whose largest value is 448"),
        ("61441", "f8e5m2", "out of range for f8e5m2, whose largest value is 57344"),
        ("inf", "f8e4m3", "f8e4m3 has no infinity"),
        ("1.5", "i32", "'1.5' is not an integer, but i32 requires one"),
        ("1e3", "i32", "'1e3' is not an integer, but i32 requires one"),
        ("inf", "u8", "'inf' is not an integer, but u8 requires one"),
        ("true", "i32", "'true' is a bool, not an i32"),
        ("2", "bool", "'2': bool must be true or false"),
        ("0f3f80", "f32", "'0f3f80' has 4 hexadecimal digits; the bits of an f32 have 8"),
    ],
)
def test_refused(text, scalar, message):
    with pytest.raises(LiteralError) as refused:
        encode(text, SCALARS[scalar])
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "scalar"), [("0f38", "f8e4m3"), ("0f3c00", "f16"), ("0d3ff0000000000000", "f64")]
)
def test_bit_patterns_have_the_width_of_their_type(text, scalar):
    assert encode(text, SCALARS[scalar]) == int(text[2:], 16)
    assert decode(encode(text, SCALARS[scalar]), SCALARS[scalar]) == 1.0
