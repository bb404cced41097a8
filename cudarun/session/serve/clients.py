"""The clients of a server: their connections, and their requests that are not answered."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, RequestError
from cudarun.session.serve.messages import (
    LONGEST_LINE,
    RequestId,
    ServerRequest,
    members_of_error,
    message_of,
)

if TYPE_CHECKING:
    from cudarun.session.workers.service import ServiceProcess

MOST_UNANSWERED = 64
"""Requests of a client that are not answered: it reads no further ones before."""
_CHUNK = 1 << 16
_LOOK = 0.2  # seconds between looks at a client that has too many requests
_MOST_FILES = 253  # of a message (unix(7))
_PATIENCE = struct.pack("=2q", 10, 0)  # seconds for a client to read an answer


class PendingRequest:
    """A request that is not answered."""

    def __init__(
        self, client: Client, name: RequestId | None, request: ServerRequest, files: list[int]
    ) -> None:
        self.client = client
        self.name = name
        self.request = request
        self.files = files  # the descriptors that came with it
        # The process that runs it; ``None`` while it waits.
        self.service: ServiceProcess | None = None
        self.is_canceled = False  # whether the client has canceled it, or has ended

    def send(self, members: Mapping[str, object]) -> bool:
        """Send a message that is not the answer; return whether it is one."""
        if "exit_code" in members:
            return False
        self.client.write({"id": self.name, **members})
        return True

    def answer(self, members: Mapping[str, object]) -> None:
        """Send the answer."""
        self.close_files()
        self.client.answer(self, {"id": self.name, **members})

    def fail(self, error: CudarunError) -> None:
        """Answer with an error."""
        self.answer(members_of_error(error))

    def close_files(self) -> None:
        """Close the files that came with the request."""
        while self.files:
            os.close(self.files.pop())


class Client:
    """A client of a server. Its requests are read in a thread of its own."""

    def __init__(
        self,
        connection: socket.socket,
        add: Callable[[PendingRequest], object],
        cancel: Callable[[PendingRequest], object],
    ) -> None:
        self._add = add  # queues a request
        self._cancel = cancel  # cancels a request that was queued
        self._connection = connection  # the connection with it
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _PATIENCE)
        self._end = select.poll()  # an event is the end of the client
        self._end.register(connection, 0)
        self._pending: dict[RequestId | None, PendingRequest] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._room = threading.Semaphore(MOST_UNANSWERED)
        self._unanswered = 0
        self._has_ended = False

    def serve(self) -> None:
        """Read and queue requests until the client ends; cancel those that it leaves."""
        try:
            for line, files in self._lines():
                self._read(line, files)
            with self._lock:
                self._has_ended = True
                is_over = not self._unanswered
            if not is_over:  # it can still read the answers
                self._end.poll()
        except OSError:  # the connection was reset
            pass
        except RequestError as error:
            self.write(members_of_error(error))
        with self._lock:
            left = [*self._pending.values()]
        for each in left:
            self._cancel(each)
        self._close()

    def _lines(self) -> Iterator[tuple[bytes, list[int]]]:
        """Yield each line with the descriptors that have come and belong to no line before."""
        data, files = bytearray(), list[int]()
        try:
            while True:
                part, received, *_ = socket.recv_fds(self._connection, _CHUNK, _MOST_FILES)
                files += received
                if not part:
                    break
                searched = len(data)
                data += part
                while (end := data.find(b"\n", searched)) >= 0:
                    line = bytes(data[:end])
                    del data[: end + 1]
                    searched = 0
                    if line.strip():
                        yield line, files
                if len(data) > LONGEST_LINE:
                    raise RequestError(f"a request has at most {LONGEST_LINE} bytes")
        finally:
            for file in files:
                os.close(file)

    def _read(self, line: bytes, files: list[int]) -> None:
        """Queue the request in a line, or cancel one."""
        message = message_of(line)
        if message.request is None:
            if message.error is not None:
                self._refuse(message.id, message.error)
            elif (canceled := self._pending.get(message.id)) is not None:
                self._cancel(canceled)
            return
        count = message.request.files
        own, files[:] = files[:count], files[count:]
        pending = PendingRequest(self, message.id, message.request, own)
        error = message.error
        if len(own) < count:
            error = RequestError(f"expected {count} descriptors, got {len(own)}")
        if message.id in self._pending:
            error = RequestError("a request with this id is not answered yet")
        if error is not None:
            pending.close_files()
            self._refuse(message.id, error)
            return
        while not self._end.poll(0):
            if self._room.acquire(timeout=_LOOK):
                break
        else:  # the client has ended
            pending.close_files()
            raise ConnectionResetError
        with self._lock:
            self._pending[message.id] = pending
            self._unanswered += 1
        self._add(pending)

    def _refuse(self, name: RequestId | None, error: RequestError) -> None:
        named = {} if name is None else {"id": name}
        self.write(named | members_of_error(error))

    def answer(self, pending: PendingRequest, document: Mapping[str, object]) -> None:
        """Write the answer to a request."""
        with self._lock:
            del self._pending[pending.name]  # the client can use the name again
        self.write(document)
        with self._lock:
            self._unanswered -= 1
            is_over = self._has_ended and not self._unanswered
        self._room.release()
        if is_over:
            self._close()

    def write(self, document: Mapping[str, object]) -> None:
        """Write a message. A client that does not read it has ended."""
        data = json.dumps(document, separators=(",", ":")).encode() + b"\n"
        with self._writing:
            try:
                self._connection.sendall(data)
            except OSError:
                self._close()

    def _close(self) -> None:
        """End the connection, also for the thread that reads from it."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
