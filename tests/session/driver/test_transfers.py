"""Buffers filled and copied part by part, with blocks so small that every edge is met."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudarun.arguments.contents import (
    ArithmeticSequence,
    ArrayContents,
    Contents,
    FileContents,
    RandomContents,
    RepeatedContents,
)
from cudarun.arguments.dtypes import scalar_type
from cudarun.arguments.types import SCALARS
from cudarun.base.errors import RequestError
from cudarun.session.driver.memory import DeviceBuffer
from cudarun.session.driver.transfers import Transfers
from cudarun.session.launch.initialization import BufferInitializer
from cudarun.session.workers.session import Session

InSession = Callable[[Callable[[Session], Any]], Any]

STRUCT = np.dtype({"names": ["a", "b"], "formats": ["i1", "f8"], "offsets": [0, 8], "itemsize": 24})
DTYPES = [np.dtype(each) for each in ("u1", "i2", "f4", "f8", "V3", STRUCT)]
GUARD = 64


def _bytes(array: Any) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def _noise(dtype: np.dtype[Any], count: int) -> Any:
    return np.random.default_rng(count).bytes(count * dtype.itemsize)


def _held(dtype: np.dtype[Any], count: int, folder: Path) -> tuple[Contents, bytes]:
    data = _noise(dtype, count)
    return ArrayContents(np.frombuffer(data, dtype)), data


def _repeated(dtype: np.dtype[Any], count: int, folder: Path) -> tuple[Contents, bytes]:
    item = _noise(dtype, 1)
    return RepeatedContents(np.frombuffer(item, dtype), count), item * count


def _in_file(dtype: np.dtype[Any], count: int, folder: Path) -> tuple[Contents, bytes]:
    data = _noise(dtype, count)
    (folder / "data").write_bytes(b"head" + data)
    return FileContents(folder / "data", 4, dtype, count), data


def _random(dtype: np.dtype[Any], count: int, folder: Path) -> tuple[Contents, bytes]:
    scalar = scalar_type(dtype) or SCALARS["f32"]
    there, here = np.random.default_rng(5), np.random.default_rng(5)
    expected = RandomContents(scalar, lambda n: 100 * here.random(n), count).array()
    return RandomContents(scalar, lambda n: 100 * there.random(n), count), _bytes(expected)


def _sequence(dtype: np.dtype[Any], count: int, folder: Path) -> tuple[Contents, bytes]:
    scalar = scalar_type(dtype) or SCALARS["f32"]
    sequence = ArithmeticSequence(scalar, -3, 7, count)
    return sequence, _bytes((7 * np.arange(count) - 3).astype(sequence.dtype))


class _Kept:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.data = b""
        self.places: list[int] = []

    def __call__(self, part: Any, first: int) -> None:
        self.data += part.tobytes()
        self.places.append(first)


def _there_and_back(session: Session) -> None:
    @settings(max_examples=150, database=None)
    @given(
        make=st.sampled_from([_held, _repeated, _in_file, _random, _sequence]),
        dtype=st.sampled_from(DTYPES),
        count=st.integers(0, 700),
        block_bytes=st.integers(24, 600),
        blocks=st.integers(2, 5),
        large=st.sampled_from([0, 500]),
    )
    def check(make: Any, dtype: Any, count: int, block_bytes: int, blocks: int, large: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            contents, expected = make(dtype, count, Path(folder))
            buffer = DeviceBuffer(session.driver, "x", len(expected), GUARD)
            block_bytes = block_bytes // 8 * 8  # what a block begins with is aligned
            transfers = Transfers(
                session.driver, large=large, block_bytes=block_bytes, blocks=blocks
            )
            BufferInitializer(session, transfers, with_kernels=False).fill(buffer.address, contents)
        takes = _Kept(), _Kept()
        whole = np.empty(count, contents.dtype)
        transfers.download(buffer.address, contents.dtype, count, takes, into=whole)
        assert _bytes(whole) == expected
        for kept in takes:
            assert kept.data == expected
            assert kept.places == sorted(kept.places)
        assert buffer.guard_damage() is None
        transfers.free()
        buffer.free()

    check()


def test_all_contents_of_any_size_come_back(in_session: InSession) -> None:
    in_session(_there_and_back)


def _parts_in_order(session: Session) -> tuple[list[int], bytes]:
    buffer = DeviceBuffer(session.driver, "x", 100)
    transfers = Transfers(session.driver, large=1, block_bytes=16, blocks=3)
    transfers.upload(buffer.address, ArrayContents(np.arange(25, dtype=np.int32)))
    kept = _Kept()
    transfers.download(buffer.address, np.dtype(np.int32), 25, [kept])
    return kept.places, kept.data


def test_a_taker_is_given_parts_in_order(in_session: InSession) -> None:
    places, data = in_session(_parts_in_order)
    assert places == [0, 4, 8, 12, 16, 20, 24]
    assert data == _bytes(np.arange(25, dtype=np.int32))


def _computed(scalar: str, start: float, step: float, count: int, session: Session) -> bytes:
    contents = ArithmeticSequence(SCALARS[scalar], start, step, count)
    buffer = DeviceBuffer(session.driver, "x", contents.nbytes, GUARD)
    transfers = Transfers(session.driver)
    filler = BufferInitializer(session, transfers, with_kernels=True, large=1)
    before = session.driver.count
    filler.fill(buffer.address, contents)
    assert session.driver.count - before == 3, "the kernel is loaded, found and launched"
    assert buffer.guard_damage() is None
    whole = np.empty(count, contents.dtype)
    transfers.download(buffer.address, contents.dtype, count, into=whole)
    return bytes(whole.tobytes())


@pytest.mark.parametrize(
    ("scalar", "start", "step"),
    [
        ("u8", 250, 3),
        ("i8", -5, -7),
        ("i16", 32000, 1),
        ("u32", 2**32 - 3, 2),
        ("i32", -1, -1),
        ("u64", 2**64 - 2, 1),
        ("i64", -(2**63), 2**62 + 1),
        ("f32", 0, 1),
        ("f32", 0.1, 0.3),
        ("f32", -1e30, 1e25),
        ("f32", 0, 1e-42),
        ("f64", 0.1, 0.1),
    ],
)
def test_a_kernel_computes_what_the_host_would(
    in_session: InSession, scalar: str, start: float, step: float
) -> None:
    count = 1000
    expected = ArithmeticSequence(SCALARS[scalar], start, step, count).array()
    assert in_session(partial(_computed, scalar, start, step, count)) == expected.tobytes()


def _shortened(path: Path, session: Session) -> None:
    contents = FileContents(path, 0, np.dtype(np.uint8), 1000)
    path.write_bytes(bytes(900))
    buffer = DeviceBuffer(session.driver, "x", 1000)
    Transfers(session.driver, large=1, block_bytes=64).upload(buffer.address, contents)


def test_a_file_that_becomes_shorter(in_session: InSession, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(1000))
    with pytest.raises(
        RequestError, match=rf"cannot read {path}: the file was truncated while it was read"
    ):
        in_session(partial(_shortened, path))


def _taker_that_fails(session: Session) -> None:
    buffer = DeviceBuffer(session.driver, "x", 1000)
    transfers = Transfers(session.driver, large=1, block_bytes=64)

    def take(part: Any, first: int) -> None:
        if first == 512:
            raise RequestError("the disk is full")

    transfers.download(buffer.address, np.dtype(np.uint8), 1000, [take])


def test_what_a_taker_raises_is_raised(in_session: InSession) -> None:
    with pytest.raises(RequestError, match="the disk is full"):
        in_session(_taker_that_fails)
