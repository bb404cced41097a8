"""The messages between a program and its service process: pickles with descriptors of files."""

from __future__ import annotations

import fcntl
import os
import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any

SERVER_VARIABLE = "CUDARUN_SERVER"
"""The variable with the socket of a server, which runs the commands then."""
BATCH = 200  # files that are sent at once; Linux accepts 253
_CREDENTIALS = struct.Struct("=3i")  # of a process: its ID, its user, its group
_HEADER = struct.Struct("=QI")  # the length of a message's pickle, and the number of its files


class ServiceEnded(Exception):
    """A service process ended before it answered."""


def above_streams(descriptor: int) -> int:
    """Move a descriptor above those of the standard streams, which a program may have closed."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def is_of_this_user(connection: socket.socket) -> bool:
    """Return whether a process of this user is at the other end of a connection."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(data)
    return bool(user == os.getuid())


def send(connection: socket.socket, message: object, files: Sequence[int] = ()) -> None:
    """Send a message with descriptors of files."""
    body = pickle.dumps(message)
    header = _HEADER.pack(len(body), len(files))
    if files:
        connection.sendall(header)
        header = b""
    for first in range(0, len(files), BATCH):
        socket.send_fds(connection, [b"\0"], files[first : first + BATCH])
    connection.sendall(header + body)


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """Return the next message and the descriptors of its files.

    Raises:
        EOFError: The other end was closed.
    """
    length, count = _HEADER.unpack(_exactly(connection, _HEADER.size))
    files: list[int] = []
    while len(files) < count:
        data, found, *_ = socket.recv_fds(connection, 1, BATCH)
        if not data:
            raise EOFError
        files += found
    return pickle.loads(_exactly(connection, length)), files


def _exactly(connection: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        count = connection.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return data
