"""Calls of the Python API in ``cudarun serve``, in place of a service process of the program."""

from __future__ import annotations

import base64
import json
import pickle
import socket
from collections.abc import Sequence
from typing import Any

from cudarun.session.workers.service_messages import (
    BATCH,
    SERVER_VARIABLE,
    ServiceEnded,
    is_of_this_user,
)

_CHUNK = 1 << 20


def call_in_server(path: str, message: object, files: Sequence[int]) -> Any:
    """Send a call, and wait for its answer; the server cancels it if this is interrupted.

    Args:
        path: The path of the server's socket.
        files: The descriptors that it comes with.

    Raises:
        ServiceEnded: No server listens there, it has ended, or it refuses the call.
    """
    request = {
        "id": 1,
        "call": base64.b64encode(pickle.dumps(message)).decode(),
        "files": len(files),
    }
    answer = bytearray()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            if not is_of_this_user(connection):  # whose pickles are not read
                raise _failure(path, "it is the server of another user")
            for first in range(0, len(files), BATCH):  # blanks before the request
                socket.send_fds(connection, [b" "], files[first : first + BATCH])
            connection.sendall(json.dumps(request).encode() + b"\n")
            while not answer.endswith(b"\n"):
                part = connection.recv(_CHUNK)
                if not part:
                    raise _failure(path, "the server has ended")
                answer += part
        except OSError as error:
            raise _failure(path, error.strerror or str(error)) from None
    members = json.loads(answer)
    if "answer" not in members:
        raise _failure(path, members["error"]["message"])
    return pickle.loads(base64.b64decode(members["answer"]))


def _failure(path: str, why: str) -> ServiceEnded:
    return ServiceEnded(f"{SERVER_VARIABLE}={path}: {why}")
