"""The parent's half of a worker process: submit tasks, enforce the time limit, collect answers.

A kernel fault poisons its process, a hung kernel ends only with its process, and a malformed image
can crash the driver. So the parent never calls a driver, and turns every outcome of a worker into a
value or an exception.

A worker starts to initialize as soon as it is forked, while the parent is parsing the request:
initializing the driver is most of a launch of 0.3 s. The parent must have only one thread at that
moment.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, BinaryIO, Generic, TypeAlias, TypeVar

from cudarun.base import machine
from cudarun.base.errors import CudarunError, Interrupted, OutOfTime, WorkerDied
from cudarun.base.records import replace
from cudarun.base.terminal import visible
from cudarun.session.workers.connection import Connection, fork_worker
from cudarun.session.workers.deadline import TIMEOUT_SIGNAL
from cudarun.session.workers.worker import (
    HEADER,
    STDERR,
    STDOUT,
    Answer,
    Start,
    WorkerSpec,
    send,
    serve,
)

S = TypeVar("S")
T = TypeVar("T")

_RUNNING = "running "  # the step of a worker whose kernel runs
_CHUNK = 1 << 20

GRACE = 3.0  # the seconds for a worker past its limit to report the thread states of its kernel

STARTUP_LIMIT = 300.0
"""Seconds for a process to start and initialize its driver, where there is a time limit at all.

