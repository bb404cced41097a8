"""Values of a program as values of arguments."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cudarun
from cudarun.api.service import resolved
from cudarun.api.values import ArrayFiles
from cudarun.arguments.files import files_of
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.values import Argument


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
def test_value(value: Any, text: str) -> None:
    with ArrayFiles() as files:
        argument = resolved("x", files.value("x", value), ())
    if isinstance(argument, str):  # a text, which the command parses
        argument = parse_argument(argument)
    assert argument.text == f"x={text}"
    assert argument == parse_argument(f"x={text}")


@pytest.mark.parametrize("value", [np.float128(1), np.datetime64("2026-01-01"), np.void(b"ab")])
def test_number_of_no_type(value: Any) -> None:
    with ArrayFiles() as files, pytest.raises(TypeError, match=r"^x: a scalar of "):
        files.value("x", value)


def test_arrays_are_files_with_a_name() -> None:
    with ArrayFiles() as files:
        values = {
            "plain": np.zeros(2, np.float32),
            "foreign": np.zeros((2, 3), ml_dtypes.float8_e5m2),
            "struct": {"x": np.zeros(3, np.int32), "y": "f32[2]:ones", "z": [1, 2.5]},
        }
        paths = [f"/dev/fd/{3 + number}" for number in range(3)]
        texts = {}
        for name, value in values.items():
            argument = resolved(name, files.value(name, value), paths)
            assert isinstance(argument, Argument)
            texts[name] = str(argument), files_of(argument)
        assert texts == {
            "plain": ("plain=@array", [paths[0]]),
            "foreign": ("foreign=f8e5m2[2,3]:@array", [paths[1]]),
            "struct": ("struct={x=@array, y=f32[2]:ones, z={1, 2.5}}", [paths[2]]),
        }
        stored = np.load(f"/dev/fd/{files.files[0]}")
        np.testing.assert_array_equal(stored, np.zeros(2, np.float32))


def test_name_that_is_none_is_a_syntax_error() -> None:
    with pytest.raises(cudarun.InvalidRequest, match="x y=1"):
        cudarun.launch(b"__global__ void f(int x) {}", device="cpu", threads=1, args={"x y": 1})


def test_characters_that_no_path_has() -> None:
    with pytest.raises(cudarun.InvalidRequest, match=r"k\\0\.cu"):
        cudarun.launch("k\0.cu", device="cpu", threads=1)
