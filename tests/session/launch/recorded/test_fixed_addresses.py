"""Memory at given addresses: alignment, and a driver that does not follow the hint."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.base.errors import AddressOccupied
from cudarun.session.launch.recorded.fixed_addresses import aligned, allocate_at, reserve
from cudarun.session.workers.fresh_worker import start_fresh
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.session import Session
from cudarun.session.workers.worker import WorkerSpec
from tests.session.conftest import open_session
from tests.support.processes import PATIENCE

MIB = 1 << 20
FREE = 0x5E0000000000  # addresses that the loader and the allocator do not use


def test_ranges_are_aligned_and_joined() -> None:
    found = aligned([(70 * MIB, 1), (3 * MIB, 8), (31 * MIB, 2 * MIB), (1, 1)], 32 * MIB)
    assert found == [(0, 96 * MIB)]
    assert aligned([(5, 2), (9, 1), (17, 1)], 4) == [(4, 8), (16, 4)]
    assert aligned([], 4) == []


def _written_and_read(session: Session, address: int) -> bytes:
    """Write and read both ends of two ranges, with the calls of a GPU."""
    from dataclasses import replace

    driver = session.driver
    driver.traits = replace(driver.traits, allocate_at=None)
    ranges = [(address + 100, 5000), (address + 40 * MIB, 16)]
    allocate_at(session, session.devices[0], ranges)
    data = np.arange(4, dtype=np.uint8)
    found = np.zeros(4, np.uint8)
    for start, size in ranges:
        driver.cuMemcpyHtoD(start + size - 4, data.ctypes.data, 4)
        driver.cuMemcpyDtoH(found.ctypes.data, start + size - 4, 4)
    session.settle()
    session.release()
    return found.tobytes()


def _occupied(session: Session) -> Any:
    session.driver.cuMemAddressReserve(64 * MIB, 0, FREE, 0)
    return _written_and_read(session, FREE)


def test_memory_is_reserved_at_its_address(in_session: Any) -> None:
    assert in_session(_read_at_free) == bytes(range(4))


def _read_at_free(session: Session) -> bytes:
    return _written_and_read(session, FREE)


def _read_beside_others(session: Session) -> bytes:
    session.driver.cuMemAddressReserve(2 * MIB, 0, FREE + 20 * MIB, 0)
    return _written_and_read(session, FREE)


def test_other_memory_near_it_does_no_harm(in_session: Any) -> None:
    assert in_session(_read_beside_others) == bytes(range(4))


def _reserved_before(session: Session) -> tuple[bytes, bool]:
    """Reserve the addresses first, and take one beside them, as a module does that is loaded."""
    from dataclasses import replace

    session.driver.traits = replace(session.driver.traits, allocate_at=None)
    reserve(session, [(FREE + 100, 5000), (FREE + 40 * MIB, 16)])
    session.driver.cuMemAddressReserve(2 * MIB, 0, FREE + 20 * MIB, 0)
    return _written_and_read(session, FREE), session.reserved == []


def test_addresses_are_reserved_before(in_session: Any) -> None:
    assert in_session(_reserved_before) == (bytes(range(4)), True)


def test_an_occupied_address_is_an_error(in_session: Any) -> None:
    with pytest.raises(AddressOccupied, match="are occupied"):
        in_session(_occupied)


def _program(session: Session) -> str:
    return sys.argv[0]


def test_another_process_is_a_new_program() -> None:
    """A fork would have the memory of its parent at the same addresses."""
    with WorkerPool() as pool:
        worker = pool.acquire(WorkerSpec(open_session), start_fresh())
        worker.submit(_program, PATIENCE)
        [outcome] = pool.gather([worker])
    assert outcome.unwrap().endswith("fresh_worker.py")


def _maps(session: Session) -> tuple[bool, bool]:
    """Return whether the range is mapped, and whether a part of it is after a release."""
    from cudarun.session.workers.free_addresses import release

    def is_mapped(address: int) -> bool:
        lines = Path("/proc/self/maps").read_text().splitlines()
        ranges = (line.split()[0].split("-") for line in lines)
        return any(int(first, 16) <= address < int(end, 16) for first, end in ranges)

    before = is_mapped(FREE + 3 * MIB)
    release(FREE + 2 * MIB, 8 * MIB)
    assert is_mapped(FREE)
    return before, is_mapped(FREE + 3 * MIB)


def test_a_new_program_holds_addresses_until_they_are_needed() -> None:
    with WorkerPool() as pool:
        worker = pool.acquire(WorkerSpec(open_session), start_fresh([(FREE, 4 * MIB)]))
        worker.submit(_maps, PATIENCE)
        [outcome] = pool.gather([worker])
    assert outcome.unwrap() == (True, False)
