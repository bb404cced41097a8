"""The contents of memory without an initializer: NaN as a float, and recognized afterwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from cudarun.arguments.dtypes import element_dtype, is_float
from cudarun.arguments.types import SCALARS
from cudarun.session.driver.fill_pattern import (
    fill_pattern,
    unwritten_items,
    without_common_pattern,
)
from cudarun.session.driver.memory import DeviceBuffer
from cudarun.session.driver.transfers import Transfers
from cudarun.session.workers.session import Session

InSession = Callable[[Callable[[Session], Any]], Any]

STRUCT = np.dtype(
    {
        "names": ["i", "f", "h", "d", "rows"],
        "formats": ["i4", "f4", "f2", "f8", ("f4", (2, 2))],
        "offsets": [0, 4, 8, 16, 24],
        "itemsize": 48,
    }
)
PACKED = np.dtype([("tag", "u1"), ("half", "f2")])  # 3 bytes


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=str)
def test_floats_are_nan(scalar: Any) -> None:
    dtype = element_dtype(scalar)
    item = np.frombuffer(fill_pattern(dtype), dtype)
    assert item.size == 1
    if is_float(dtype):
        with np.errstate(invalid="ignore"):  # as of any signaling NaN
            assert np.isnan(item.astype(np.float64)).all()
    else:
        assert set(fill_pattern(dtype)) == {0xA5}


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "f8e5m2"])
def test_the_nan_is_signaling(name: str) -> None:
    scalar = SCALARS[name]
    bits = int.from_bytes(fill_pattern(element_dtype(scalar)), "little")
    quiet = 1 << (scalar.mantissa_bits - 1)
    exponent = ((1 << scalar.exponent_bits) - 1) << scalar.mantissa_bits
    assert bits & exponent == exponent
    assert not bits & quiet
    assert bits & (quiet - 1)


def test_members_of_structs() -> None:
    item = np.frombuffer(fill_pattern(STRUCT), STRUCT)[0]
    assert item["i"] == np.frombuffer(b"\xa5" * 4, "i4")[0]
    assert all(np.isnan(item[name]).all() for name in ("f", "h", "d", "rows"))
    assert fill_pattern(STRUCT)[10:16] == b"\xa5" * 6  # padding


DTYPES = ["u1", "i4", "f2", "f4", "f8", STRUCT, PACKED]


def _filled(dtype: Any, session: Session) -> bytes:
    dtype = np.dtype(dtype)
    buffer = DeviceBuffer(session.driver, "x", 40 * dtype.itemsize)
    buffer.poison(fill_pattern(dtype))
    data = np.zeros(buffer.nbytes, np.uint8)
    Transfers(session.driver).download(buffer.address, data.dtype, data.size, into=data)
    return data.tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_device_fills_its_memory(in_session: InSession, dtype: Any) -> None:
    assert in_session(partial(_filled, dtype)) == fill_pattern(np.dtype(dtype)) * 40


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
def test_only_whole_items_count_as_unwritten(dtype: Any) -> None:
    dtype = np.dtype(dtype)
    data = np.zeros(8, dtype)
    raw = data.view(np.uint8).reshape(8, -1)
    raw[:4] = np.frombuffer(fill_pattern(dtype), np.uint8)
    raw[3, 0] = 0  # all but one byte: written
    assert unwritten_items(data).tolist() == [True] * 3 + [False] * 5


@pytest.mark.parametrize(
    ("name", "least"),
    [("u8", 16), ("i16", 8), ("f8e4m3", 16), ("i32", 1), ("f16", 1), ("bf16", 1), ("f8e5m2", 1)],
)
def test_small_items_that_can_be_results_need_a_run(name: str, least: int) -> None:
    dtype = element_dtype(SCALARS[name])
    data = np.zeros(64, dtype)
    patterned = data.view(np.uint8).reshape(64, -1)
    pattern = np.frombuffer(fill_pattern(dtype), np.uint8)
    patterned[5 : 5 + least] = pattern
    assert np.flatnonzero(unwritten_items(data)).tolist() == [*range(5, 5 + least)]
    patterned[5] = 0
    assert np.count_nonzero(unwritten_items(data)) == 0
    patterned[-least:] = pattern
    assert np.flatnonzero(unwritten_items(data)).tolist() == [*range(64 - least, 64)]
    patterned[:] = 0
    assert not unwritten_items(data).any()


def test_what_two_devices_did_not_write_is_equal() -> None:
    one, other = (np.frombuffer(bytearray(fill_pattern(STRUCT) * 3), STRUCT) for _ in range(2))
    one["f"][0], other["f"][1], one["d"][2] = 1, np.nan, np.nan
    cleared, others = without_common_pattern(one, other)
    assert (cleared["h"] == others["h"]).all()
    assert (cleared["rows"] == others["rows"]).all()
    assert (cleared["f"] == others["f"]).tolist() == [False, False, True]
    assert (cleared["d"] == others["d"]).tolist() == [True, True, False]
    assert np.isnan(one["h"]).all()  # the arguments are unchanged
    plain = np.frombuffer(fill_pattern(np.dtype("f4")) * 4, "f4")
    assert without_common_pattern(plain, plain)[0].tolist() == [0, 0, 0, 0]
    assert without_common_pattern(plain, np.zeros(4, "f8"))[0] is plain
