"""Occupancy: resident blocks of a kernel per multiprocessor (driver API, section 6.24).

The number of registers that ptxas would need is unknown: the estimate is so low that it never
refuses a block size that the kernel accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cudarun.base.profiles import WARP
from cudarun.base.records import replace
from cudarun.emulator.host.devices import current_profile
from cudarun.emulator.program import KernelCode

_MOST_PAIRS = 9  # of multiprocessors in a GPC, of which an H100 has eight
_MOST_CLUSTERED = 8  # blocks of clusters on a multiprocessor
_MOST_PORTABLE = 8  # blocks of a cluster that every GPC has room for
_H200_MULTIPROCESSORS = 132
_H200_GPCS = (18, 18, 16, 16, 16, 16, 16, 8)
"""The multiprocessors of each GPC that an H200 has for clusters of more than two blocks.

Found with `cuOccupancyMaxActiveClusters`; other GPUs of the model can have other ones."""


def registers_per_thread(code: KernelCode) -> int:
    """Return an estimate with which a block of ``code.max_threads`` fits on a multiprocessor."""
    return min(code.registers, current_profile().most_registers(code.max_threads))


def blocks_per_multiprocessor(code: KernelCode, threads: int, dynamic_shared: int) -> int:
    """Return the number of resident blocks; 0 if not even one fits."""
    if threads > code.max_threads:
        return 0
    shared = code.static_shared + dynamic_shared
    return current_profile().resident_blocks(threads, registers_per_thread(code), shared)


def clusters(resident: int, blocks: int) -> int:
    """Return the number of resident clusters of so many blocks, all of which are in one GPC.

    Args:
        resident: The number of resident blocks per multiprocessor.
        blocks: The number of blocks of a cluster.
    """
    resident, multiprocessors = min(resident, _MOST_CLUSTERED), current_profile().multiprocessors
    if blocks <= 2:
        return multiprocessors * resident // blocks
    sizes: Iterable[int] = _H200_GPCS
    if multiprocessors != _H200_MULTIPROCESSORS:  # as many pairs in each, or one more
        parts = -(-multiprocessors // 2 // _MOST_PAIRS)
        sizes = ((multiprocessors // 2 + part) // parts * 2 for part in range(parts))
    least = blocks if blocks > _MOST_PORTABLE else 0
    return sum(size * resident // blocks for size in sizes if size >= least)


def best_block(
    code: KernelCode, dynamic_shared: Callable[[int], int], limit: int
) -> tuple[int, int]:
    """Return the smallest grid that fills the device, and the block size with maximum occupancy.

    Args:
        dynamic_shared: Bytes of dynamic shared memory that a block of so many threads needs.
        limit: The largest block wanted, or 0.
    """
    largest = min(code.max_threads, limit or code.max_threads)
    sizes = range(largest // WARP * WARP, 0, -WARP) or (largest,)
    blocks = {size: blocks_per_multiprocessor(code, size, dynamic_shared(size)) for size in sizes}
    best = max(sizes, key=lambda size: (blocks[size] * size, size))
    return blocks[best] * current_profile().multiprocessors, best


def dynamic_shared_for(code: KernelCode, blocks: int, threads: int, most: int) -> int:
    """Return the most dynamic shared memory with which ``blocks`` are resident per multiprocessor.

    It is a block's share; as on an H200 the memory reserved for each block is not subtracted, so
    that with this size fewer blocks may be resident.
    It is at most ``CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`` of the kernel.
    """
    if blocks_per_multiprocessor(code, threads, 0) < blocks:
        return 0
    profile = current_profile()
    share = profile.shared // blocks // profile.shared_unit * profile.shared_unit
    return max(0, min(share - code.static_shared, most))


def resident_blocks(code: KernelCode, threads: int, dynamic_shared: int) -> int:
    """Return the number of blocks that are resident on the whole device."""
    return current_profile().multiprocessors * blocks_per_multiprocessor(
        code, threads, dynamic_shared
    )


def most_resident_blocks(code: KernelCode, threads: int, dynamic_shared: int) -> int:
    """Return the same, if registers were no limit: their number is an estimate."""
    return resident_blocks(replace(code, registers=0), threads, dynamic_shared)
