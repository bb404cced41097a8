"""The process whose copies are the servers of a program.

Its imports take longer than all else that a short program waits for, so the entry point starts it
before the command line is parsed. What it serves, and how, it is told when that is known.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from cudarun.base.profiles import PROFILE_VARIABLE
from cudarun.session.driver import drivers
from cudarun.session.workers.program import SupervisedProgram
from cudarun.session.workers.worker import BLAS_THREADS

_OTHERWISE = ("-h", "--help", "-d", "--device", "--debug")  # options with which none, or another

_waiting: list[ServerProcess] = []  # the process that was started early


class ServerProcess(SupervisedProgram):
    """The process.

    Args:
        profile: The GPU that the device emulates; empty for that of the environment.
        module: The module that it runs, and its arguments.
    """

    def __init__(self, profile: str = "", module: Sequence[str] = (drivers.SERVER,)) -> None:
        name, spinning = BLAS_THREADS
        environment = {name: os.environ.get(name, spinning)}
        if profile:
            environment[PROFILE_VARIABLE] = profile
        self._socket, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with end:
            command = [sys.executable, "-m", *module]
            super().__init__(command, stdin=end.fileno(), environment=environment)

    def listen(self, listener: socket.socket, options: Mapping[str, object]) -> None:
        """Let it serve a socket, with options."""
        with suppress(OSError):  # it has ended
            socket.send_fds(self._socket, [json.dumps(options).encode()], [listener.fileno()])

    def end(self) -> None:
        """Kill it, with its copies."""
        super().end()
        self._socket.close()


def begin(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    """Start the process, if the arguments are those of a program on the default device.

    It ends with this one, also if the arguments are refused.
    """
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    is_other = any(word.startswith(_OTHERWISE) for word in own)
    if arguments[:1] == ["exec"] and not is_other and PROFILE_VARIABLE not in environ:
        # Without it the process starts later, and reports what the operating system refuses.
        with suppress(OSError):
            _waiting.append(ServerProcess())


def take() -> ServerProcess:
    """Return the process that was started early, once, or a new one."""
    return _waiting.pop() if _waiting else ServerProcess()
