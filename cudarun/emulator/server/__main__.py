"""``python -m cudarun.emulator.server``: the servers of the processes of a program.

Stdin is a socket, by which a listening socket and the options come. The first connection of a
process starts its server, a copy of this process, which gets all further ones. A process is
recognized by its number and by the random bytes that the system gives each program that it
executes.
"""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import struct
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

from cudarun.base.profiles import PROFILE_VARIABLE
from cudarun.emulator import runtime  # noqa: F401 - enters the runtime calls
from cudarun.emulator.server.process_server import DRAIN, STOP, Control, Options, ProcessServer
from cudarun.programs.report import USED

_CREDENTIALS = struct.Struct("=3i")
_HELLO = struct.Struct("=QQ")
_MESSAGES = {2: DRAIN, 3: STOP}  # of the parent, in place of a connection for calls or callbacks
_MOST_OPTIONS = 1 << 16  # bytes
_MOST_SILENT = 64  # connections without their first message
_PAUSE = 0.01  # seconds without descriptors


def main(control: Control | None = None) -> None:
    """Serve until the parent says that the program has ended, and all servers have.

    Args:
        control: Returns what executes launches in place of the emulated device itself.
    """
    gc.freeze()  # what is imported stays, also in copies of this process
    gc.enable()
    message, descriptors, _, _ = socket.recv_fds(socket.socket(fileno=0), _MOST_OPTIONS, 1)
    if not descriptors:  # the command has ended without a program
        os._exit(0)
    given = json.loads(message)
    rest = (given[each] for each in ("detect", "stats", "engine", "stall"))
    if given["profile"]:  # otherwise that of the environment
        os.environ[PROFILE_VARIABLE] = given["profile"]
    options = Options(Path(given["folder"]), *rest)
    listener = socket.socket(fileno=descriptors[0])
    select.select([listener], [], [])
    options.folder.joinpath(USED).touch()  # before the first connection is accepted
    has_failed = _Dispatcher(listener, options, control).serve()
    sys.stderr.flush()
    os._exit(has_failed)  # taking the interpreter down piece by piece takes longer than all calls


class _Dispatcher:
    """Passes connections on to the servers of their processes.

    A process of the program can send anything, or nothing: no connection is waited for, and only
    the parent ends the servers.
    """

    def __init__(self, listener: socket.socket, options: Options, control: Control | None) -> None:
        self._listener = listener
        self._options = options
        self._control = control
        self._servers: dict[tuple[int, int], tuple[int, socket.socket]] = {}
        self._silent: dict[socket.socket, None] = {}
        self._is_ending = False

    def serve(self) -> bool:
        """Serve until the parent has said so, and all servers have ended; it can say more.

        Returns:
            Whether a server has failed.
        """
        has_failed = False
        while self._servers or not self._is_ending:
            poll = select.poll()
            for end in (self._listener, *self._silent, *self._ends()):
                poll.register(end, select.POLLIN)
            ready = {descriptor for descriptor, _ in poll.poll()}
            for key, (server, end) in [*self._servers.items()]:
                if end.fileno() in ready:  # closed
                    end.close()
                    has_failed |= os.waitpid(server, 0)[1] != 0
                    del self._servers[key]
            for end in [each for each in self._silent if each.fileno() in ready]:
                del self._silent[end]
                with end, suppress(OSError, struct.error):
                    self._greet(end)
            if self._listener.fileno() in ready:
                try:
                    self._silent[self._listener.accept()[0]] = None
                except OSError:  # no descriptors: those of processes that end are free again
                    time.sleep(_PAUSE)
            if len(self._silent) > _MOST_SILENT:
                oldest = next(iter(self._silent))
                del self._silent[oldest]
                oldest.close()
        return has_failed

    def _ends(self) -> list[socket.socket]:
        return [end for _, end in self._servers.values()]

    def _greet(self, end: socket.socket) -> None:
        """Act on the first message of a connection.

        Raises:
            OSError: It cannot be received, the process has ended, or no server can be started.
            struct.error: It is none.
        """
        kind, image = _HELLO.unpack(end.recv(_HELLO.size, socket.MSG_DONTWAIT))
        credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, user, _ = _CREDENTIALS.unpack(credentials)
        if kind in _MESSAGES and pid == os.getppid():
            self._is_ending = True
            for server in self._ends():
                with suppress(OSError):  # it has ended
                    server.send(_MESSAGES[kind])
        elif kind not in _MESSAGES and user == os.geteuid():
            if (pid, image) not in self._servers and not self._is_ending:
                process = os.pidfd_open(pid)  # fails if it has ended, and its parent knows
                try:
                    self._servers[pid, image] = self._start(pid, process, end)
                finally:
                    os.close(process)
            if (pid, image) in self._servers:
                _, server = self._servers[pid, image]
                socket.send_fds(server, [_HELLO.pack(kind, image)], [end.fileno()])

    def _start(self, pid: int, process: int, end: socket.socket) -> tuple[int, socket.socket]:
        """Start the server of a process; return it, and the socket that it gets connections from.

        Args:
            process: A descriptor of the process.

        Raises:
            OSError: No process can be started.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            server = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            raise
        if server:
            theirs.close()
            return server, ours
        status = 1
        try:
            for each in (ours, end, self._listener, *self._silent, *self._ends()):
                each.close()
            ProcessServer(pid, self._options, self._control).serve(theirs, process)
            status = 0
        except Exception:  # a defect
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:  # closed from the start
                    stream.flush()
            os._exit(status)


if __name__ == "__main__":
    main()
