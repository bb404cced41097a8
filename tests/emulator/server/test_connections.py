"""The messages between a server and the threads of its process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.server.connections import START_CALLBACKS, Callbacks, ProgramConnection


def answered(end: socket.socket, error: int) -> Callable[[], None]:
    """Starts a thread of a program that answers one message; returns what waits for it."""

    def answer() -> None:
        assert int.from_bytes(end.recv(64)[4:8], "little") == START_CALLBACKS
        end.send(error.to_bytes(8, "little"))

    thread = threading.Thread(target=answer)
    thread.start()
    return thread.join


def test_a_program_starts_its_thread_of_callbacks_once() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        callbacks, connection = Callbacks(), ProgramConnection(ours)
        wait = answered(theirs, error=11)
        with pytest.raises(Refusal, match="no thread can be started"):
            callbacks.start(connection)
        wait()
        wait = answered(theirs, error=0)
        callbacks.start(connection)
        wait()
        callbacks.start(connection)
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(64)
