"""Arrays of numba and Warp, and arrays by value from files: the bytes that their kernels expect.

The layouts are those of numba-cuda's dispatcher and of Warp's ``array.h`` and ``builtin.h``.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.files import files_of, relocated
from cudarun.arguments.grammar import parse_argument, parse_arguments
from cudarun.arguments.values import walk
from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.images.parameters import Parameter

ADDRESSES = {"x": 0x1000, "y": 0x2000, "p.x": 0x3000}


def bound(*texts: str, sizes: list[int], directory: Path = Path()) -> Binding:
    """Bind to parameters of these sizes, aligned to 8 bytes, or to 4 if they have 4."""
    parameters, end = [], 0
    for index, size in enumerate(sizes):
        end += -end % (4 if size == 4 else 8)
        kind = f"u{8 * size}" if size in (4, 8) else None
        parameters.append(Parameter(index, end, size, type=kind))
        end += size
    return bind(parse_arguments(texts), parameters, kernel="k", directory=directory)


def test_an_array_of_numba_is_several_parameters(tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.zeros((3, 2, 2), np.complex64))
    texts = ("n=i64:5", "x=numba(f64[n,3]:rand)", "y=numba(@y.npy)")
    binding = bound(*texts, sizes=[8] * 21, directory=tmp_path)
    numbers = struct.unpack("<21q", binding.pack(ADDRESSES, {}))
    assert numbers[:10] == (5, 0, 0, 15, 8, 0x1000, 5, 3, 24, 8)
    assert numbers[10:] == (0, 0, 12, 8, 0x2000, 3, 2, 2, 32, 16, 8)
    assert [(spec.name, spec.shape) for spec in binding.buffers] == [
        ("x", (5, 3)),
        ("y", (3, 2, 2)),
    ]


def test_an_array_of_warp_is_a_structure() -> None:
    texts = ("dim=bounds(4,6)", "x=warp(f32[4,6]:iota)", "p={x=warp(float3[7]), n=i32:7}")
    binding = bound(*texts, sizes=[24, 56, 64])
    data = binding.pack(ADDRESSES, {})
    assert struct.unpack_from("<2I2Q", data) == (4, 6, 24, 1)
    assert struct.unpack_from("<2Q8iHHi", data, 24) == (
        *(0x1000, 0, 4, 6, 0, 0, 24, 4, 0, 0),
        *(2, 0, 0),
    )
    assert struct.unpack_from("<2Q8iiii", data, 80) == (
        *(0x3000, 0, 7, 0, 0, 0, 12, 0, 0, 0),
        *(1, 0, 7),
    )


@pytest.mark.parametrize(
    ("text", "size", "layout", "expected"),
    [
        ("bounds(7)", 24, "<Ixxxx2Q", (7, 7, 1)),
        ("bounds(7)", 32, "<4iixxxxQ", (7, 0, 0, 0, 1, 7)),
        ("bounds(2,3)", 32, "<4iixxxxQ", (2, 3, 0, 0, 2, 6)),
        ("bounds(2,3,4)", 32, "<3Ixxxx2Q", (2, 3, 4, 24, 1)),
        ("bounds(2,3,4,5)", 32, "<4I2Q", (2, 3, 4, 5, 120, 1)),
    ],
)
def test_launch_bounds(text: str, size: int, layout: str, expected: tuple[int, ...]) -> None:
    assert struct.unpack(layout, bound(f"dim={text}", sizes=[size]).pack({}, {})) == expected


def test_arrays_by_value_from_files(tmp_path: Path) -> None:
    taps = np.arange(9, dtype=np.float64)
    np.save(tmp_path / "taps.npy", taps)
    taps.astype(np.float32).tofile(tmp_path / "taps.bin")
    texts = ("a=f32*9:@taps.bin", "s={w=f32*9:cast(@taps.npy), n=i32:3}", "i=i32*2*2:iota")
    binding = bound(*texts, sizes=[36, 40, 16], directory=tmp_path)
    data = binding.pack({}, {})
    offsets = [slot.parameter.offset for slot in binding.slots]
    assert np.array_equal(np.frombuffer(data, np.float32, 9, offsets[0]), taps)
    assert np.array_equal(np.frombuffer(data, np.float32, 9, offsets[1]), taps)
    assert np.frombuffer(data, np.int32, 4, offsets[2]).tolist() == [0, 1, 2, 3]
    assert np.array_equal(binding.scalars["s.w"], taps)
    assert np.array_equal(binding.scalars["a"], taps)
    with pytest.raises(RequestError) as refused:
        bound("a=f32*9:@taps.npy", sizes=[36], directory=tmp_path)
    assert refused.value.hint == "convert it: 'a=f32*9:cast(@taps.npy)'"


def test_files_and_initializers_within() -> None:
    argument = parse_argument("s={x=warp(@x.npy), w=f32*9:@w.bin}")
    assert files_of(argument) == ["x.npy", "w.bin"]
    moved = relocated(argument, lambda path: f"d/{path}")
    assert str(moved) == "s={x=warp(@d/x.npy), w=f32*9:@d/w.bin}"
    value = parse_argument("numba(f32[3]:rand)").value
    assert [str(each) for each in walk(value)] == ["numba(f32[3]:rand)", "f32[3]:rand"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{x=numba(f32[3])}", "an array of numba is several parameters"),
        ("numba(3)", "expected an address, found 3"),
        ("warp(null)", "expected a buffer, found null"),
        ("i32*1000000*1000:zeros", "an array by value has at most 67108864"),
        ("bounds(1,2,3,4,5)", "a launch of Warp has at most 4 dimensions"),
    ],
)
def test_refused_texts(text: str, message: str) -> None:
    with pytest.raises(ArgumentSyntaxError, match=message):
        parse_argument(text)


@pytest.mark.parametrize(
    ("text", "size", "message"),
    [
        ("x=warp(f32[1,1,1,1,1])", 56, "at most 4 dimensions"),
        ("x=warp(u8[3Gi])", 56, "32-bit integers"),
        ("dim=bounds(3,5Gi)", 24, "32-bit integers"),
        ("dim=bounds(3)", 16, "launch_bounds_t is 24 bytes, not 16"),
    ],
)
def test_refused_values(text: str, size: int, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        bound(text, sizes=[size])
