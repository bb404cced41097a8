"""The connection of a worker with its parent, made by a fork: a socket, a pipe, a page of memory.

The page has the worker's current step, the start of its phase, the program that it runs, which the
parent ends with the worker, and the devices that it has initialized. There is no locking: a text
that is read while it is written is garbled for a moment.

Only the imports that a fork needs are made here.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import time
from _socket import socketpair  # of `socket`, whose import takes a while
from contextlib import suppress

SIZE = 16384  # bytes

_HEADER = struct.Struct("=ddI")  # start of the phase, the part done, the length of the text
_PROGRAM = struct.Struct("=i")  # the process group
_DEVICES = struct.Struct("=I")  # the length of their description
_PROGRAM_START = 2048
_DEVICES_START = 4096
_MOST_TEXT = _PROGRAM_START - _HEADER.size
_MOST_DEVICES = SIZE - _DEVICES_START - _DEVICES.size
TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Callable


class Page:
    """The shared page.

    A phase is a stretch of work that a time limit applies to: loading, the device's work. Its start
    is a time of ``CLOCK_MONOTONIC``, which all processes of a machine share.

    Args:
        descriptor: Of a file of `SIZE` bytes that the page is part of; anonymous memory, which
            forked children share, by default.
    """

    def __init__(self, descriptor: int = -1) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)

    def clear_phase(self) -> None:
        """Forget the phase: no time counts until the next one starts."""
        self._write(0.0, *self.read())

    def start_phase(self, after: float = 0.0) -> None:
        """Start a phase ``after`` seconds from now; the time limit counts from then."""
        self._write(time.monotonic() + after, *self.read())

    @property
    def phase_start(self) -> float | None:
        """The start of the phase, in seconds of `time.monotonic`; ``None`` before the first."""
        return _HEADER.unpack_from(self._memory)[0] or None

    def write(self, text: str, done: float) -> None:
        """Describe the work: a text, and which part of it is done (0 to 1)."""
        self._write(_HEADER.unpack_from(self._memory)[0], text, done)

    def read(self) -> tuple[str, float]:
        """Return the text, empty where nothing was written yet, and the part done."""
        _, done, length = _HEADER.unpack_from(self._memory)
        text = self._memory[_HEADER.size : _HEADER.size + min(length, _MOST_TEXT)]
        return text.decode(errors="replace"), done

    def _write(self, start: float, text: str, done: float) -> None:
        data = text.encode(errors="backslashreplace")[:_MOST_TEXT]
        self._memory[_HEADER.size : _HEADER.size + len(data)] = data
        _HEADER.pack_into(self._memory, 0, start, done, len(data))

    @property
    def program(self) -> int:
        """The process group of the program that the worker runs; 0 for none."""
        return int(_PROGRAM.unpack_from(self._memory, _PROGRAM_START)[0])

    @program.setter
    def program(self, group: int) -> None:
        _PROGRAM.pack_into(self._memory, _PROGRAM_START, group)

    @property
    def devices(self) -> bytes:
        """The pickled identities of the worker's devices; empty before they are known."""
        (length,) = _DEVICES.unpack_from(self._memory, _DEVICES_START)
        start = _DEVICES_START + _DEVICES.size
        return self._memory[start : start + length]

    @devices.setter
    def devices(self, data: bytes) -> None:
        if len(data) <= _MOST_DEVICES:
            start = _DEVICES_START + _DEVICES.size
            self._memory[start : start + len(data)] = data
            _DEVICES.pack_into(self._memory, _DEVICES_START, len(data))  # last: now it is complete

    def end_program(self) -> None:
        """Kill the program of a killed worker with its process group."""
        if group := self.program:
            self.program = 0
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


own_page: Page | None = None  # the page of this process, if it is a worker


class Connection:
    """One end of a connection."""

    __slots__ = ("answers", "page", "process", "stdout", "tasks")

    def __init__(self, process: int, tasks: int, answers: int, stdout: int, page: Page) -> None:
        self.process = process  # the process at the other end
        self.tasks = tasks  # the descriptor of a socket, for tasks; descriptors can come with them
        self.answers = answers  # the descriptor of a pipe, for answers
        self.stdout = stdout  # the descriptor of a file that the worker's stdout can go to
        self.page = page  # the page that both processes share

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (self.tasks, self.answers, self.stdout):
            os.close(descriptor)


def fork_worker(serve: Callable[[Connection], object], page: Page | None = None) -> Connection:
    """Fork a process and return the parent's end of the connection with it.

    Args:
        serve: Called in the process with its end; it does not return.

    Raises:
        OSError: The operating system refuses a process or descriptors.
    """
    page = page or Page()
    opened: list[int] = []
    try:
        opened.append(os.memfd_create("cudarun-stdout"))
        opened += (each.detach() for each in socketpair())
        opened += os.pipe()
        parent = os.getpid()
        pid = os.fork()
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        raise
    stdout, received_tasks, tasks, answers, sent_answers = opened
    if pid == 0:
        try:
            os.close(tasks)
            os.close(answers)
            serve(Connection(parent, received_tasks, sent_answers, stdout, page))
        finally:
            os._exit(1)
    os.close(received_tasks)
    os.close(sent_answers)
    return Connection(pid, tasks, answers, stdout, page)
