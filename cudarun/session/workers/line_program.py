"""A program that answers tasks: a line of JSON each, on the socket that is its stdin."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from cudarun.session.workers.program import SupervisedProgram

_CHUNK = 1 << 16
_END = 5.0  # seconds from the end of a program's answers to its own
_LOOK = 0.05  # seconds between two calls of ``watch``


class LineProgram(SupervisedProgram):
    """A supervised program that answers tasks, one after the other.

    Args:
        most: The most bytes of an answer.
        options: Those of `SupervisedProgram`.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, command: Sequence[str], *, most: int | None = None, **options: Any) -> None:
        self._most = most
        self._socket, other = socket.socketpair()
        try:
            with other:
                super().__init__(command, stdin=other.fileno(), **options)
        except OSError:
            self._socket.close()
            raise

    def call(
        self,
        task: Mapping[str, object],
        timeout: float | None,
        watch: Callable[[], object] | None = None,
    ) -> dict[str, Any]:
        """Send a task, and return the answer.

        Args:
            timeout: The time limit in seconds; ``None`` for none.
            watch: Called from time to time; what it raises ends the call.

        Raises:
            TimeoutError: There is no answer in time.
            EOFError: The program has ended; its argument is the status.
            ValueError: The answer is not JSON, or too long.
        """
        end = None if timeout is None else time.monotonic() + timeout
        received = bytearray()
        self._socket.settimeout(timeout)  # not what the last call had left
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended
            self._socket.sendall(json.dumps(task).encode() + b"\n")
        while not received.endswith(b"\n"):
            left = None if end is None else max(end - time.monotonic(), 1e-3)
            self._socket.settimeout(left if watch is None else min(left or _LOOK, _LOOK))
            try:
                chunk = self._socket.recv(_CHUNK)
            except TimeoutError:
                if watch is None or (end is not None and time.monotonic() >= end):
                    raise
                watch()
                continue
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                raise EOFError(self.wait(self.seconds + _END))
            received += chunk
            if self._most is not None and len(received) > self._most:
                raise ValueError(f"the answer exceeds {self._most} bytes")
        try:
            answer: dict[str, Any] = json.loads(received)
        except RecursionError:
            raise ValueError("the answer has too many levels") from None
        return answer

    def end(self) -> None:
        """Kill the program and its process group."""
        super().end()
        self._socket.close()
