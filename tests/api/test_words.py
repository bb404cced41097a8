"""Values of a program as words of a command line."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cudarun
from cudarun.api.words import CommandWords, filled
from cudarun.arguments.grammar import parse_argument


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "1"),
        (10**18, "1000000000000000000"),
        (-2.5, "-2.5"),
        (float("-inf"), "-inf"),
        (float("nan"), "nan"),
        (None, "null"),
        ("f32[n]:ones", "f32[n]:ones"),
        (np.bool_(True), "bool:true"),
        (np.float16(0.5), "f16:0.5"),
        (np.float64(0.1), "f64:0.1"),
        (ml_dtypes.bfloat16(0.1), "bf16:0.1"),
        (np.int64(-5), "i64:-5"),
        (np.array(2**40, ">u8"), "u64:1099511627776"),
        (np.complex64(1), "bytes:0000803f00000000"),
        (np.array((1, 2), [("a", "i4"), ("b", "i4")]), "{a=i32:1, b=i32:2}"),
    ],
)
def test_text_of_a_value(value: Any, text: str) -> None:
    with CommandWords() as words:
        assert words.value("x", value) == text
    assert str(parse_argument(f"x={text}").value).removesuffix(":ones") in (text, "f32[n]")


@pytest.mark.parametrize("value", [np.float128(1), np.datetime64("2026-01-01"), np.void(b"ab")])
def test_number_of_no_type(value: Any) -> None:
    with CommandWords() as words, pytest.raises(TypeError, match=r"^x: a scalar of "):
        words.value("x", value)


def test_files_in_words() -> None:
    with CommandWords() as words:
        first = words.value("x", np.zeros(2, np.float32))
        second = words.value("y", np.zeros((2, 3), ml_dtypes.float8_e5m2))
        paths = [f"/dev/fd/{file}" for file in words.files]
        assert filled(first, paths) == f"@{paths[0]}"
        assert filled(second, paths) == f"f8e5m2[2,3]:@{paths[1]}"
        np.testing.assert_array_equal(np.load(paths[0]), np.zeros(2, np.float32))
        text = "u8:\0001\0 \ud8009\ud800"  # neither is a file
        assert filled(words.value("z", text), [*paths, *"23456789"]) == "u8:\0001\0 9"


def test_characters_that_no_path_has() -> None:
    with pytest.raises(cudarun.InvalidRequest, match=r"k\\0\.cu"):
        cudarun.launch("k\0.cu", device="cpu", threads=1)
