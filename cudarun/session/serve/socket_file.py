"""The socket of a server: a file that only its user can connect to."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cudarun.base.errors import RequestError

_LONGEST_PATH = 107  # bytes (unix(7))
_WAITING = 128  # connections that are not accepted yet


def default_path() -> str:
    """Return the path of the server of this user."""
    if folder := os.environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(folder, "cudarun.sock")
    return os.path.join(tempfile.gettempdir(), f"cudarun-{os.getuid()}", "server.sock")


@contextmanager
def listening(path: str) -> Iterator[socket.socket]:
    """Yield a socket that listens at a path, and remove its file at the end.

    The file that a server left which has ended is replaced.

    Raises:
        RequestError: A server listens there, the path is that of another file, or other users can
            replace the socket.
        OSError: The file cannot be made.
    """
    path = os.path.abspath(path)
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise _refused(path, f"a socket's path has at most {_LONGEST_PATH} bytes")
    folder = os.path.dirname(path)
    os.makedirs(folder, 0o700, exist_ok=True)
    connection = socket.socket(socket.AF_UNIX)
    with connection:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX)  # two servers that start at once
            if _is_of_others(os.fstat(opened)):
                raise _refused(path, "other users can write to its folder")
            _remove_unused(path)
            before = os.umask(0o177)  # so that its mode is 0600 from the start
            try:
                connection.bind(path)
            finally:
                os.umask(before)
            connection.listen(_WAITING)
        finally:
            os.close(opened)
        own = os.stat(path)
        try:
            yield connection
        finally:
            with suppress(OSError):
                if os.path.samestat(own, os.stat(path)):
                    os.unlink(path)


def _is_of_others(folder: os.stat_result) -> bool:
    """Return whether other users than root can replace the files in a folder."""
    is_shared = folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not folder.st_mode & stat.S_ISVTX
    return bool(is_shared) or folder.st_uid not in (0, os.getuid())


def _remove_unused(path: str) -> None:
    """Remove the file of a server that has ended."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise _refused(path, "it is another file")
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
            else:
                raise _refused(path, "a server listens there already")


def _refused(path: str, why: str) -> RequestError:
    return RequestError(f"{path}: {why}", hint="choose another path").of(option="--socket")
