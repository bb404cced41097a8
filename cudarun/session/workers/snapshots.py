"""Snapshots of a worker: copies of its process, made by forks, from which others can go on.

Each copy has a connection with the parent of its own. A copy that waits for a message costs only
the memory that others have changed since.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from cudarun.base.errors import WorkerDied
from cudarun.session.workers.service_messages import is_of_this_user, receive, send

DIED = "a process of the debugger ended unexpectedly"
_PATIENCE = 0.2  # seconds between looks at the worker


class ParentConnection:
    """The connection of a copy with the parent, in the copy.

    Args:
        address: The address of the parent's socket.
        introduction: The first message to the parent.
        guard: A lock that is acquired while a copy is made.
        isolate: Called first in a copy, which must not change what the original shares.
        last: The message that the original receives when the parent has ended; without it its
            process ends, as every copy does.
    """

    def __init__(
        self,
        address: str,
        introduction: object,
        *,
        guard: AbstractContextManager[object] | None = None,
        isolate: Callable[[], object] = lambda: None,
        last: object = None,
    ) -> None:
        self._address = address
        self._guard = guard or nullcontext()
        self._isolate = isolate
        self._last = last
        self._children: list[int] = []
        self._connect(introduction)

    def _connect(self, introduction: object) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(self._address)
            if not is_of_this_user(self._socket):
                os._exit(0)
            send(self._socket, (os.getpid(), introduction))
        except OSError:  # the parent has ended
            self._end()

    def _end(self) -> Any:
        """Return the last message, or end the process."""
        if self._last is None:
            os._exit(0)
        return self._last

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def send(self, message: object) -> None:
        """Send a message."""
        with suppress(BrokenPipeError, ConnectionResetError):
            send(self._socket, message)

    def receive(self) -> Any:
        """Return the next message; the last one if the parent has closed the connection."""
        try:
            message, _ = receive(self._socket)
        except (EOFError, OSError):
            return self._end()
        return message

    @property
    def has_message(self) -> bool:
        """True if there is a message, or the parent has closed the connection."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def fork(self, introduction: object) -> bool:
        """Make a copy of this process, which has a connection of its own; return true in it."""
        self._children = [each for each in self._children if not os.waitpid(each, os.WNOHANG)[0]]
        with self._guard:
            child = os.fork()
        if child:
            self._children.append(child)
            return False
        self._children, self._last = [], None
        self._socket.close()
        self._isolate()
        self._connect(introduction)
        return True


class Copy:
    """A copy, in the parent.

    Attributes:
        pid: Its process.
        introduction: Its first message.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        (self.pid, self.introduction), _ = receive(connection)

    def send(self, message: object) -> None:
        """Send a message; `WorkerDied` if the process has ended."""
        try:
            send(self._socket, message)
        except ConnectionError:
            raise WorkerDied(DIED) from None

    def receive(self) -> Any:
        """Return the next message; `WorkerDied` if the process has ended."""
        try:
            message, _ = receive(self._socket)
        except (EOFError, ConnectionError, pickle.UnpicklingError):
            raise WorkerDied(DIED) from None
        return message

    def fileno(self) -> int:
        """Return the descriptor that `select` waits on."""
        return self._socket.fileno()

    def end(self) -> None:
        """End the process, also while it runs."""
        self._socket.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class Copies(AbstractContextManager["Copies"]):
    """The parent's socket, to which copies connect; a context manager.

    Its address is an abstract one, of which nothing remains however the parent ends.
    """

    def __init__(self) -> None:
        self.address = f"\0cudarun-{os.urandom(16).hex()}"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.address)
        self._socket.listen(64)

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def accept(self, is_alive: Callable[[], bool] = lambda: True) -> Copy | None:
        """Return the next copy that connects; ``None`` if the worker ends before.

        Args:
            is_alive: Returns whether the worker runs.
        """
        while True:
            if select.select([self._socket], [], [], _PATIENCE)[0]:
                if copy := self._connected():
                    return copy
            elif not is_alive():
                return None

    def _connected(self) -> Copy | None:
        """Return the copy that has connected; ``None`` if it is a process of another user."""
        connection, _ = self._socket.accept()
        if is_of_this_user(connection):
            return Copy(connection)
        connection.close()
        return None

    def wait(self, copy: Copy, arrived: Callable[[Copy], object]) -> Any:
        """Return the next message of a copy; pass copies that connect meanwhile to a function.

        Raises:
            WorkerDied: Its process has ended.
        """
        while True:
            ready = select.select([self._socket.fileno(), copy.fileno()], [], [])[0]
            if self._socket.fileno() in ready and (connected := self._connected()):
                arrived(connected)
            if copy.fileno() in ready:
                return copy.receive()
