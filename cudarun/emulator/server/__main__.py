"""``python -m cudarun.emulator.server OPTIONS``: the servers of the processes of a program.

Stdin is a listening socket. The first connection of a process starts its server, a copy of this
process, which gets all further ones. A process is recognized by its number and by the random bytes
that the system gives each program that it executes.
"""

from __future__ import annotations

import json
import os
import select
import selectors
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

from cudarun.emulator import runtime  # noqa: F401 - enters the runtime calls
from cudarun.emulator.server.process_server import DRAIN, STOP, Options, ProcessServer
from cudarun.programs.report import USED

_CREDENTIALS = struct.Struct("=3i")
_HELLO = struct.Struct("=QQ")
_MESSAGES = {2: DRAIN, 3: STOP}  # of the parent, in place of a connection for calls or callbacks
_PATIENCE = 10.0  # seconds for the first message of a connection


def main(arguments: list[str]) -> None:
    """Serve until the parent says that the program has ended, and all servers have."""
    given = json.loads(arguments[0])
    options = Options(
        Path(given["folder"]), tuple(given["detect"]), given["stats"], given["engine"]
    )
    listener = socket.socket(fileno=0)
    servers: dict[tuple[int, int], socket.socket] = {}
    select.select([listener], [], [])
    options.folder.joinpath(USED).touch()  # before the first connection is accepted
    while True:
        end, _ = listener.accept()
        end.settimeout(_PATIENCE)
        try:
            kind, image = _HELLO.unpack(end.recv(_HELLO.size))
        except (OSError, struct.error):
            end.close()
            continue
        end.settimeout(None)
        credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, user, _ = _CREDENTIALS.unpack(credentials)
        if user != os.geteuid():
            end.close()
        elif kind in _MESSAGES:
            _finish(listener, servers, _MESSAGES[kind])
            return
        else:
            if (pid, image) not in servers:
                servers[pid, image] = _start(pid, options, [listener, *servers.values()], end)
            with suppress(OSError):  # the server has ended
                socket.send_fds(servers[pid, image], [_HELLO.pack(kind, image)], [end.fileno()])
            end.close()


def _start(
    pid: int, options: Options, others: list[socket.socket], end: socket.socket
) -> socket.socket:
    """Start the server of a process; return the socket that it gets connections from."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork():
        theirs.close()
        return ours
    status = 1
    try:
        for each in (ours, end, *others):
            each.close()
        ProcessServer(pid, options).serve(theirs)
        status = 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # closed from the start
                stream.flush()
        os._exit(status)


def _finish(
    listener: socket.socket, servers: dict[tuple[int, int], socket.socket], message: bytes
) -> None:
    """Pass the parent's message on, and wait for the servers; a second one can follow."""
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        for server in servers.values():
            _send(server, message)
            selector.register(server, selectors.EVENT_READ)
        left = len(servers)
        while left:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    end, _ = listener.accept()
                    end.close()
                    for server in servers.values():
                        _send(server, STOP)
                else:  # closed
                    selector.unregister(key.fileobj)
                    left -= 1


def _send(server: socket.socket, message: bytes) -> None:
    with suppress(OSError):  # it has ended
        server.send(message)


if __name__ == "__main__":
    main(sys.argv[1:])
