"""What calls of the program read and write, by sizes."""

from __future__ import annotations

import ctypes
import socket

from cudarun.emulator.host import addresses
from cudarun.emulator.server import client_memory
from cudarun.emulator.server.connections import ProgramConnection, write_long


def test_a_result_can_be_larger_than_a_message() -> None:
    target = (ctypes.c_uint8 * 200_000)()  # of this process, which is the program here
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        result = (ctypes.addressof(target), b"\x07" * len(target))
        ProgramConnection(ours).reply(0, write_long([result]))
        assert len(theirs.recv(1 << 18)) == 8
    assert bytes(target) == b"\x07" * len(target)


def test_a_call_copies_no_more_than_the_system_does() -> None:
    assert addresses._MOST_BYTES * client_memory._MOST_ROWS < 0x7FFF_F000  # MAX_RW_COUNT


def test_a_program_that_has_ended_gives_no_answer() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.close()
    with ours:
        assert ProgramConnection(ours).ask(3, 1, 2, 3) == 0
        ProgramConnection(ours).show(b"text")
