"""Occupancy: resident blocks of a kernel per multiprocessor (driver API, section 6.24).

The arithmetic is that of the programming guide for compute capability 9.0. The number
of registers that ptxas would need is unknown: the estimate is so low that it never refuses a block
size that the kernel accepts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.program import KernelCode

_WARP = attribute_value("WARP_SIZE")
_THREADS = attribute_value("MAX_THREADS_PER_MULTIPROCESSOR")
_BLOCKS = attribute_value("MAX_BLOCKS_PER_MULTIPROCESSOR")
_REGISTERS = attribute_value("MAX_REGISTERS_PER_MULTIPROCESSOR")
_SHARED = attribute_value("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR")
_RESERVED_SHARED = attribute_value("RESERVED_SHARED_MEMORY_PER_BLOCK")
_MULTIPROCESSORS = attribute_value("MULTIPROCESSOR_COUNT")
_REGISTER_UNIT = 256  # the unit in which registers are allocated to a warp
_SHARED_UNIT = 128


def registers_per_thread(code: KernelCode) -> int:
    """Return an estimate with which a block of ``code.max_threads`` fits on a multiprocessor."""
    return min(code.registers, _REGISTERS // _round_up(code.max_threads, _WARP))


def most_registers(threads: int) -> int:
    """Return the most registers of a thread with which a block of so many threads fits."""
    warps = -(-threads // _WARP)
    return _REGISTERS // (warps * _REGISTER_UNIT) * (_REGISTER_UNIT // _WARP)


def blocks_per_multiprocessor(code: KernelCode, threads: int, dynamic_shared: int) -> int:
    """Return the number of resident blocks; 0 if not even one fits."""
    if threads > code.max_threads:
        return 0
    warps = -(-threads // _WARP)
    registers = warps * _round_up(registers_per_thread(code) * _WARP, _REGISTER_UNIT)
    shared = _round_up(code.static_shared + dynamic_shared + _RESERVED_SHARED, _SHARED_UNIT)
    return min(
        _BLOCKS,
        _THREADS // (warps * _WARP),
        _REGISTERS // max(registers, 1),
        _SHARED // shared,
    )


def best_block(
    code: KernelCode, dynamic_shared: Callable[[int], int], limit: int
) -> tuple[int, int]:
    """Return the smallest grid that fills the device, and the block size with maximum occupancy.

    Args:
        dynamic_shared: Bytes of dynamic shared memory that a block of so many threads needs.
        limit: The largest block wanted, or 0.
    """
    largest = min(code.max_threads, limit or code.max_threads)
    sizes = range(largest // _WARP * _WARP, 0, -_WARP) or (largest,)
    blocks = {size: blocks_per_multiprocessor(code, size, dynamic_shared(size)) for size in sizes}
    best = max(sizes, key=lambda size: (blocks[size] * size, size))
    return blocks[best] * _MULTIPROCESSORS, best


def dynamic_shared_for(code: KernelCode, blocks: int, threads: int, most: int) -> int:
    """Return the most dynamic shared memory with which ``blocks`` are resident per multiprocessor.

    It is a block's share; as on an H200 the memory reserved for each block is not subtracted, so
    that with this size fewer blocks may be resident.
    It is at most ``CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`` of the kernel.
    """
    if blocks_per_multiprocessor(code, threads, 0) < blocks:
        return 0
    share = _SHARED // blocks // _SHARED_UNIT * _SHARED_UNIT
    return max(0, min(share - code.static_shared, most))


def resident_blocks(code: KernelCode, threads: int, dynamic_shared: int) -> int:
    """Return the number of blocks that are resident on the whole device."""
    return _MULTIPROCESSORS * blocks_per_multiprocessor(code, threads, dynamic_shared)


def most_resident_blocks(code: KernelCode, threads: int, dynamic_shared: int) -> int:
    """Return the same, if registers were no limit: their number is an estimate."""
    return resident_blocks(replace(code, registers=0), threads, dynamic_shared)


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
