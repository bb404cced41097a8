"""How many blocks fit, and that an estimate of registers refuses none that hardware would take."""

import dataclasses

import pytest

from cudarun.emulator.host.occupancy import (
    best_block,
    blocks_per_multiprocessor,
    clusters,
    registers_per_thread,
    resident_blocks,
)
from cudarun.emulator.program import KernelCode

KERNEL = KernelCode(
    name="k",
    parameters=(),
    parameter_bytes=0,
    static_shared=0,
    local_bytes=0,
    registers=32,
    const_bytes=0,
    max_threads=1024,
    required_block=None,
    ptx_version=80,
)


def kernel(**changes):
    return dataclasses.replace(KERNEL, **changes)


@pytest.mark.parametrize(
    ("threads", "shared", "blocks"),
    [
        (1, 0, 32),
        (64, 0, 32),
        (65, 0, 21),
        (128, 0, 16),
        (1024, 0, 2),
        (32, 48 << 10, 4),
        (32, 227 << 10, 1),
        (32, 228 << 10, 0),
    ],
)
def test_blocks(threads, shared, blocks):
    assert blocks_per_multiprocessor(KERNEL, threads, shared) == blocks


def test_registers_limit_blocks():
    assert blocks_per_multiprocessor(kernel(registers=64), 128, 0) == 8
    assert blocks_per_multiprocessor(kernel(registers=33), 128, 0) == 12  # 40 are given


@pytest.mark.parametrize("most", [32, 100, 256, 1000, 1024])
def test_the_largest_block_always_fits(most):
    greedy = kernel(registers=255, max_threads=most)
    assert registers_per_thread(greedy) <= 255
    assert blocks_per_multiprocessor(greedy, most, 0) >= 1


def test_static_shared_memory_counts():
    assert blocks_per_multiprocessor(kernel(static_shared=47 << 10), 32, 1 << 10) == 4


def test_a_block_that_the_kernel_does_not_take():
    assert blocks_per_multiprocessor(kernel(max_threads=64), 65, 0) == 0


def test_the_whole_device():
    assert resident_blocks(KERNEL, 1024, 0) == 2 * 132


def test_the_best_block():
    assert best_block(KERNEL, lambda threads: 0, 0) == (2 * 132, 1024)
    assert best_block(KERNEL, lambda threads: 0, 200)[1] <= 200
    assert best_block(kernel(max_threads=20), lambda threads: 0, 0)[1] == 20
    grid, block = best_block(KERNEL, lambda threads: threads * 200, 0)
    assert grid // 132 * block == max(
        size * blocks_per_multiprocessor(KERNEL, size, size * 200) for size in range(32, 1025, 32)
    )


@pytest.mark.parametrize(
    ("resident", "found"),
    [
        (8, [1056, 528, 327, 248, 193, 163, 139, 124, 58]),
        (5, [660, 330, 203, 154, 124, 101, 84, 77, 35]),
        (4, [528, 264, 163, 124, 94, 79, 69, 62, 28]),
        (2, [264, 132, 79, 62, 47, 39, 32, 30, 14]),
        (1, [132, 66, 39, 30, 22, 17, 15, 15, 7]),
    ],
)
def test_clusters_as_an_h200_has_them(resident, found):
    """By ``cuOccupancyMaxActiveClusters``, of blocks that fit so often."""
    assert [clusters(resident, blocks) for blocks in (1, 2, 3, 4, 5, 6, 7, 8, 16)] == found
    assert clusters(resident + 8, 2) == clusters(8, 2)
