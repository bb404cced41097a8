"""Supervised child processes: where all driver work happens.

A kernel fault poisons its whole process, a hung kernel ends only with its process, and a malformed
image can crash the driver. So the parent never calls a driver: it forks workers, sends them tasks
through a pipe, keeps the time limit, and turns whatever becomes of a worker into a value or an
exception.

A worker starts to initialise as soon as it is forked, while the parent is still reading what the
user wants of it: of a launch that takes 0.3 s, initialising the driver is the larger part. The
parent must have only one thread at that moment.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

from cudarun.errors import CudarunError, OutOfTime, WorkerDied
from cudarun.records import dataclass
from cudarun.session.workers.worker import HEADER, OVERDUE, Start, send, wait_for_tasks

if TYPE_CHECKING:
    from cudarun.session.workers.prefork import Begun

S = TypeVar("S")
T = TypeVar("T")

_CHUNK = 1 << 20

GRACE = 3.0
"""Seconds that a worker whose time is over has to say where its kernel stands."""

WATCH_INTERVAL = 0.2
"""Seconds between two looks at what the workers are doing."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What became of one task.

    Attributes:
        value: What the task returned; ``None`` when ``error`` is set.
        error: Why there is no value.
        output: What the worker wrote on stdout meanwhile, when it was captured.
    """

    value: T | None
    error: CudarunError | None
    output: str = ""

    def unwrap(self) -> T:
        """The value, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Worker(Generic[S]):
    """One child process: its state, made once, and tasks done with it one after the other.

    Args:
        initialise: Called in the child at once; tasks get what it returns. An error that it raises
            is the answer to every task.
        capture: Keep what the child writes on stdout instead of passing it on.
        begun: A process that waits for this already; ``initialise`` must pickle then.

    It is a context manager: leaving it leaves no process behind.
    """

    def __init__(
        self, initialise: Callable[[], S], *, capture: bool = False, begun: Begun | None = None
    ) -> None:
        self._received = bytearray()
        self._limit: float | None = None
        self._deadline: float | None = None
        self._overdue = False
        self._retired = False
        self._status: int | None = None
        self._shown = 0  # bytes of stdout that outcomes have had
        self._stdout: BinaryIO | None = None
        if begun is None:
            self._fork(initialise, capture)
            return
        self.pid, self._tasks, self._answers = begun.pid, begun.tasks, begun.answers
        if capture:
            self._stdout = os.fdopen(begun.stdout, "w+b")
        self._tell(Start(initialise, capture))

    def _fork(self, initialise: Callable[[], S], capture: bool) -> None:
        if capture:
            self._stdout = os.fdopen(os.memfd_create("cudarun-stdout"), "w+b")
        sys.stdout.flush()
        sys.stderr.flush()
        tasks, self._tasks = os.pipe()
        self._answers, answers = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._tasks)
            os.close(self._answers)
            start = Start(initialise, capture)
            descriptor = None if self._stdout is None else self._stdout.fileno()
            wait_for_tasks(start, tasks, answers, parent, descriptor)
        os.close(tasks)
        os.close(answers)

    def __enter__(self) -> Worker[S]:
        return self

    def __exit__(self, *_: object) -> None:
        self.retire()
        self._reap()

    def send(self, task: Callable[[S], Any]) -> None:
        """Hand the child its next task, which must pickle; `gather` fetches the answer."""
        self._tell(task)

    def _tell(self, message: object) -> None:
        with suppress(BrokenPipeError):  # it is dead, and `outcome` will say of what
            send(self._tasks, message)

    def limit(self, seconds: float | None) -> None:
        """From now on it has so long to answer; ``None`` takes the limit away."""
        self._limit = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def seconds_left(self) -> float | None:
        """Until the limit; ``None`` where there is none."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def fileno(self) -> int:
        """What `select.poll` waits on."""
        return self._answers

    def feed(self) -> bool:
        """Read what is there; True when the answer is complete or there will be none."""
        chunk = os.read(self._answers, _CHUNK)
        self._received += chunk
        return not chunk or self._length() == len(self._received) - HEADER.size

    def give_up(self) -> bool:
        """End it: its time is over. One that can say where it stands is told first.

        Returns:
            Whether it is settled now. Nobody waits for its end, which takes a driver a while.
        """
        may_speak = not self._overdue and self._status is None and _hears(self.pid, OVERDUE)
        self._overdue = True
        if not may_speak:
            self.kill()
            return True
        self._deadline = time.monotonic() + GRACE
        os.kill(self.pid, OVERDUE)
        return False

    def kill(self) -> None:
        """End the process, however busy it is; it stays a zombie until the context is left."""
        if self._status is None:  # once reaped, the number may be another process's
            os.kill(self.pid, signal.SIGKILL)

    def retire(self) -> None:
        """End the process and let go of all but its number; leaving the context waits for it."""
        self.kill()
        if self._retired:
            return
        self._retired = True
        os.close(self._tasks)
        os.close(self._answers)
        if self._stdout is not None:
            self._stdout.close()

    def has_ended(self) -> bool:
        """Whether the process is over; if so, nothing is left of it, not even a zombie."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status is not None

    def outcome(self) -> Outcome[Any]:
        """What became of the last task, once `feed` or `give_up` has settled it."""
        answer = self._answer()
        if self._overdue and self._limit is not None:
            last_words = answer[1] if answer else None
            return Outcome(None, _out_of_time(self._limit, last_words), self._output())
        if answer is None:
            return Outcome(None, WorkerDied(_cause_of_death(self._reap())), self._output())
        return Outcome(*answer, self._output())

    def _answer(self) -> tuple[Any, CudarunError | None] | None:
        """The value and the error that were sent; ``None`` where that is not complete."""
        body = memoryview(self._received)[HEADER.size :]
        if self._length() != len(body):
            return None
        import pickle

        answer: tuple[Any, CudarunError | None] = pickle.loads(body)
        body.release()
        self._received.clear()
        return answer

    def _length(self) -> int | None:
        """How long the answer's pickle is; ``None`` until its header is here."""
        if len(self._received) < HEADER.size:
            return None
        return int(HEADER.unpack_from(self._received)[0])

    def _reap(self) -> int:
        """Wait for the process; its exit status, negative for a signal."""
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._status

    def _output(self) -> str:
        """What was written on stdout since the last time."""
        if self._stdout is None:
            return ""
        # The file's offset is shared with the child, which must go on writing at its end.
        end = os.fstat(self._stdout.fileno()).st_size
        text = os.pread(self._stdout.fileno(), end - self._shown, self._shown)
        self._shown = end
        return text.decode(errors="replace")


