"""The process whose copies are the servers of a program.

Its imports take longer than all else that a short program waits for, so the entry point forks it
before the command line is parsed. Later it gets a socket and the options of the program.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

from cudarun.session.driver import drivers
from cudarun.session.workers.program import SupervisedProgram
from cudarun.session.workers.worker import BLAS_THREADS

_OTHERS = ("-h", "--help", "--debug")  # options with another process, or none
_DESCRIPTORS = 4096  # more than the command has

_waiting: list[ServerProcess] = []  # the process that was started early


class ServerProcess(SupervisedProgram):
    """The process.

    Args:
        module: The module that it runs, and its arguments.
        is_forked: Go on in a copy of this process, which need not import again what this one has.
    """

    def __init__(self, *module: str, is_forked: bool = False) -> None:
        self._socket, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = dict([BLAS_THREADS]) | os.environ
        with end:
            command = [sys.executable, "-m", *(module or (drivers.SERVER,))]
            serve = _serve if is_forked else None
            super().__init__(command, stdin=end.fileno(), environment=environment, prepare=serve)

    def listen(self, listener: socket.socket, options: Mapping[str, object]) -> None:
        """Let it serve a socket, with options."""
        with self._socket, suppress(OSError):  # it has ended
            socket.send_fds(self._socket, [json.dumps(options).encode()], [listener.fileno()])


def _serve() -> NoReturn:
    """Serve in the new process, in place of a program."""
    try:
        os.closerange(3, _DESCRIPTORS)  # `Popen` waits until one of them is closed
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):  # that of the command
                signal.signal(number, signal.SIG_DFL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # as Python starts, unlike programs
            signal.signal(number, signal.SIG_IGN)
        os.environ.setdefault(*BLAS_THREADS)
        drivers.serve_program()
    finally:  # it ends the process itself
        import traceback  # slow to import

        traceback.print_exc()
        os._exit(1)


def begin(arguments: Sequence[str]) -> None:
    """Start the process, if the arguments are those of a program.

    It ends with this one, also if the arguments are refused.
    """
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if arguments[:1] == ["exec"] and not any(word.startswith(_OTHERS) for word in own):
        # Without it the process starts later, and reports what the operating system refuses.
        with suppress(OSError):
            _waiting.append(ServerProcess(is_forked=True))


def take(*module: str) -> ServerProcess:
    """Return the process that was started early, once, if it is such a one; else a new one."""
    return _waiting.pop() if _waiting and not module else ServerProcess(*module)
