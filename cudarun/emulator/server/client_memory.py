"""The memory of the program: read and written from the server, or shared with it.

Pageable memory is copied by process_vm_readv(2) and process_vm_writev(2), or by the program itself
where the system forbids that. Page-locked and managed memory is an arena: a file in memory that
both map. So are the pages of registered memory, which replace the program's own.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.host.addresses import Bytes, HostAccess, RemoteBytes
from cudarun.emulator.host.devices import memory_size
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.memory import map_at, reserved_bytes

BASE = 0x4000_0000_0000
"""The address of the arena in the program, where neither the loader nor sanitizers map anything."""

_END = 1 << 47  # of the addresses of a program
_REGISTERED = 64 << 30  # bytes of address space for registered memory
_PAGE = mmap.PAGESIZE
_MOST_ROWS = 1024  # IOV_MAX
_FORBIDDEN = (errno.EPERM, errno.ENOSYS)  # by ptrace(2)'s rules, or by a container
_SCRATCH = 1 << 20  # bytes of the part of the arena by which the program copies
_STEP = 256  # bytes of a text that are read at once
_FLAGS = mmap.MAP_SHARED | 0x4000  # MAP_NORESERVE
_FIXED = mmap.MAP_SHARED | 0x10  # MAP_FIXED
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4010  # MAP_NORESERVE, MAP_FIXED
_Copy = Callable[[int, ctypes.c_void_p, int, ctypes.c_void_p, int, int], int]


def _copying(name: str) -> _Copy:
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    function.restype = ctypes.c_ssize_t
    vector = ctypes.c_void_p, ctypes.c_ulong
    function.argtypes = [ctypes.c_int, *vector, *vector, ctypes.c_ulong]
    return function  # type: ignore[no-any-return]


_readv, _writev = _copying("process_vm_readv"), _copying("process_vm_writev")


def _pages(address: int, size: int) -> tuple[int, int]:
    """Return address and size of the pages of a range."""
    start = address // _PAGE * _PAGE
    return start, -(-(address + size) // _PAGE) * _PAGE - start


class ClientMemory(HostAccess):
    """The memory of a process.

    Args:
        ask: Sends a message to the calling thread of the process, and returns the answer.
        callback: Calls a function of the process: its kind, address and arguments.
    """

    def __init__(
        self,
        pid: int,
        ask: Callable[..., int],
        callback: Callable[[int, int, tuple[int, ...]], int],
    ) -> None:
        self._pid = pid
        self._ask = ask
        self._callback = callback
        self.reserved = reserved_bytes(memory_size())
        self.size = self.reserved + _REGISTERED
        self.file = os.memfd_create("cudarun-arena")
        os.ftruncate(self.file, self.size)
        self._map = mmap.mmap(self.file, self.size, flags=_FLAGS)
        self._arenas: list[mmap.mmap] = []
        self._bytes = np.frombuffer(self._map, np.uint8)
        self._next = self.reserved + _SCRATCH
        self._placed: dict[bytes, int] = {}
        self._place_lock = threading.Lock()  # of `_next` and `_placed`
        self._scratch_lock = threading.Lock()
        self._is_forbidden = False
        # Registered pages: address, size and offset in the arena; ranges can share a page with
        # each other, their first or last one, which has one offset and the number of its ranges.
        self._registered: list[tuple[int, int, int]] = []
        self._edges: dict[int, tuple[int, int]] = {}

    def arena(self, size: int) -> tuple[mmap.mmap, int]:
        """Return the memory that is shared with the program, and its address there."""
        self._arenas.append(mmap.mmap(self.file, size, flags=_FLAGS))
        return self._arenas[-1], BASE

    def isolate(self) -> None:
        """Replace the shared memory by private memory with the same contents, in a copy."""
        for each in (self._map, *self._arenas):
            view = np.frombuffer(each, np.uint8)
            parts = [(at, view[at:end].copy()) for at, end in self._written(len(view))]
            access = mmap.PROT_READ | mmap.PROT_WRITE
            map_at(view.ctypes.data, len(view), access, _PRIVATE, -1, 0)
            for at, contents in parts:
                view[at : at + len(contents)] = contents

    def _written(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of the arena that have contents."""
        end = 0
        while end < size:
            try:
                start = os.lseek(self.file, end, os.SEEK_DATA)
            except OSError:  # there is none
                return
            end = os.lseek(self.file, start, os.SEEK_HOLE)
            if start < size:
                yield start, min(end, size)

    def memory(self, address: int, size: int) -> Bytes | RemoteBytes:
        """Return shared memory as it is, other memory to be copied."""
        offset = address - BASE
        if 0 <= offset < self.reserved:
            return self._bytes[offset : offset + size]
        for start, length, place in self._registered:
            if start <= address and address + size <= start + length:
                return self._bytes[place + address - start :][:size]
        return RemoteBytes(self._transfer, address, (size,), (1,))

    def read(self, address: int, size: int) -> bytes:
        """Return a copy of memory; `Refusal` if it cannot be read."""
        refuse_if(address + size > _END, f"{size} bytes at {address:#x} cannot be read")
        found = np.empty(size, np.uint8)
        if size:
            self._transfer(found, np.array([[address, size]], np.uint64), False)
        return found.tobytes()

    def text(self, address: int) -> bytes:
        """Return the text at an address; it may end with its page."""
        found = b""
        while b"\0" not in found:
            at = address + len(found)
            found += self.read(at, min(_STEP, _PAGE - at % _PAGE))
        return found.partition(b"\0")[0]

    def write(self, address: int, data: bytes) -> None:
        """Write memory."""
        place = np.array([[address, len(data)]], np.uint64)
        self._transfer(np.frombuffer(data, np.uint8), place, True)

    def _transfer(self, own: Bytes, places: npt.NDArray[np.uint64], writes: bool) -> None:
        """Copy between an array and ranges of the program's memory.

        Args:
            own: The array, contiguous.
            places: Address and size of each range.
            writes: Whether the ranges are written, and not read.

        Raises:
            Refusal: The program cannot access them.
        """
        own, copy = own.reshape(-1), _writev if writes else _readv
        at = first_byte = own.ctypes.data
        for first in range(0, len(places), _MOST_ROWS):
            part = np.ascontiguousarray(places[first : first + _MOST_ROWS])
            size = int(part[:, 1].sum())
            mine = np.array([at, size], np.uint64)
            vectors = ctypes.c_void_p(mine.ctypes.data), 1, ctypes.c_void_p(part.ctypes.data)
            is_done = not self._is_forbidden and copy(self._pid, *vectors, len(part), 0) == size
            if self._is_forbidden or (not is_done and ctypes.get_errno() in _FORBIDDEN):
                self._is_forbidden = True
                self._callback(_START, 0, ())
                is_done = self._by_program(own[at - first_byte :][:size], part, writes)
            if not is_done and ctypes.get_errno() != errno.ESRCH:  # else the program has ended
                address, length = map(int, part[0])
                raise Refusal(
                    "INVALID_VALUE", f"{length} bytes at {address:#x} are no memory of the program"
                )
            at += size

    def _by_program(self, own: Bytes, places: npt.NDArray[np.uint64], writes: bool) -> bool:
        """Have the program copy ranges of its memory to or from a part of the arena."""
        at = 0
        with self._scratch_lock:
            for address, size in places.tolist():
                for done in range(0, size, _SCRATCH):
                    part = own[at + done : at + min(done + _SCRATCH, size)]
                    scratch = self._bytes[self.reserved :][: len(part)]
                    if writes:
                        scratch[:] = part
                    kind = _COPY_IN if writes else _COPY_OUT
                    if self._callback(kind, address + done, (len(part), self.reserved)):
                        return False
                    if not writes:
                        part[:] = scratch
                at += size
        return True

    def path(self, name: str) -> str:
        """Return the path of a file that the program names."""
        return os.path.join(f"/proc/{self._pid}/cwd", name)

    def place(self, data: bytes) -> int:
        """Put bytes where the program can read them, once; return the address there."""
        with self._place_lock:
            if data not in self._placed:
                at, self._next = self._next, self._next + -(-len(data) // 64) * 64
                self._bytes[at : at + len(data)] = np.frombuffer(data, np.uint8)
                self._placed[data] = BASE + at
            return self._placed[data]

    def mapped(self, address: int, size: int) -> Bytes:
        """Replace pages of the program by pages of the arena, which have their contents."""
        start, length = _pages(address, size)
        with self._place_lock:
            place = -(-self._next // _PAGE) * _PAGE
            self._next = place + length
        edges = {start, start + length - _PAGE}
        first = start + _PAGE * (start in self._edges)
        last = start + length - _PAGE * (start + length - _PAGE in self._edges)
        is_full = place + length > self.size
        if is_full or (
            first < last and self._ask(_SHARE, first, last - first, place + first - start)
        ):
            raise Refusal("NOT_SUPPORTED", f"{size} bytes at {address:#x} cannot be shared")
        for page in edges:
            offset, count = self._edges.get(page, (place + page - start, 0))
            self._edges[page] = offset, count + 1
            if count:  # see the page of the other range here, too
                at = self._bytes.ctypes.data + place + page - start
                map_at(at, _PAGE, mmap.PROT_READ | mmap.PROT_WRITE, _FIXED, self.file, offset)
        self._registered.append((start, length, place))
        return self._bytes[place + address - start :][:size]

    def unmap(self, address: int, size: int) -> None:
        """Replace pages of the arena by the program's own."""
        start, length = _pages(address, size)
        [place, *_] = (row[2] for row in self._registered if row[:2] == (start, length))
        self._registered.remove((start, length, place))
        freed = [(start + _PAGE, length - 2 * _PAGE, place + _PAGE)]
        for page in {start, start + length - _PAGE}:
            offset, count = self._edges.pop(page)
            if count > 1:
                self._edges[page] = offset, count - 1
            else:
                freed.append((page, _PAGE, offset))
        for at, extent, offset in freed:
            if extent > 0:
                self._ask(_UNSHARE, at, extent)
                self._map.madvise(mmap.MADV_REMOVE, offset, extent)

    def function(self, address: int, result: Any, *arguments: Any) -> Callable[..., Any]:
        """Return a function that calls one of the program, in a thread of it."""
        kind = 2 if result is not None else len(arguments) > 1

        def call(*values: Any) -> int:
            return self._callback(int(kind), address, tuple(int(value or 0) for value in values))

        self._callback(_START, 0, ())
        return call


_SHARE, _UNSHARE = 3, 4  # of client.c
_START = -1  # see `connections`
_COPY_OUT, _COPY_IN = 3, 4  # kinds of callbacks
