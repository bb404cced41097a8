"""A connection with ``cudarun serve`` in place of a service process of the program's own."""

from __future__ import annotations

import base64
import json
import os
import pickle
import socket
from collections.abc import Sequence
from typing import Any

from cudarun import __version__
from cudarun.session.workers.service import BATCH, SERVER_VARIABLE, ServiceEnded, above_streams


class ServerConnection:
    """A connection with a server, which runs a call at a time for it.

    Args:
        path: The path of the server's socket.

    Raises:
        ServiceEnded: No server listens there.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
        except OSError as error:
            connection.close()
            raise self._ended(error.strerror or "") from None
        self._socket = socket.socket(fileno=above_streams(connection.detach()))

    def call(self, message: object, files: Sequence[int]) -> Any:
        """Send a call, and wait for its answer.

        Raises:
            ServiceEnded: The server has ended, or refuses the call.
        """
        request = {
            "id": 1,
            "call": base64.b64encode(pickle.dumps(message)).decode(),
            "files": len(files),
            "version": __version__,
        }
        answer = bytearray()
        try:
            for first in range(0, len(files), BATCH):
                socket.send_fds(self._socket, [b" "], files[first : first + BATCH])
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            while not answer.endswith(b"\n"):
                part = self._socket.recv(1 << 20)
                if not part:
                    raise self._ended("the server has ended")
                answer += part
        except ConnectionError as error:
            raise self._ended(error.strerror or "") from None
        members = json.loads(answer)
        if "answer" not in members:
            raise self._ended(members["error"]["message"])
        return pickle.loads(base64.b64decode(members["answer"]))

    def is_usable(self) -> bool:
        """Return whether the server is the one of the environment."""
        return os.environ.get(SERVER_VARIABLE) == self._path

    def end(self) -> int:
        """Close the connection, by which the server cancels a call."""
        self._socket.close()
        return 0

    def forget(self) -> None:
        """Leave the connection to the parent of this process, which was forked."""
        self._socket.close()

    def _ended(self, why: str) -> ServiceEnded:
        return ServiceEnded(f"{SERVER_VARIABLE}={self._path}: {why}")