def gather(
    workers: Sequence[Worker[Any]],
    *,
    timeout: float | None = None,
    meanwhile: Callable[[], object] | None = None,
    final: bool = False,
) -> list[Outcome[Any]]:
    """Wait for the answers of all workers to the task each was sent last.

    Args:
        workers: The outcomes are in their order.
        timeout: Seconds after which workers that have not answered are killed.
        meanwhile: Called again and again while we wait.
        final: They get no other task, so each is ended as soon as it has answered: taking a driver
            down needs 0.1 s.

    Raises:
        KeyboardInterrupt: Ctrl-C. The workers are still there; their context managers end them.
    """
    for worker in workers:
        worker.limit(timeout)
    outcomes: dict[Worker[Any], Outcome[Any]] = {}
    while len(outcomes) < len(workers):
        waiting = [worker for worker in workers if worker not in outcomes]
        for worker in settle(waiting, patience=None if meanwhile is None else WATCH_INTERVAL):
            outcomes[worker] = worker.outcome()
            if final:
                worker.retire()
        if meanwhile is not None:
            meanwhile()
    return [outcomes[worker] for worker in workers]


def settle(workers: Sequence[Worker[Any]], *, patience: float | None = None) -> list[Worker[Any]]:
    """Wait until one or more of the workers have answered, died, or been killed at their limit.

    Args:
        workers: All of them at work.
        patience: Seconds after which to return without any.

    Returns:
        Those of which `Worker.outcome` now tells what became of their task.
    """
    poll = select.poll()
    by_descriptor = {worker.fileno(): worker for worker in workers}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    end = None if patience is None else time.monotonic() + patience
    while True:
        limits = [worker.seconds_left for worker in workers]
        if end is not None:
            limits.append(max(0.0, end - time.monotonic()))
        left = min((limit for limit in limits if limit is not None), default=None)
        ready = [by_descriptor[d] for d, _ in poll.poll(None if left is None else left * 1000)]
        settled = [worker for worker in ready if worker.feed()]
        for worker in workers:
            if worker not in ready and worker.seconds_left == 0.0 and worker.give_up():
                settled.append(worker)
        if settled or (end is not None and time.monotonic() >= end):
            return settled


def _hears(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal: ``SigCgt`` in proc(5)."""
    with suppress(OSError), open(f"/proc/{pid}/status") as status:
        for line in status:
            name, _, mask = line.partition(":")
            if name == "SigCgt":
                return bool(int(mask, 16) >> (number - 1) & 1)
    return False


def _out_of_time(limit: float, last_words: CudarunError | None) -> OutOfTime:
    """The error, with what the worker had to say of where its kernel stood."""
    error = last_words if isinstance(last_words, OutOfTime) else OutOfTime("")
    error.message = f"no result within {limit:g} s; the worker was killed"
    error.hint = "a kernel that never ends, or a limit (--timeout) that is too short"
    return error


def _cause_of_death(status: int) -> str:
    if status >= 0:
        return f"the worker process ended with status {status} and no answer"
    name = signal.Signals(-status).name
    return f"the worker process was killed by signal {-status} ({name})"
