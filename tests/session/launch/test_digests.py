"""Digests of buffers: equal for equal values, whatever their addresses, padding and chunks are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from cudarun.session.launch.digests import BufferDigest


@dataclass
class Buffer:
    """The part of a buffer's specification that its digest needs."""

    pointers: tuple[tuple[int, str], ...] = ()


def digest(array: np.ndarray, cut: int | None = None, pointers: tuple[int, ...] = ()) -> str:
    made = BufferDigest(Buffer(tuple((each, "x") for each in pointers)))  # type: ignore[arg-type]
    made(array[:cut], 0)
    if cut is not None:
        made(array[cut:], cut)
    return made.text()


def test_a_single_bit_counts() -> None:
    array = np.arange(100, dtype=np.float32)
    wrong = array.copy()
    wrong.view(np.uint8)[7] ^= 1
    assert digest(array) == digest(array.copy()) != digest(wrong)


@pytest.mark.parametrize("cut", [1, 37])
def test_chunks_do_not_count(cut: int) -> None:
    array = np.arange(100, dtype=np.float32)
    assert digest(array, cut) == digest(array)


def test_addresses_do_not_count() -> None:
    one = np.arange(8, dtype=np.uint64)
    other = one.copy()
    other[[2, 6]] = 0x7F00_0000_0000
    assert digest(one) != digest(other)
    for cut in (None, 3, 6):
        assert digest(one, cut, (16, 48)) == digest(other, cut, (16, 48))
    other[3] += 1
    assert digest(one, None, (16, 48)) != digest(other, None, (16, 48))


def test_padding_does_not_count() -> None:
    struct = np.dtype({"names": ["a", "b"], "formats": ["u1", "f4"], "offsets": [0, 4]})
    one, other = np.zeros(4, struct), np.zeros(4, struct)
    other.view(np.uint8).reshape(4, 8)[:, 1:4] = 0xFF
    assert one.tobytes() != other.tobytes()
    assert digest(one) == digest(other)
    other["b"][3] = 1
    assert digest(one) != digest(other)
