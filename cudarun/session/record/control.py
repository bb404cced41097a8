"""The page that the parent shares with the recorded processes: ``native/control.h``.

They ask a service which kernels to record, and for the variables of an image.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from pathlib import Path

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

_MAGIC = b"CUDARUN1"
_NAME_BYTES = 4096
_SLOTS = 64
_MOST = 1 << 20  # bytes of a question
_LONGEST = 107  # bytes of a socket's path (unix(7))


class RecordMode(IntEnum):
    """The task of the library in the program."""

    LIST = 1
    RECORD = 2
    WATCH = 3  # wait for each launch, so that a fault names its launch
    SKIP = 4  # launch only the kernels of PyTorch itself


class _Slot(ctypes.Structure):
    _fields_ = [
        ("started_ns", ctypes.c_uint64),
        ("ordinal", ctypes.c_uint64),
        ("process", ctypes.c_uint32),
        ("padding", ctypes.c_uint32),
        ("kernel", ctypes.c_char * (_NAME_BYTES - 24)),
    ]


class _Control(ctypes.Structure):
    _fields_ = [
        ("magic", ctypes.c_char * 8),
        ("mode", ctypes.c_uint32),
        ("each_kernel", ctypes.c_uint32),
        ("nth", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("max_bytes", ctypes.c_uint64),
        ("matched", ctypes.c_uint64),
        ("taken", ctypes.c_uint64),
        ("fault_claimed", ctypes.c_uint32),
        ("fault_status", ctypes.c_uint32),
        ("fault_ordinal", ctypes.c_uint64),
        ("padding", ctypes.c_char * (_NAME_BYTES - 72)),
        ("fault_kernel", ctypes.c_char * _NAME_BYTES),
        ("slots", _Slot * _SLOTS),
    ]


@dataclass(frozen=True, slots=True)
class FaultyLaunch:
    """A launch that faulted, or that does not end."""

    kernel: str
    ordinal: int  # the number of the launch among those of the kernel in its process
    status: int | None  # the driver's error; ``None`` if it does not end


class ControlPage:
    """The shared page.

    Args:
        path: The file to create.
        nth: The first launch to record, from 1.
        count: The number of launches to record.
        max_bytes: The most memory of a recording.
        each_kernel: Count the launches of each kernel on their own.
    """

    def __init__(
        self,
        path: Path,
        mode: RecordMode,
        *,
        nth: int = 1,
        count: int = 1,
        max_bytes: int = 0,
        each_kernel: bool = False,
    ) -> None:
        size = ctypes.sizeof(_Control)
        with open(path, "xb+") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a page without room would end the program
            self._map = mmap.mmap(file.fileno(), size)
        self._page = _Control.from_buffer(self._map)
        self._page.magic = _MAGIC
        self._page.mode = mode
        self._page.each_kernel = each_kernel
        self._page.nth, self._page.count, self._page.max_bytes = nth, count, max_bytes

    def skip(self) -> None:
        """Skip the kernels of the program from now on."""
        self._page.mode = RecordMode.SKIP

    @property
    def matched(self) -> int:
        """The number of launches of matching kernels."""
        return int(self._page.matched)

    @property
    def fault(self) -> FaultyLaunch | None:
        """The first launch that faulted."""
        page = self._page
        if not page.fault_status:
            return None
        kernel = page.fault_kernel.decode(errors="replace")
        return FaultyLaunch(kernel, page.fault_ordinal, page.fault_status)

    def hanging(self, now_ns: int, limit: float) -> FaultyLaunch | None:
        """Return a launch for which a thread has waited longer than ``limit`` seconds."""
        for slot in self._page.slots:
            if slot.started_ns and now_ns - slot.started_ns > limit * 1e9:
                return FaultyLaunch(slot.kernel.decode(errors="replace"), slot.ordinal, None)
        return None


class RecordService:
    """A thread that answers the processes of the recorded program.

    It is a context manager: leaving it ends the thread.
    """

    def __init__(
        self,
        folder: Path,
        wanted: Callable[[str], bool],
        variables: Callable[[Path, int], list[str]],
    ) -> None:
        self._folder = folder  # the folder that is shared with them
        self._wanted = wanted  # returns whether a kernel is to be recorded
        # Returns the symbols of the variables of the image in a file of the folder, for an
        # architecture.
        self._variables = variables
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = os.fspath(folder / "socket")
        if len(os.fsencode(path)) > _LONGEST:
            raise RequestError(f"the path {folder} is too long", hint="set TMPDIR to a shorter one")
        self._socket.bind(path)
        self._socket.listen(64)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> RecordService:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                end, _ = self._socket.accept()
            except OSError:  # closed
                return
            with end, suppress(OSError), end.makefile("rb") as question:
                end.settimeout(10)
                end.sendall(self._answer(question.read(_MOST)))

    def _answer(self, question: bytes) -> bytes:
        word, subject, path, *_ = [*question.split(b"\0"), b"", b""]
        if word == b"kernel":
            return b"1" if self._wanted(subject.decode(errors="replace")) else b"0"
        if word == b"variables" and b"/" not in path and subject.isdigit():
            names = self._variables(self._folder / os.fsdecode(path), int(subject))
            return "\n".join(names).encode()
        return b""
