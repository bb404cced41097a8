"""What a worker's process does: begin, then answer one task after the other, until it is ended.

Messages go through pipes, each its length and then its pickle.
"""

from __future__ import annotations

import gc
import os
import signal
import struct
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, NoReturn, TypeVar

from cudarun.errors import CudarunError, WorkerDied
from cudarun.records import dataclass

T = TypeVar("T")

HEADER = struct.Struct("=Q")
"""The length of a message, which stands before it."""

OVERDUE = signal.SIGALRM
"""Sent at the time limit to a process that has a handler for it, see `deadline`."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a process is told before anything else: how it is to begin, and where stdout goes."""

    initialise: Callable[[], Any]
    capture: bool


def wait_for_tasks(
    prepare: Callable[[], object] | Start,
    tasks: int,
    answers: int,
    parent: int,
    stdout: int | None,
) -> NoReturn:
    """Everything the child does.

    Args:
        prepare: How it begins, or what it does until it is told that.
        tasks: The descriptor that tasks are read from.
        answers: The descriptor that answers are written to.
        parent: The process that it serves, and dies with.
        stdout: The descriptor of the file for what is captured.

    It leaves by `os._exit`: process exit tears a driver down faster than the driver's own calls,
    and the parent's buffers and handlers are not the child's.
    """
    try:
        gc.disable()  # nothing that is imported is garbage; to look for it takes 7 % of the time
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and kills us
        for number in (signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):  # the parent's handler
                signal.signal(number, signal.SIG_DFL)
        signal.signal(OVERDUE, signal.SIG_DFL)
        die_with(parent)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        stream = os.fdopen(tasks, "rb")
        task: Any = prepare
        if not isinstance(prepare, Start):
            _attempt(prepare)  # what it cannot do now will be told of when it is to be done
            task = receive(stream)
        state, error = _started(task, stdout)
        gc.freeze()
        gc.enable()
        while (task := receive(stream)) is not None:
            answer = (None, error) if error else _attempt(partial(task, state))
            sys.stdout.flush()
            _flush_c_streams()
            send(answers, answer)
        os._exit(0)
    finally:
        import traceback

        traceback.print_exc()
        os._exit(1)


def _started(start: Start | None, stdout: int | None) -> tuple[Any, CudarunError | None]:
    if start is None:  # the parent needs nobody
        os._exit(0)
    if start.capture and stdout is not None:
        os.dup2(stdout, 1)
    return _attempt(start.initialise)


def _attempt(function: Callable[[], T]) -> tuple[T | None, CudarunError | None]:
    try:
        return function(), None
    except CudarunError as error:
        return None, error
    except Exception as error:  # a bug of ours: the parent shows the traceback, exit code 7
        import traceback

        name = type(error).__name__
        return None, WorkerDied(f"internal error: {name}: {error}", log=traceback.format_exc())


def send(pipe: int, message: object) -> None:
    """Write a message."""
    import pickle

    body = pickle.dumps(message)
    with os.fdopen(pipe, "wb", closefd=False) as stream:
        stream.write(HEADER.pack(len(body)))
        stream.write(body)


def receive(stream: BinaryIO) -> Any:
    """The next message; ``None`` when the parent has closed its end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    import pickle

    return pickle.loads(stream.read(*HEADER.unpack(header)))


def die_with(parent: int) -> None:
    """Have the kernel end this process when the parent dies, however it dies (prctl(2))."""
    import ctypes  # the parent must not pay for it

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the request was in place
        os._exit(1)


def _flush_c_streams() -> None:
    """Write out what the driver's printf left in C's stdout buffer; `os._exit` would drop it."""
    import ctypes

    ctypes.CDLL(None).fflush(None)
