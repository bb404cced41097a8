"""Answers to the questions of recorded processes: which kernels to record, and their variables."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cudarun.base.errors import RequestError

_MOST = 1 << 20  # bytes of a question
_LONGEST = 107  # bytes of a socket's path (unix(7))


class RecordService:
    """A thread that answers the processes of the recorded program.

    Args:
        folder: The folder that is shared with them.
        wanted: Returns whether a kernel is to be recorded.
        variables: Returns the symbols of the variables of the image in a file of the folder, for an
            architecture.

    It is a context manager: leaving it ends the thread.
    """

    def __init__(
        self,
        folder: Path,
        wanted: Callable[[str], bool],
        variables: Callable[[Path, int], list[str]],
    ) -> None:
        self._folder = folder
        self._wanted = wanted
        self._variables = variables
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = os.fspath(folder / "socket")
        if len(os.fsencode(path)) > _LONGEST:
            raise RequestError(f"the path {folder} is too long", hint="set TMPDIR to a shorter one")
        self._socket.bind(path)
        self._socket.listen(64)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> RecordService:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                end, _ = self._socket.accept()
            except OSError:  # closed
                return
            with end, suppress(OSError):
                end.settimeout(10)
                end.sendall(self._answer(_question(end)))

    def _answer(self, question: bytes) -> bytes:
        word, subject, path, *_ = [*question.split(b"\0"), b"", b""]
        if word == b"kernel":
            return b"1" if self._wanted(subject.decode(errors="replace")) else b"0"
        if word == b"variables" and b"/" not in path and subject.isdigit():
            names = self._variables(self._folder / os.fsdecode(path), int(subject))
            return "\n".join(names).encode()
        return b""


def _question(end: socket.socket) -> bytes:
    data = b""
    while len(data) < _MOST and (part := end.recv(65536)):
        data += part
    return data
