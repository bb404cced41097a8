"""The memory of an emulated device: one arena, its allocations, and its freed ranges.

An arena is a reservation of address space that the operating system fills with zero pages on first
access, viewed as numpy arrays. Device addresses are numbers from ``base`` up, never host addresses.
There is a gap between two allocations, and bounds are the exact requested sizes, so that an access
one byte out of bounds is detected. Addresses are not reused before the arena is used up, so that a
freed pointer is recognized as such.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import field
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.base.records import dataclass
from cudarun.emulator.numerics.arrays import Array, DType

UNDEFINED_BYTE = 0xFF
"""What memory of blocks and of the heap of kernels contains until it is written: NaN as a float of
every type, and -1, so that a result that was computed from it is not the expected one."""

READ_UNWRITTEN = 2
"""Is added to the mark of a byte that is read before anything writes it, and stays."""

_MAP_FIXED = 0x10
map_at = ctypes.CDLL(None, use_errno=True).mmap  # with an address, unlike the module
map_at.restype = ctypes.c_void_p
map_at.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
MAP_FAILED = ctypes.c_void_p(-1).value
_MAP_NORESERVE = 0x4000
_GAP = 256
_PAGE = mmap.PAGESIZE
_FREED_REMEMBERED = 4096


class OutOfMemory(Exception):
    """The allocation exceeds the capacity (CUDA_ERROR_OUT_OF_MEMORY)."""


class InvalidAddress(Exception):
    """A host access that is not inside one live allocation."""


@dataclass(slots=True, eq=False)
class Allocation:
    """One allocation."""

    base: int  # the first device address
    size: int  # bytes, exactly as requested
    label: str  # a description for reports: ``cuMemAlloc``, ``variable counter``
    bytes: Array = field(repr=False)  # its memory, a uint8 view of the arena
    live: bool = True  # False once it has been freed
    # 1 for every uninitialized byte, plus 2 where one has been read; ``None`` if not tracked.
    unwritten: Array | None = field(default=None, repr=False)
    # 1 for every byte that the interpreter has not written since a `snapshot`.
    unchanged: Array | None = field(default=None, repr=False)
    # What copies and fills have written since a `snapshot` that keeps it.
    copied: list[slice] | None = field(default=None, repr=False)
    _views: dict[DType, Array] = field(default_factory=dict, repr=False)

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.base + self.size

    def view(self, dtype: DType) -> Array:
        """Return the memory as an array of ``dtype``, without a tail smaller than one item."""
        view = self._views.get(dtype)
        if view is None:
            whole = self.size // dtype.itemsize * dtype.itemsize
            view = self._views[dtype] = self.bytes[:whole].view(dtype)
        return view


@dataclass(frozen=True, slots=True)
class Freed:
    """A freed range."""

    base: int
    size: int
    label: str


_base = attrgetter("base")

SHARED_FILE = "cudarun-memory"
"""The name of files in memory that other processes can map."""


def map_fixed(address: int, size: int, file: int, offset: int = 0) -> None:
    """Map a part of a file in place of what is at an address."""
    access, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | _MAP_FIXED
    if map_at(address, size, access, flags, file, offset) == MAP_FAILED:
        raise OutOfMemory(f"{size} bytes cannot be mapped: {os.strerror(ctypes.get_errno())}")


class Memory:
    """Device memory, or the one memory that holds managed and host-mapped allocations."""

    _advice = mmap.MADV_DONTNEED

    def __init__(self, base: int, capacity: int) -> None:
        self.base = base  # the first device address; a multiple of 2 MiB, not 0
        self.capacity = capacity  # the number of bytes that can be allocated at one time
        self.notes_writes = False  # track uninitialized bytes in new allocations
        self.tracks_bytes = False  # whether an allocation has had bytes to track
        self.used = 0
        self._reserved = 0
        self._file = -1  # the memory, once it is shared
        self._arena: Array = np.empty(0, dtype=np.uint8)
        self._live: list[Allocation] = []  # by base
        self._freed: deque[Freed] = deque(maxlen=_FREED_REMEMBERED)
        self._table: tuple[Array, Array] | None = None
        self._top = base
        self._unused = 0  # the offset of the first page that is in use since all were returned
        self._lock = threading.Lock()

    def _reserve(self) -> None:
        """Reserve the addresses, at the first allocation: a limit of them counts those, too."""
        size = reserved_bytes(self.capacity)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        try:
            self._map = mmap.mmap(-1, size, flags=flags)
        except OSError:
            raise OutOfMemory(
                f"{size} bytes of address space cannot be reserved (ulimit -v)"
            ) from None
        self._arena = np.frombuffer(self._map, dtype=np.uint8)
        self._reserved = size

    def end(self) -> None:
        """Return all addresses, before the memory is dropped; cycles could keep them."""
        if self._reserved:
            self._live.clear()
            self._arena, self._reserved = np.empty(0, dtype=np.uint8), 0
            del self._map
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def addresses(self) -> tuple[int, int]:
        """Return the first of the addresses that are reserved for it, and their end."""
        return self.base, self.base + reserved_bytes(self.capacity)

    def share(self) -> int:
        """Move the memory to a file that other processes can map; return its descriptor."""
        with self._lock:
            if self._file < 0:
                file = os.memfd_create(SHARED_FILE)
                os.ftruncate(file, self._reserved)
                part = mmap.mmap(file, self._reserved, flags=mmap.MAP_SHARED | _MAP_NORESERVE)
                moved = np.frombuffer(part, dtype=np.uint8)
                for each in self._live:
                    moved[each.base - self.base :][: each.size] = each.bytes
                map_fixed(self._arena.ctypes.data, self._reserved, file)
                self._file, self._advice = file, mmap.MADV_REMOVE
            return self._file

    def allocate(
        self,
        size: int,
        *,
        alignment: int = 512,
        label: str = "cuMemAlloc",
        defined: bool = True,
        at: int | None = None,
    ) -> int:
        """Reserve ``size`` bytes (at least one) and return the address; the memory reads as zero.

        Args:
            label: A description for reports.
            defined: Count the contents as initialized.
            at: The address of memory that was allocated and freed before.
        """
        with self._lock:
            if size <= 0:
                raise ValueError(f"invalid allocation size: {size} bytes")
            if self.used + size > self.capacity:
                raise OutOfMemory(f"{size} bytes requested, {self.capacity - self.used} free")
            if not self._reserved:
                self._reserve()
            if at is None:
                address = self._place(size, max(alignment, 16))
            elif any(each.base < at + size and at < each.end for each in self._live):
                raise OutOfMemory(f"{size} bytes at {at:#x} are in use")
            else:
                address = self._clear(at, size)
            start = address - self.base
            allocation = Allocation(address, size, label, self._arena[start : start + size])
            if self.notes_writes and not defined:
                allocation.unwritten = np.ones(size, dtype=np.uint8)
                self.tracks_bytes = True
            self._live.insert(bisect_right(self._live, address, key=_base), allocation)
            self._table = None
            self.used += size
            return address

    def _place(self, size: int, alignment: int) -> int:
        address = _round_up(self._top, alignment)
        if address + size + _GAP <= self.base + self._reserved:
            self._top = address + size + _GAP
            return address
        previous_end = self.base
        for allocation in self._live:
            address = _round_up(previous_end + _GAP, alignment)
            if address + size + _GAP <= allocation.base:
                return self._clear(address, size)
            previous_end = allocation.end
        address = _round_up(previous_end + _GAP, alignment)
        if address + size + _GAP <= self.base + self._reserved:
            return self._clear(address, size)
        raise OutOfMemory(f"no contiguous range of {size} bytes is free")

    def _clear(self, address: int, size: int) -> int:
        """Zero a reused range and remove it from the freed ranges."""
        self._arena[address - self.base : address - self.base + size] = 0
        kept = [f for f in self._freed if f.base + f.size <= address or f.base >= address + size]
        self._freed = deque(kept, maxlen=_FREED_REMEMBERED)
        return address

    def free(self, address: int) -> bool:
        """Free the allocation that starts at ``address``; return ``False`` if there is none."""
        with self._lock:
            index = bisect_right(self._live, address, key=_base) - 1
            if index < 0 or self._live[index].base != address:
                return False
            allocation = self._live.pop(index)
            allocation.live = False
            self._table = None
            self.used -= allocation.size
            self._freed.append(Freed(allocation.base, allocation.size, allocation.label))
            self._give_back(allocation)
            return True

    def _give_back(self, allocation: Allocation) -> None:
        """Return whole pages to the operating system; they read as zero afterwards."""
        first = _round_up(allocation.base - self.base, _PAGE)
        last = (allocation.end - self.base) // _PAGE * _PAGE
        if not self._live:  # also those that small allocations shared
            first, last = self._unused, _round_up(self._top - self.base, _PAGE)
            self._unused = last - _PAGE
        if last > first:
            self._map.madvise(self._advice, first, last - first)

    def find(self, address: int) -> Allocation | None:
        """Return the live allocation that contains ``address``."""
        index = bisect_right(self._live, address, key=_base) - 1
        if index >= 0:
            allocation = self._live[index]
            if address < allocation.end:
                return allocation
        return None

    def table(self) -> tuple[Array, Array]:
        """Return base and size of all live allocations, by address, as arrays for searches."""
        with self._lock:
            if self._table is None:
                bases = np.array([a.base for a in self._live], dtype=np.uint64)
                sizes = np.array([a.size for a in self._live], dtype=np.uint64)
                self._table = bases, sizes
            return self._table

    def view(self, dtype: DType) -> Array:
        """Return the whole arena as an array of ``dtype``; it begins at ``base``."""
        return self._arena.view(dtype)

    def reserves(self, addresses: Array) -> npt.NDArray[np.bool_]:
        """Return which addresses are in the address range of this memory."""
        return addresses - np.uint64(self.base) < self._reserved

    def find_freed(self, address: int) -> Freed | None:
        """Return the latest freed range that contained ``address``."""
        for freed in reversed(self._freed):
            if freed.base <= address < freed.base + freed.size:
                return freed
        return None

    def neighbors(
        self, address: int, skipped: Collection[int] = ()
    ) -> tuple[Allocation | None, Allocation | None]:
        """Return the live allocations before and after an address outside of all.

        Args:
            skipped: The addresses of allocations that do not count.
        """
        index = bisect_right(self._live, address, key=_base)
        before = (each for each in reversed(self._live[:index]) if each.base not in skipped)
        after = (each for each in self._live[index:] if each.base not in skipped)
        return next(before, None), next(after, None)

    def mark_unwritten(self, address: int, size: int) -> None:
        """Count bytes of one allocation as never written, whatever they contain."""
        allocation = self._containing(address, size)
        if allocation.unwritten is None:
            allocation.unwritten = np.zeros(allocation.size, dtype=np.uint8)
            self.tracks_bytes = True
        start = address - allocation.base
        allocation.unwritten[start : start + size] = 1

    def unwritten_at(self, address: int, size: int) -> Array:
        """Return the marks of bytes: 1 if never written, and `READ_UNWRITTEN`."""
        allocation = self._containing(address, size)
        if allocation.unwritten is None:
            return np.zeros(size, dtype=np.uint8)
        start = address - allocation.base
        return allocation.unwritten[start : start + size]

    def _containing(self, address: int, size: int) -> Allocation:
        allocation = self.find(address)
        if allocation is None or address + size > allocation.end:
            raise InvalidAddress(f"{size} bytes at {address:#x}")
        return allocation

    def contents(self) -> list[Array]:
        """Return the bytes of all allocations."""
        return [each.bytes for each in self._live]

    def snapshot(self, *, tracks: bool = False, keeps_copies: bool = False) -> Callable[..., None]:
        """Return a function that restores the contents of allocations that are left, if it is to.

        Args:
            tracks: Restore only what the interpreter writes: others can write meanwhile.
            keeps_copies: Do not restore what copies and fills of other streams write.
        """
        live, top = [*self._live], self._top
        contents = [
            (each, each.bytes.copy(), None if each.unwritten is None else each.unwritten.copy())
            for each in live
        ]
        for each in live:
            if tracks:
                each.unchanged = np.ones(each.size, dtype=np.uint8)
                self.tracks_bytes = True
            each.copied = [] if keeps_copies else None

        def end(*, restores: bool = True) -> None:
            if restores and not tracks:
                with self._lock:
                    if not self._live or self._live[-1].end <= top:  # else the host allocated more
                        self._arena[top - self.base : max(self._top, top) - self.base] = 0
                        self._top = top
                        freed = (each for each in self._freed if each.base < top)
                        self._freed = deque(freed, maxlen=_FREED_REMEMBERED)
            for each, data, unwritten in contents:
                copied, each.copied = each.copied or (), None
                kept = [(part, each.bytes[part].copy()) for part in copied]
                if restores and each.live:
                    bytes_ = slice(None) if each.unchanged is None else each.unchanged == 0
                    each.bytes[bytes_] = data[bytes_]
                    if each.unwritten is not None and unwritten is not None:
                        each.unwritten[bytes_] = unwritten[bytes_]
                    for part, own in kept:
                        each.bytes[part] = own
                        if each.unwritten is not None:
                            each.unwritten[part] = 0
                each.unchanged = None

        return end

    def revive(self, allocation: Allocation) -> None:
        """Undo that an allocation was freed; all its bytes count as written."""
        with self._lock:
            self._live.insert(bisect_right(self._live, allocation.base, key=_base), allocation)
            kept = (each for each in self._freed if each.base != allocation.base)
            self._freed = deque(kept, maxlen=_FREED_REMEMBERED)
            self._table = None
            self.used += allocation.size
            allocation.live = True
            if allocation.unchanged is not None:
                allocation.unchanged[:] = 0

    def bytes_at(self, address: int, size: int, *, to_write: bool = False) -> Array:
        """Return a view of the bytes from ``address``, to read, or to write all of it.

        Raises:
            InvalidAddress: They are not inside one live allocation.
        """
        allocation = self._containing(address, size)
        start = address - allocation.base
        if to_write and allocation.unwritten is not None:
            allocation.unwritten[start : start + size] = 0
        if to_write and allocation.copied is not None:
            allocation.copied.append(slice(start, start + size))
        return allocation.bytes[start : start + size]


Exchange = Callable[[int, int, int, int], int]
exchange: Exchange | None = None
"""Compares and swaps memory that another process shares: address, size, old and new value."""


def exchange_by(function: Exchange) -> None:
    """Make operations of the system's scope atomic for another process, by a function."""
    global exchange
    exchange = function


