"""Processes that call the functions of ``--expect``: one for each file, as long as their worker."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from cudarun.base.errors import ExpectationFailed, RequestError
from cudarun.session.launch.expected import function_call
from cudarun.session.workers.program import SupervisedProgram

_MOST = 4
"""The processes of a worker: each keeps what its file imports in memory."""
_CHUNK = 1 << 16
_END = 5.0
"""Seconds from the end of a process's answers to its own."""

_running: dict[tuple[str, str], FunctionProcess] = {}
"""The processes of this worker by interpreter and file, that of the last call at the end."""


def call_function(python: str, task: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
    """Call a function in the process of its file, which keeps the modules that it has imported.

    Args:
        python: The interpreter.
        task: The task of `function_call`, with the ``file`` and the ``function``.
        timeout: The time limit in seconds, imports included.

    Raises:
        ExpectationFailed: The call did not return in time, or the process ended.
        RequestError: The interpreter cannot be started.
    """
    key = python, str(task["file"])
    process = _running.pop(key, None) or FunctionProcess(python)
    try:
        answer = process.call(task, timeout)
    except BaseException:
        process.end()
        raise
    _running[key] = process
    while len(_running) > _MOST:
        _running.pop(next(iter(_running))).end()
    return answer


class FunctionProcess:
    """A process that calls functions of a file, one after the other.

    Raises:
        RequestError: The interpreter cannot be started.
    """

    def __init__(self, python: str) -> None:
        self._python = python
        self._socket, other = socket.socketpair()
        try:
            with other:
                self._program = SupervisedProgram(
                    [python, str(function_call.__file__)], stdin=other.fileno()
                )
        except OSError as error:
            self._socket.close()
            raise RequestError(f"{python}: {error.strerror}", option="--python") from error

    def call(self, task: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        """Call a function, and return the answer.

        Raises:
            ExpectationFailed: The call did not return in time, or the process ended.
        """
        self._program.ends_with_worker()
        end = None if timeout is None else time.monotonic() + timeout
        received = bytearray()
        try:
            with suppress(BrokenPipeError):  # it has ended
                self._socket.sendall(json.dumps(task).encode() + b"\n")
            while not received.endswith(b"\n"):
                left = None if end is None else max(end - time.monotonic(), 1e-3)
                self._socket.settimeout(left)
                if not (chunk := self._socket.recv(_CHUNK)):
                    status = self._program.wait(self._program.seconds + _END)
                    what = f"{self._python} ended with status {status} and no result"
                    raise ExpectationFailed(what)
                received += chunk
        except TimeoutError:
            raise ExpectationFailed(
                f"the function timed out after {timeout:g} s (--expect-timeout {timeout:g})",
                hint="this is the time of the Python function, not of the kernel: raise "
                "--expect-timeout",
            ) from None
        answer: dict[str, Any] = json.loads(received)
        return answer

    def end(self) -> None:
        """End the process."""
        self._program.end()
        self._socket.close()
