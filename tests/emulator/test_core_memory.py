"""Device memory: placement, bounds, what is remembered of freed ranges, the heap of kernels."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudarun.emulator.execution import execute
from cudarun.emulator.heap import DeviceHeap, snapshot
from cudarun.emulator.host.hostmemory import RegisteredMemory
from cudarun.emulator.memory import InvalidAddress, Memory, OutOfMemory
from tests.emulator.device import Device

BASE = 0x7F00_0000_0000


@pytest.fixture
def memory() -> Memory:
    return Memory(BASE, 1 << 20)


def test_allocations_are_aligned_apart_and_zero(memory: Memory) -> None:
    first, second = memory.allocate(5), memory.allocate(700, alignment=4096)
    assert first % 512 == 0
    assert second % 4096 == 0
    assert second - (first + 5) >= 256
    assert memory.used == 705
    assert not memory.bytes_at(second, 700).any()


def test_host_copies_stay_inside_one_allocation(memory: Memory) -> None:
    address = memory.allocate(10)
    memory.bytes_at(address, 10)[:] = np.arange(10)
    assert list(memory.bytes_at(address + 4, 3)) == [4, 5, 6]
    for start, size in ((address, 11), (address - 1, 2), (address + 10, 1), (0, 1)):
        with pytest.raises(InvalidAddress):
            memory.bytes_at(start, size)


def test_find(memory: Memory) -> None:
    address = memory.allocate(16, label="cuMemAlloc")
    for inside in (address, address + 15):
        found = memory.find(inside)
        assert found is not None
        assert (found.base, found.size, found.label) == (address, 16, "cuMemAlloc")
    assert memory.find(address + 16) is None
    assert memory.find(address - 1) is None


def test_free(memory: Memory) -> None:
    address = memory.allocate(3000, label="one")
    assert not memory.free(address + 8)
    assert memory.free(address)
    assert not memory.free(address)
    assert memory.used == 0
    assert memory.find(address) is None
    freed = memory.find_freed(address + 2999)
    assert freed is not None
    assert (freed.base, freed.size, freed.label) == (address, 3000, "one")
    assert memory.find_freed(address + 3000) is None
    assert memory.allocate(3000) != address


def test_the_end_of_shared_memory_closes_its_file(memory: Memory) -> None:
    address = memory.allocate(100)
    memory.bytes_at(address, 100)[:] = 7
    file = memory.share()
    assert os.pread(file, 1, address - memory.base) == b"\x07"
    own = os.fstat(file)
    memory.end()
    with suppress(OSError):  # another thread may have a new file by this number
        assert not os.path.samestat(own, os.fstat(file))


def test_capacity(memory: Memory) -> None:
    address = memory.allocate(1 << 20)
    with pytest.raises(OutOfMemory):
        memory.allocate(1)
    memory.free(address)
    memory.allocate(1 << 20)


def test_addresses_are_used_again_when_there_is_no_other_way(memory: Memory) -> None:
    for _ in range(200):
        address = memory.allocate(1 << 19)
        view = memory.bytes_at(address, 1 << 19)
        assert not view.any()
        view[:] = 255
        memory.free(address)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 200_000)), max_size=60))
def test_any_sequence_keeps_allocations_apart(steps: list[tuple[bool, int]]) -> None:
    memory = Memory(BASE, 1 << 20)
    live: dict[int, int] = {}
    for frees, number in steps:
        if frees and live:
            address = sorted(live)[number % len(live)]
            del live[address]
            assert memory.free(address)
        else:
            try:
                address = memory.allocate(number)
            except OutOfMemory:
                assert memory.used + number > memory.capacity - 2_000_000
                continue
            live[address] = number
        assert memory.used == sum(live.values())
        ends = [BASE, *(a + s for a, s in sorted(live.items()))]
        assert all(start >= end for start, end in zip(sorted(live), ends, strict=False))
        bases, sizes = memory.table()
        assert dict(zip(bases.tolist(), sizes.tolist(), strict=True)) == live


@pytest.mark.parametrize("restores", [False, True])
def test_blocks_of_a_launch_that_begins_again(memory: Memory, restores: bool) -> None:
    heap = DeviceHeap(memory, 1000)
    first = heap.allocate(400)
    memory.bytes_at(first, 400)[:] = 5
    end = snapshot([memory], heap, tracks=True)
    heap.free(first)
    second = heap.allocate(700)
    end(restores=restores)
    assert [memory.find(each) is not None for each in (first, second)] == [restores, not restores]
    assert bool(heap.allocate(500)) is restores
    if restores:
        assert (memory.bytes_at(first, 400) == 5).all()


def test_heap(memory: Memory) -> None:
    heap = DeviceHeap(memory, 1000)
    first = heap.allocate(600)
    assert first % 16 == 0
    assert heap.allocate(500) == 0
    assert heap.allocate(0) == 0
    assert not heap.free(first + 16)
    assert heap.free(first)
    assert not heap.free(first)
    assert heap.free(0)
    assert heap.allocate(500)
    heap.release()
    assert memory.used == 0


def test_registered_ranges_that_share_16_bytes() -> None:
    ints = np.zeros(32, np.uint32)
    first = ints.ctypes.data + -ints.ctypes.data % 16
    ranges = [RegisteredMemory(first + at, 24, label="") for at in (0, 24)]

    def with_ranges(*arguments: Any, memories: list[Memory], **options: Any) -> None:
        execute(*arguments, memories=[*memories, *ranges], **options)

    device = Device(
        ".visible .entry k(.param .u64 p) { .reg .b64 %x; .reg .b32 %t; ld.param.u64 %x, [p];"
        " mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x; st.global.u32 [%x], %t; ret; }",
        execute=with_ranges,
    )
    device.launch("k", (1,), (12,), first)
    start = (first - ints.ctypes.data) // 4
    assert list(ints[start : start + 12]) == list(range(12))


def test_a_repeated_launch_keeps_what_the_host_did_meanwhile(memory: Memory) -> None:
    heap = DeviceHeap(memory, 1000)
    kept, ended, block = memory.allocate(16), memory.allocate(16), heap.allocate(32)
    memory.bytes_at(kept, 16)[:] = 1
    memory.bytes_at(block, 32)[:] = 2
    restore = snapshot([memory], heap)
    memory.bytes_at(kept, 16)[:] = 9
    heap.free(block)
    lost = heap.allocate(64)
    memory.free(ended)
    made = memory.allocate(16)
    memory.bytes_at(made, 16)[:] = 3
    restore()
    found = [memory.bytes_at(address, 1)[0] for address in (kept, block, made)]
    assert found == [1, 2, 3]
    assert memory.find(ended) is memory.find(lost) is None
    assert memory.used == 16 + 32 + 16


def test_a_repeated_launch_has_the_same_addresses(memory: Memory) -> None:
    heap = DeviceHeap(memory, 1000)
    memory.allocate(16)
    restore = snapshot([memory], heap)
    first = heap.allocate(64)
    restore()
    assert heap.allocate(64) == first


def test_blocks_are_restored_where_others_had_their_addresses(memory: Memory) -> None:
    heap = DeviceHeap(memory, 1000)
    before = snapshot([memory], heap)
    block = heap.allocate(64)
    memory.bytes_at(block, 64)[:] = 1
    after = snapshot([memory], heap)
    before()
    assert heap.allocate(64) == block
    after()
    assert memory.used == 64
    assert memory.bytes_at(block, 1)[0] == 1
    assert heap.free(block)
    assert memory.find(block) is None


def test_what_the_host_frees_meanwhile_is_known_as_freed(memory: Memory) -> None:
    ended = memory.allocate(16)
    restore = snapshot([memory], None)
    memory.free(ended)
    restore()
    assert memory.find_freed(ended) is not None


def test_copies_that_are_made_meanwhile_are_kept(memory: Memory) -> None:
    place = memory.allocate(16)
    restore = snapshot([memory], None, keeps_copies=True)
    found = memory.find(place)
    assert found is not None
    found.bytes[:] = 1  # a kernel
    memory.bytes_at(place + 4, 4, to_write=True)[:] = 2  # a copy of another stream
    restore()
    assert memory.bytes_at(place, 16).tolist() == [0] * 4 + [2] * 4 + [0] * 8
    restore = snapshot([memory], None, keeps_copies=True)
    memory.bytes_at(place, 1, to_write=True)[:] = 3
    restore(restores=False)
    assert found.copied is None