def reserved_bytes(capacity: int) -> int:
    """Return the bytes of address space that are reserved for a memory."""
    return _round_up(2 * capacity + (1 << 24), _PAGE)


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


_UNITS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def unwritten_units(unwritten: Array, offsets: Array, size: int) -> tuple[Array, list[Array]]:
    """Return accesses of ``size`` bytes as units of an array: array, first units, second ones.

    Args:
        unwritten: 1 for every byte that was never written.
        offsets: Per lane, the first byte; a multiple of the size.
        size: Bytes, a power of two.
    """
    unit = min(size, 8)
    whole = len(unwritten) // unit * unit
    first = offsets >> (unit.bit_length() - 1)
    return unwritten[:whole].view(_UNITS[unit]), [first + n for n in range(size // unit)]


def mark_written(unwritten: Array, offsets: Array, size: int) -> None:
    """Mark the bytes of accesses as written."""
    units, places = unwritten_units(unwritten, offsets, size)
    for place in places:
        units[place] &= _each_byte(units, READ_UNWRITTEN)


def mark_read(unwritten: Array, offsets: Array, size: int) -> None:
    """Mark the bytes of accesses as read if nothing has written them."""
    units, places = unwritten_units(unwritten, offsets, size)
    for place in places:
        units[place] |= (units[place] & _each_byte(units, 1)) * READ_UNWRITTEN


def _each_byte(units: Array, value: int) -> Any:
    return units.dtype.type(int.from_bytes(bytes([value]) * units.itemsize, "little"))
