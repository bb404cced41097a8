"""Memory and events that the processes of a program share: driver API, section 6.13 (``cuIpc…``).

Each process has a server with devices of its own. A handle names a file in memory of the exporting
one, which another one opens. A device's memory becomes such a file when it is first exported.
"""

from __future__ import annotations

import mmap
import os
import struct
import weakref

from cudarun.base.records import dataclass
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.virtual_memory import PhysicalMemory
from cudarun.emulator.memory import SHARED_FILE

_HANDLE = struct.Struct("=4I3Q24x")  # magic, kind, process, descriptor, offset, size, number
_MAGIC = 0x43495043
MEMORY, EVENT = range(2)
_SUBMITTED, _DONE, _PROCESS = range(3)  # of `SharedCounts`
_FILE = "cudarun-event"
COUNTS_BYTES = 24


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A part of a file that another process exports."""

    kind: int  # `MEMORY` or `EVENT`
    process: int
    descriptor: int
    offset: int
    size: int
    number: int  # unique in the exporting process

    def handle(self) -> bytes:
        """Return the 64 bytes that name it."""
        values = self.kind, self.process, self.descriptor, self.offset, self.size, self.number
        return _HANDLE.pack(_MAGIC, *values)

    def open(self) -> int:
        """Open the file; `Refusal` if the process has ended, or it is another file."""
        path = f"/proc/{self.process}/fd/{self.descriptor}"
        try:
            is_ours = os.readlink(path).startswith((f"/memfd:{SHARED_FILE}", f"/memfd:{_FILE}"))
            found = os.open(path, os.O_RDWR) if is_ours else -1
        except OSError as error:
            raise Refusal("MAP_FAILED", f"{path}: {error.strerror}") from None
        if found >= 0 and os.fstat(found).st_size < self.offset + self.size:
            os.close(found)
            found = -1
        refuse_if(found < 0, "the handle was not exported")
        return found


def exported_file(handle: bytes, kind: int) -> ExportedFile:
    """Return what a handle names; `Refusal` if it is no handle of this kind, or of this process."""
    magic, *values = _HANDLE.unpack(handle)
    found = ExportedFile(*values)
    refuse_if(magic != _MAGIC or found.kind != kind, "it is not a handle that was exported")
    if found.process == os.getpid():
        raise Refusal("INVALID_CONTEXT", "the handle belongs to the same process")
    return found


@dataclass(eq=False)
class ImportedMemory(PhysicalMemory):
    """Memory of a device of another process; ``size`` is that of whole pages."""

    uses: int = 0
    label: str = "cuIpcOpenMemHandle"

    def __post_init__(self) -> None:
        self.retained = 0

    def end_if_unused(self, handles: object) -> None:
        """Close the file."""
        if not self.mapped:
            os.close(self.descriptor)


class SharedCounts:
    """The numbers of the records of an event, by any process."""

    def __init__(self, descriptor: int = -1) -> None:
        if descriptor < 0:
            descriptor = os.memfd_create(_FILE)
            os.ftruncate(descriptor, COUNTS_BYTES)
        self.descriptor = descriptor  # the file with the counts; a new one by default
        self._counts = memoryview(mmap.mmap(descriptor, COUNTS_BYTES)).cast("Q")
        weakref.finalize(self, os.close, descriptor)

    def submit(self) -> int:
        """Count a record; return its number."""
        self._counts[_PROCESS] = os.getpid()
        self._counts[_SUBMITTED] += 1
        return self.last()

    def complete(self, number: int) -> None:
        """Note that a record is done."""
        self._counts[_DONE] = max(number, self._counts[_DONE])

    def last(self) -> int:
        """Return the number of the last record."""
        return self._counts[_SUBMITTED]

    def has_done(self, number: int) -> bool:
        """Return whether a record is done, or the process has ended that submitted the last one."""
        counts = self._counts
        return counts[_DONE] >= number or not os.path.exists(f"/proc/{counts[_PROCESS]}")
