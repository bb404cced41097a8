"""Addresses that a worker keeps free of the driver's own memory until a recording needs them.

A driver reserves gigabytes of addresses when it starts. A mapping without access, made before,
keeps it from taking those of a recording (mmap(2)).
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from functools import cache

_FIXED_NOREPLACE, _NORESERVE = 0x100000, 0x4000  # Linux's MAP_*
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE | _FIXED_NOREPLACE

_kept_free: list[tuple[int, int]] = []


def keep_free(ranges: Sequence[tuple[int, int]]) -> None:
    """Map free ranges without access, by address and size in pages."""
    for address, size in ranges:
        found = _libc().mmap(address, size, 0, _FLAGS, -1, 0)
        if found == address:
            _kept_free.append((address, size))
        elif found != ctypes.c_void_p(-1).value:  # a kernel before 4.17, which ignores the flag
            _libc().munmap(found, size)


def release(address: int, size: int) -> None:
    """Unmap the part of a range that is kept free."""
    for start, length in _kept_free:
        first, end = max(start, address), min(start + length, address + size)
        if first < end:
            _libc().munmap(first, end - first)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int),
        *(ctypes.c_int, ctypes.c_int, ctypes.c_long),
    )
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return libc
