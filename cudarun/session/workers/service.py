"""Service processes: they run commands for a program that uses the Python API.

Workers are forked, time limits are signals, and workers end with the thread that started them. So
none of this happens in the program's process, which may have threads, signal handlers and children
of its own. A service process does it, which knows of the program by two descriptors:

- a socket for calls and their answers, with the descriptors of files;
- a pipe that stays open as long as the program lives, however it ends: its end is a SIGTERM to the
  service, also during a call.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cudarun.session.workers.service_messages import ServiceEnded, above_streams, receive, send

_PATIENCE = 10.0  # seconds for a service to end its workers

_MOST_IDLE = 4  # services that wait for a call; each takes 60 MiB

_START = """\
import sys
sys.path.insert(0, {folder!r})
import cudarun
sys.path.append(sys.path.pop(0))
from cudarun.api.service import serve
serve({calls}, {life}, keeps_gpus={keeps_gpus}, spares={spares})
"""
"""The program of a service process, which imports the cudarun of this process.

Everything else beside that, beside the program or in the working directory comes last: a file may
have the name of another module.
"""


class ServiceProcess:
    """A service process of this process.

    Args:
        keeps_gpus: It keeps the workers of GPUs, too, with their contexts.
        spares: The number of workers that it keeps ready beside the one of the next command.
    """

    def __init__(self, *, keeps_gpus: bool = False, spares: int = 0) -> None:
        ends = (above_streams(each.detach()) for each in socket.socketpair())
        self._socket, calls = (socket.socket(fileno=end) for end in ends)
        life, parent_end = map(above_streams, os.pipe())
        self._own = {each: _identity(each) for each in (self._socket.fileno(), parent_end)}
        try:
            program = _START.format(
                folder=str(Path(__file__).resolve().parents[3]),
                calls=calls.fileno(), life=life, keeps_gpus=keeps_gpus, spares=spares,
            )  # fmt: skip
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-X", "utf8", "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if _identity(2) else subprocess.DEVNULL,
                pass_fds=(calls.fileno(), life),
                start_new_session=True,  # Ctrl-C is the program's
            )
        except BaseException:
            self.begin_end()
            raise
        finally:
            calls.close()
            os.close(life)

    def call(
        self, message: object, files: Sequence[int], heard: Callable[[Any], bool] = lambda _: False
    ) -> Any:
        """Send a call, and wait for its answer.

        Args:
            files: The descriptors that it comes with.
            heard: Takes a message that comes before the answer, and returns whether it is one.

        Raises:
            ServiceEnded: The process ended before it answered.
        """
        try:
            send(self._socket, message, files)
            answer, _ = receive(self._socket)
            while heard(answer):
                answer, _ = receive(self._socket)
        except (EOFError, OSError):  # also where `begin_end` was called meanwhile
            status = self.end()
            raise ServiceEnded(
                f"the service process ended with status {status} before it returned a result"
            ) from None
        return answer

    def is_usable(self) -> bool:
        """Return whether the process lives, and the program has not closed its descriptors.

        Their numbers could be those of other files or connections of the program by now.
        """
        kept = all(_identity(each) == identity for each, identity in self._own.items())
        return kept and self._process.poll() is None

    def interrupt(self) -> None:
        """Interrupt the command of the call, as Ctrl-C does; the process ends after its answer."""
        self._process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """End the process with its workers, and return its status."""
        self.begin_end()
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def forget(self) -> None:
        """Leave the process to the parent of this one, which was forked."""
        self.begin_end()
        self._process.returncode = 0  # it is not this process's child

    def begin_end(self) -> None:
        """Begin to end the process with its workers: close the connections with it."""
        self._socket.detach()
        while self._own:
            descriptor, identity = self._own.popitem()
            if _identity(descriptor) == identity:
                os.close(descriptor)


def _identity(descriptor: int) -> tuple[int, int] | None:
    """Return what tells an open file from others; ``None`` for a closed descriptor."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_idle: list[ServiceProcess] = []
_all: set[ServiceProcess] = set()
_lock = threading.RLock()  # which a signal handler that launches may take again


@contextmanager
def service_process() -> Iterator[ServiceProcess]:
    """Yield a service process for one call: an idle one, or a new one."""
    process = _take()
    try:
        yield process
    except BaseException:  # Ctrl-C, or the process has ended
        with _lock:
            _all.discard(process)
        process.end()
        raise
    with _lock:
        if is_kept := len(_idle) < _MOST_IDLE:
            _idle.append(process)
        else:
            _all.discard(process)
    if not is_kept:
        process.end()


def _take() -> ServiceProcess:
    while True:
        with _lock:
            if not _idle:
                break
            process = _idle.pop()
        if process.is_usable():
            return process
        with _lock:
            _all.discard(process)
        process.end()
    process = ServiceProcess()
    with _lock:
        _all.add(process)
    return process


@atexit.register
def _end_all() -> None:
    while _all:
        _all.pop().end()


def _forget_all() -> None:
    """Leave all service processes to the parent, and begin anew in a forked process."""
    global _lock
    _lock = threading.RLock()  # another thread of the parent may have held it
    _idle.clear()
    while _all:
        _all.pop().forget()


os.register_at_fork(after_in_child=_forget_all)


def end_with(life: int) -> None:
    """Have the operating system send SIGTERM to this process when the other end of a pipe closes.

    Unlike the signal of prctl(2), it does not depend on the thread that started this process.
    """
    with suppress(OSError):  # an idle process ends with the socket, too
        fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGTERM)
        fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC | fcntl.fcntl(life, fcntl.F_GETFL))
    poll = select.poll()
    poll.register(life, 0)
    if poll.poll(0):  # it has closed before
        os.kill(os.getpid(), signal.SIGTERM)
