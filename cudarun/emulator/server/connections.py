"""Connections with the threads of the program: requests, answers, and what is asked meanwhile.

The other end is ``cudarun/session/exec/native/client.c``.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterable, Sequence

from cudarun.emulator.host import addresses
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import refuse_if

DONE, PRINT, _, SHARE, UNSHARE, START_CALLBACKS = range(6)
"""The kinds of messages to a thread of the program."""

_BYTES = 128 << 10  # of a message
_TEXT = 60_000  # of a message with text, or with a value that a call writes
_HEAD = struct.Struct("=iI")
_PART = struct.Struct("=QQ")

Outputs = Sequence[tuple[int, bytes]]  # what a call writes: addresses of the program, and bytes


class ProgramConnection:
    """The connection of a thread of the program."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end  # the socket
        self._buffer = bytearray(_BYTES)
        self.view = memoryview(self._buffer)  # the buffer of requests

    def receive(self) -> int:
        """Receive a request into the buffer; return its size, 0 at the end."""
        try:
            return self._socket.recv_into(self._buffer)
        except ConnectionError:
            return 0

    def ask(self, kind: int, *words: int) -> int:
        """Send a message that has an answer; return it, 0 if the program has ended."""
        return _answer(self._socket, struct.pack(f"=iI{len(words)}Q", 0, kind, *words))

    def show(self, text: bytes) -> None:
        """Have the program write text to its stdout."""
        for at in range(0, len(text), _TEXT):
            self._send(_HEAD.pack(0, PRINT) + text[at : at + _TEXT])

    def reply(self, result: int, outputs: Outputs) -> None:
        """Answer a request."""
        message = bytearray(_HEAD.pack(result, DONE))
        for address, data in outputs:
            message += _PART.pack(address, len(data)) + data + bytes(-len(data) % 8)
        self._send(message)

    def _send(self, message: bytes | bytearray) -> None:
        try:  # noqa: SIM105 - `suppress` takes longer than the rest
            self._socket.send(message)
        except OSError:
            pass  # the program has ended


def write_long(outputs: Outputs) -> Outputs:
    """Write what is too long for a message and return the rest; `Refusal` if there is no memory."""
    for address, data in outputs:
        refuse_if(not address, "there is no place for a result")
        if len(data) > _TEXT:
            addresses.host.write(address, data)
    return [each for each in outputs if len(each[1]) <= _TEXT]


class Callbacks:
    """The thread of the program that calls its host functions, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connected = threading.Event()
        self._socket: socket.socket | None = None
        self._has_started = False

    def start(self, connection: ProgramConnection) -> None:
        """Have the program start the thread, once; `Refusal` if it cannot."""
        if not self._has_started:  # else the lock can be that of a function that waits for us
            with self._lock:
                self._has_started = self._has_started or connection.ask(START_CALLBACKS) == 0
            refuse_if(not self._has_started, "no thread can be started", "OUT_OF_MEMORY")

    def connect(self, end: socket.socket) -> None:
        """Use the connection of the thread."""
        self._socket = end
        self._connected.set()

    def call(self, kind: int, function: int, arguments: Iterable[int]) -> int:
        """Call a host function; return its result, 0 if the program has ended."""
        self._connected.wait()
        words = [*arguments, 0, 0, 0][:3]
        with self._lock:
            if self._socket is None:
                return 0
            return _answer(self._socket, struct.pack("=5Q", kind, function, *words))

    def end(self) -> None:
        """Wait for the thread no longer: the program has ended."""
        self._connected.set()


def _answer(end: socket.socket, message: bytes) -> int:
    """Send a message; return the answer, 0 if the program has ended."""
    try:
        end.send(message)
        answer = end.recv(8)
    except OSError:
        answer = b""
    return int.from_bytes(answer, "little")


class _Local(threading.local):
    """The connection that the calling thread serves."""

    connection: ProgramConnection | None = None


local = _Local()


def show_printed(text: bytes) -> None:
    """Have the program write what kernels have printed; without a connection, keep it."""
    if local.connection is None:
        process.printed(text)
    else:
        local.connection.show(text)
