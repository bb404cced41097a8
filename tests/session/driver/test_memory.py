"""Device buffers: guard zones, poison, and memory running out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from cudarun.base.errors import DeviceFailed
from cudarun.session.driver.fill_pattern import fill_pattern, unwritten_items
from cudarun.session.driver.memory import DeviceBuffer
from cudarun.session.driver.transfers import Transfers
from cudarun.session.workers.session import Session

InSession = Callable[[Callable[[Session], Any]], Any]


LONG = 1 << 15  # bytes of a buffer whose guard zones are read one by one


def _stray_write(offset: int, session: Session, nbytes: int = 100) -> int | None:
    """Where the guard zones say that a byte was written, `offset` from the start of a buffer.

    The emulated device needs no guard zones; a GPU's are put around this buffer.
    """
    session.driver.traits = replace(session.driver.traits, guard_bytes=4096)
    buffer = DeviceBuffer(session.driver, "x", nbytes)
    buffer.poison(b"\xa5")
    if offset:
        session.driver.cuMemsetD8(buffer.address + offset, 1, 1)
    return buffer.guard_damage()


@pytest.mark.parametrize("offset", [-4096, -1, 100, 4195])
def test_a_stray_write_is_found_on_either_side(in_session: InSession, offset: int) -> None:
    assert in_session(partial(_stray_write, offset)) == offset


@pytest.mark.parametrize("offset", [-4096, -1, LONG, LONG + 4095])
def test_a_stray_write_beside_a_long_buffer(in_session: InSession, offset: int) -> None:
    assert in_session(partial(_stray_write, offset, nbytes=LONG)) == offset


@pytest.mark.parametrize("offset", [0, 99])
def test_a_write_inside_leaves_the_guards_alone(in_session: InSession, offset: int) -> None:
    assert in_session(partial(_stray_write, offset)) is None


def _poisoned(session: Session) -> int:
    buffer = DeviceBuffer(session.driver, "x", 40)
    data = np.empty(10, np.float32)
    buffer.poison(fill_pattern(data.dtype))
    Transfers(session.driver).download(buffer.address, data.dtype, 10, into=data)
    return int(np.count_nonzero(unwritten_items(data)))


def test_poison_is_counted(in_session: InSession) -> None:
    assert in_session(_poisoned) == 10


def _empty(session: Session) -> tuple[int, int]:
    one, other = (DeviceBuffer(session.driver, name, 0) for name in "xy")
    return one.address, other.address


def test_an_empty_buffer_has_an_address_of_its_own(in_session: InSession) -> None:
    one, other = in_session(_empty)
    assert one != other
    assert 0 not in (one, other)


def _too_large(session: Session) -> DeviceBuffer:
    return DeviceBuffer(session.driver, "huge", 1 << 50)


def test_out_of_memory_says_which_buffer_and_what_is_free(in_session: InSession) -> None:
    with pytest.raises(DeviceFailed, match=r"CUDA_ERROR_OUT_OF_MEMORY, 2") as caught:
        in_session(_too_large)
    assert caught.value.message.startswith("buffer 'huge' of 1125899906842624 bytes: cuMemAlloc: ")
    assert "are free on the device" in (caught.value.hint or "")