They do not count for that limit: a busy machine or a slow driver is not the kernel's fault.
"""


class WorkerProcess(AbstractContextManager["WorkerProcess[S]"], Generic[S]):
    """A supervised worker process: a state, created once, and tasks that run one after the other.

    Args:
        log: The log of this process; then its tasks belong to several commands: each comes with the
            streams and the working directory of its own.

    Attributes:
        page: The page that the worker reports its progress in.
    """

    def __init__(
        self, spec: WorkerSpec[S], preforked: Connection | None = None, *, log: int | None = None
    ) -> None:
        self.spec = spec
        self._is_kept = log is not None and preforked is None
        self._received = bytearray()
        self._limit: float | None = None
        self._task: Callable[[S], object] | None = None
        self._submitted = time.monotonic()
        self._grace_end: float | None = None
        self._retired = False
        self._status: int | None = None
        self._stdout: BinaryIO | None = None
        start = Start(spec, time.monotonic())
        if preforked is None:
            sys.stdout.flush()
            sys.stderr.flush()
        worker = preforked or fork_worker(partial(serve, prepare=start, log=log))
        self.pid, self.page = worker.process, worker.page
        self._tasks, self._answers = worker.tasks, worker.answers
        if spec.keeps_stdout:
            self._stdout = os.fdopen(worker.stdout, "w+b")
        else:
            os.close(worker.stdout)
        if preforked is not None:
            self._send(start)

    def __exit__(self, *_: object) -> None:
        self.retire()
        self._reap()

    def submit(self, task: Callable[[S], object], timeout: float | None = None) -> None:
        """Hand the process its next task.

        Args:
            task: Called with the worker's state; must pickle.
            timeout: Seconds for each phase of the task; ``None``: unlimited. The time that the
                process takes to start and to initialize does not count.
        """
        self._limit, self._task = timeout, task
        self._submitted = time.monotonic()
        self.page.clear_phase()
        self._send(task)

    def take_over(self, other: WorkerProcess[S]) -> None:
        """Submit the last task of another process, with its time limit."""
        assert other._task is not None, "it had a task"
        self.submit(other._task, other._limit)

    def _send(self, message: object) -> None:
        with suppress(ConnectionError):  # it has died, and `outcome` will report the reason
            if not self._is_kept:
                send(self._tasks, message)
                return
            folder = os.open(".", os.O_PATH)
            try:
                send(self._tasks, message, (STDOUT, STDERR, folder))
            finally:
                os.close(folder)

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds until the time limit; ``None`` without one."""
        if self._grace_end is not None:
            end = self._grace_end
        elif self._limit is None:
            return None
        elif (start := self.page.phase_start) is not None:
            end = start + self._limit
        else:
            end = self._submitted + STARTUP_LIMIT
        return max(0.0, end - time.monotonic())

    @property
    def patience(self) -> float | None:
        """Return the seconds in which the time limit cannot pass; ``None`` if it never does."""
        left = self.seconds_left
        if left is None or self._limit is None or self._grace_end is not None:
            return left
        # The limit may be nearer than it seems until the phase has started, or starts anew.
        return min(left, self._limit)

    def fileno(self) -> int:
        """Return the descriptor that `select.poll` waits on."""
        return self._answers

    def feed(self) -> bool:
        """Read what has arrived; True when the answer is complete or there will be none."""
        chunk = os.read(self._answers, _CHUNK)
        self._received += chunk
        return not chunk or self._length() == len(self._received) - HEADER.size

    def ask(self) -> bool:
        """Ask the process for its kernel's thread states; return whether it can answer."""
        can_answer = (
            self._grace_end is None
            and self._status is None
            and _has_handler(self.pid, TIMEOUT_SIGNAL)
        )
        self._grace_end = time.monotonic() + GRACE
        if can_answer:
            os.kill(self.pid, TIMEOUT_SIGNAL)
        return can_answer

    def kill(self) -> None:
        """End the process, however busy it is; it stays a zombie until it is reaped."""
        if self._status is None:  # once reaped, the process ID may be another process's
            os.kill(self.pid, signal.SIGKILL)
        self.page.end_program()

    def retire(self) -> None:
        """End the process and let go of all but its number; leaving the context reaps it."""
        self.kill()
        if self._retired:
            return
        self._retired = True
        self._record_devices()
        os.close(self._tasks)
        os.close(self._answers)
        if self._stdout is not None:
            self._stdout.close()

    def _record_devices(self) -> None:
        if described := self.page.devices:
            import pickle

            machine.add(pickle.loads(described))

    def has_ended(self) -> bool:
        """Return whether the process has ended; if so, it has been reaped."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status is not None

    def answer(self) -> Answer[Any]:
        """Return the answer to the last task, once `settle` has returned the process."""
        self._record_devices()
        received = self.received()
        if self._grace_end is not None and self._limit is not None:
            received = Answer(error=self._out_of_time(received.error if received else None))
        elif received is None:
            received = Answer(error=_died(self._reap()))
        return replace(received, output=self._output())

    def _out_of_time(self, reported: CudarunError | None) -> OutOfTime:
        """Return the error, with the thread states that the worker could report."""
        if self.page.phase_start is None:
            return OutOfTime(
                f"the driver was not initialized within {STARTUP_LIMIT:g} s; the worker was killed",
                hint="find the cause with 'cudarun devices --doctor'",
            )
        error = reported if isinstance(reported, OutOfTime) else OutOfTime("")
        limit = f"{self._limit:g} s"
        step = self.page.read()[0].partition("\n")[0]
        doing = error.cause or ("" if step.startswith(_RUNNING) else step)
        during = f" while {doing}" if doing else ""
        error.cause = None
        error.what = (
            f"timed out after {limit} (--timeout {self._limit:g}){during}; the worker was killed"
        )
        check = "" if doing else "check the kernel for an endless loop, or "
        error.hint = error.hint or f"{check}raise --timeout"
        return error

    def received(self) -> Answer[Any] | None:
        """Return the answer that was sent; ``None`` where it is incomplete."""
        body = memoryview(self._received)[HEADER.size :]
        if self._length() != len(body):
            return None
        import pickle

        answer: Answer[Any] = pickle.loads(body)
        body.release()
        self._received.clear()
        return answer

    def _length(self) -> int | None:
        """Return the length of the answer's pickle; ``None`` until its header is here."""
        if len(self._received) < HEADER.size:
            return None
        return int(HEADER.unpack_from(self._received)[0])

    def _reap(self) -> int:
        """Wait for the process; return its exit status, negative for a signal."""
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._status

    def _output(self) -> str:
        """Return the output on stdout since the last call; write it if it is only escaped."""
        if self._stdout is None:
            return ""
        file = self._stdout.fileno()
        text = os.pread(file, os.fstat(file).st_size, 0)
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)  # also for the worker, which shares the offset
        output = text.decode(errors="replace")
        if not self.spec.escape:
            return output
        sys.stdout.write(visible(output))
        sys.stdout.flush()
        return ""


