"""Supervised child processes: where all driver work happens.

A kernel fault poisons its whole process, a hung kernel ends only with its process, and a malformed
image can crash the driver. So the parent never calls a driver: it forks a worker for each task,
waits for its answer through a pipe, keeps the time limit, and turns whatever becomes of the worker
into a value or an exception.

The worker is forked, not spawned: the request is already there and nothing is imported twice. The
parent must have only one thread at that moment.
"""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, NoReturn, TypeVar

from cudarun.errors import CudarunError, OutOfTime, WorkerDied

T = TypeVar("T")

_HEADER = struct.Struct("=Q")  # a message is its length and then its pickle


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What became of one task.

    Attributes:
        value: What the task returned; ``None`` when ``error`` is set.
        error: Why there is no value.
        output: What the worker wrote on stdout, when it was captured.
    """

    value: T | None
    error: CudarunError | None
    output: str = ""

    def unwrap(self) -> T:
        """The value, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


def supervise(
    tasks: Sequence[Callable[[], T]],
    *,
    timeout: float | None = None,
    capture: bool = False,
    meanwhile: Callable[[], object] | None = None,
) -> list[Outcome[T]]:
    """Run every task in a worker of its own, all at once, and return their outcomes in order.

    Args:
        tasks: Called in the child; what they return or raise must pickle.
        timeout: Seconds after which workers that are still running are killed.
        capture: Keep what workers write on stdout instead of passing it on.
        meanwhile: Called in the parent once the workers run: imports that rendering will need.

    Raises:
        KeyboardInterrupt: Ctrl-C; by then no worker is left.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    with ExitStack() as stack:
        workers = [stack.enter_context(_started(task, capture)) for task in tasks]
        if meanwhile is not None:
            meanwhile()
        _collect(workers, deadline)
        return [worker.outcome(timeout) for worker in workers]


@contextmanager
def _started(task: Callable[[], Any], capture: bool) -> Iterator[_Worker]:
    worker = _Worker(task, capture)
    try:
        yield worker
    finally:
        worker.close()


def _collect(workers: Sequence[_Worker], deadline: float | None) -> None:
    """Read from all workers until each has closed its pipe or the deadline has passed."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.pipe, selectors.EVENT_READ, worker)
        while selector.get_map():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                for key in list(selector.get_map().values()):
                    key.data.overdue = True
                return
            for key, _ in selector.select(left):
                if not key.data.feed():
                    selector.unregister(key.fileobj)


class _Worker:
    """One child process, the pipe its answer comes through, and the file its stdout goes to."""

    def __init__(self, task: Callable[[], Any], capture: bool) -> None:
        self.received = bytearray()
        self.overdue = False
        self.status: int | None = None
        self.stdout: BinaryIO | None = None
        if capture:
            self.stdout = os.fdopen(os.memfd_create("cudarun-stdout"), "w+b")
        self.pipe, answer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            _child(task, answer, parent, self.stdout)
        os.close(answer)

    def feed(self) -> bool:
        """Read what is there; False at the end of the answer."""
        chunk = os.read(self.pipe, 1 << 20)
        self.received += chunk
        return bool(chunk)

    def close(self) -> None:
        """Leave no process behind, whatever it was doing."""
        os.close(self.pipe)
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.reap()
        if self.stdout is not None:
            self.stdout.close()

    def reap(self) -> int:
        """Wait for the process; its exit status, negative for a signal."""
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def outcome(self, timeout: float | None) -> Outcome[Any]:
        """What became of the task, now that the pipe is closed or time is up."""
        if self.overdue:
            os.kill(self.pid, signal.SIGKILL)
            self.reap()
            error: CudarunError = OutOfTime(
                f"no result within {timeout:g} s; the worker was killed",
                hint="a kernel that never ends, or a limit (--timeout) that is too short",
            )
            return Outcome(None, error, self._output())
        status = self.reap()
        answer = self._answer()
        if answer is None:
            return Outcome(None, WorkerDied(_cause_of_death(status)), self._output())
        value, failure = answer
        return Outcome(value, failure, self._output())

    def _answer(self) -> tuple[Any, CudarunError | None] | None:
        """The unpickled answer; ``None`` unless all of it arrived."""
        body = memoryview(self.received)[_HEADER.size :]
        if len(self.received) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self.received)
        return pickle.loads(body) if len(body) == length else None

    def _output(self) -> str:
        if self.stdout is None:
            return ""
        self.stdout.seek(0)
        return self.stdout.read().decode(errors="replace")


def _cause_of_death(status: int) -> str:
    if status >= 0:
        return f"the worker process ended with status {status} and no answer"
    name = signal.Signals(-status).name
    return f"the worker process was killed by signal {-status} ({name})"


def _child(task: Callable[[], Any], answer: int, parent: int, stdout: BinaryIO | None) -> NoReturn:
    """Everything the child does.

    It leaves by `os._exit`: process exit tears a driver down faster than the driver's own calls,
    and the parent's buffers and handlers are not the child's.
    """
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and kills us
        _die_with(parent)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if stdout is not None:
            os.dup2(stdout.fileno(), 1)
            sys.stdout = os.fdopen(1, "w", closefd=False)
        result = _run(task)
        sys.stdout.flush()
        _flush_c_streams()
        body = pickle.dumps(result)
        with os.fdopen(answer, "wb") as pipe:
            pipe.write(_HEADER.pack(len(body)))
            pipe.write(body)
        os._exit(0)
    finally:
        traceback.print_exc()
        os._exit(1)


def _run(task: Callable[[], Any]) -> tuple[Any, CudarunError | None]:
    try:
        return task(), None
    except CudarunError as error:
        return None, error
    except BaseException as error:  # a bug of ours: the parent shows the traceback, exit code 7
        name = type(error).__name__
        return None, WorkerDied(
            f"internal error: {name}: {error}", log=traceback.format_exc(), bug=name
        )


def _die_with(parent: int) -> None:
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
