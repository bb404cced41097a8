"""The system calls that a submission does not have: seccomp(2), with a filter of classic BPF.

Its processes stay in the group that is stopped and killed as a whole, and no timer or file sends
them SIGCONT while they are stopped.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

# linux/filter.h, linux/seccomp.h, linux/prctl.h, linux/audit.h
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_NUMBER, _ARCHITECTURE, _SECOND_ARGUMENT = 0, 4, 24  # offsets in struct seccomp_data
_SET_SIGNAL = 10  # F_SETSIG
_X32 = 0x40000000

_ABSENT = ("timer_create", "mq_notify", "io_uring_setup")
_IGNORED = ("setsid", "setpgid")  # as if they succeeded: programs expect no error
_MACHINES: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "timer_create": 222, "mq_notify": 244, "io_uring_setup": 425,
            "setsid": 112, "setpgid": 109, "fcntl": 72,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "timer_create": 107, "mq_notify": 184, "io_uring_setup": 425,
            "setsid": 157, "setpgid": 154, "fcntl": 25,
        },
    ),
}  # fmt: skip
"""The architecture and the numbers of the system calls, by machine."""


def restrict_program() -> None:
    """Restrict this process and its children for good, if the kernel and the machine allow it."""
    machine = os.uname().machine
    if machine not in _MACHINES:
        return
    code = b"".join(_program(*_MACHINES[machine]))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(
        struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    )
    library = ctypes.CDLL(None)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    library.prctl(_SET_SECCOMP, _FILTER, program)


def _program(architecture: int, numbers: dict[str, int]) -> list[bytes]:
    """Return the instructions of the filter."""
    absent = _FAIL | errno.ENOSYS
    code = [
        _instruction(_LOAD, _ARCHITECTURE),
        *_return_if(_EQUAL, architecture, absent, inverted=True),
        _instruction(_LOAD, _NUMBER),
        *_return_if(_AT_LEAST, _X32, absent),
    ]
    for name in _ABSENT:
        code += _return_if(_EQUAL, numbers[name], absent)
    for name in _IGNORED:
        code += _return_if(_EQUAL, numbers[name], _FAIL)
    return [
        *code,
        *_return_if(_EQUAL, numbers["fcntl"], _ALLOW, inverted=True),
        _instruction(_LOAD, _SECOND_ARGUMENT),
        *_return_if(_EQUAL, _SET_SIGNAL, _FAIL | errno.EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _return_if(test: int, value: int, result: int, *, inverted: bool = False) -> list[bytes]:
    jumps = (1, 0) if inverted else (0, 1)
    return [_instruction(test, value, *jumps), _instruction(_RETURN, result)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