_LONGEST_POLL = (1 << 31) - 1  # milliseconds, which poll(2) has as an ``int``
AnyWorker: TypeAlias = WorkerProcess[Any]  # a worker with any state


def settle(workers: Sequence[AnyWorker], *, patience: float | None = None) -> list[AnyWorker]:
    """Wait until workers have answered, died, or been killed at their limit; return those.

    Args:
        workers: All of them at work.
        patience: Seconds after which to return without any.
    """
    poll = select.poll()
    by_descriptor = {worker.fileno(): worker for worker in workers}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    end = None if patience is None else time.monotonic() + patience
    while True:
        limits = [worker.patience for worker in workers]
        if end is not None:
            limits.append(max(0.0, end - time.monotonic()))
        left = min((limit * 1000 for limit in limits if limit is not None), default=None)
        waited = None if left is None else min(left, _LONGEST_POLL)
        ready = [by_descriptor[d] for d, _ in poll.poll(waited)]
        settled = [worker for worker in ready if worker.feed()]
        for worker in workers:
            if worker not in ready and worker.seconds_left == 0.0 and not worker.ask():
                worker.kill()  # its end is not awaited, which takes a driver a while
                settled.append(worker)
        if settled or (end is not None and time.monotonic() >= end):
            return settled


def interruption(workers: Sequence[AnyWorker]) -> Interrupted | None:
    """Return the error at Ctrl-C, with the thread states of the kernels that can report them.

    Returns:
        ``None`` without any thread states.

    Raises:
        KeyboardInterrupt: Ctrl-C again.
    """
    asked = [worker for worker in workers if worker.ask()]
    waiting = [*asked]
    while waiting:
        for worker in settle(waiting):
            waiting.remove(worker)
    answers = (worker.received() for worker in asked)
    errors = [answer.error for answer in answers if answer is not None]
    reports = [error for error in errors if isinstance(error, OutOfTime)]
    if not reports:
        return None
    log = "\n".join(filter(None, (report.log for report in reports)))
    error = Interrupted("interrupted", log=log)
    error.context |= reports[0].context
    error.places = tuple(place for report in reports for place in report.places)
    error.engines = tuple(engine for report in reports for engine in report.engines)
    if len(reports) > 1:
        devices = (report.context.get("device") for report in reports)
        error.context["device"] = ", ".join(filter(None, devices))
    return error


def _has_handler(pid: int, number: signal.Signals) -> bool:
    """Return whether a process has a handler for a signal: ``SigCgt`` in proc(5)."""
    with suppress(OSError), open(f"/proc/{pid}/status") as status:
        for line in status:
            name, _, mask = line.partition(":")
            if name == "SigCgt":
                return bool(int(mask, 16) >> (number - 1) & 1)
    return False


def _died(status: int) -> WorkerDied:
    """Return the error of a worker, with a hint if a library may have ended it without memory."""
    import resource  # few workers die

    what = f"the worker process exited with status {status} before it returned a result"
    if status < 0:
        name = signal.Signals(-status).name
        what = f"the worker process was killed by signal {-status} ({name})"
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or (status < 0 and -status != signal.SIGABRT):
        return WorkerDied(what)
    hint = f"its memory is limited to {limit >> 10} KiB: raise the limit with ulimit -v"
    return WorkerDied(what, hint=hint)
