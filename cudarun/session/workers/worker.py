"""The worker's half of a worker process: start, then answer tasks one after the other.

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
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, NoReturn, TypeVar

from cudarun.base.errors import CudarunError, InternalError, exhaustion
from cudarun.base.records import dataclass
from cudarun.session.workers import connection
from cudarun.session.workers.progress import Progress

if TYPE_CHECKING:
    from types import FrameType

    from cudarun.session.workers.connection import Connection

S = TypeVar("S")
T = TypeVar("T")

HEADER = struct.Struct("=Q")
"""The length of a message, which precedes it."""

# The threads that numpy's OpenBLAS starts when it is imported wait for work by spinning for 2^26
# cycles each, which takes more processor time than the import. They sleep after 2^20 (0.3 ms).
_BLAS_THREADS = "OPENBLAS_THREAD_TIMEOUT", "20"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The result of a task, or of a job on one device: a value, or the reason that there is none.

    Attributes:
        value: The value; ``None`` when ``error`` is set.
        error: The reason that there is no value.
        output: The worker's stdout during the task, when it was captured; with ``--together`` the
            first device of the worker has it.
        device: The device of a job, as for ``--device``.
        is_reusable: Whether the worker of a job can take another one.
    """

    value: T | None = None
    error: CudarunError | None = None
    output: str = ""
    device: str = ""
    is_reusable: bool = False

    def unwrap(self) -> T:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class WorkerSpec(Generic[S]):
    """The description of a worker; workers of equal specs are interchangeable.

    Attributes:
        initialize: Makes the worker's state, at once. An error that it raises is the answer to
            every task. It must pickle where a preforked process may serve.
        label: The worker's name in messages, where there are several.
        capture: Keep what it writes on stdout instead of passing it on.
        verbose: Log every step on stderr.
        escape: Show the control characters in its stdout as escapes.
    """

    initialize: Callable[[Progress], S]
    label: str = ""
    capture: bool = False
    verbose: bool = False
    escape: bool = False

    @property
    def keeps_stdout(self) -> bool:
        """Return whether the parent reads the worker's stdout."""
        return self.capture or self.escape


@dataclass(frozen=True, slots=True)
class Start:
    """The first message to a process: its spec, and when the parent made it (`time.monotonic`)."""

    spec: WorkerSpec[Any]
    started: float


def serve(parent: Connection, prepare: Callable[[], object] | Start) -> NoReturn:
    """Serve tasks in a new process until the parent ends it.

    Args:
        parent: The connection with the parent, with which the worker dies.
        prepare: The start, or a function to call until the parent sends it.

    It leaves by `os._exit`: process exit tears a driver down faster than the driver's own calls,
    and the parent's buffers and handlers are not the child's.
    """
    try:
        gc.disable()  # nothing that is imported is garbage; collecting takes 7 % of the time
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills it
        for number in (signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):  # the parent's handler
                signal.signal(number, _leave_to_parent)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.environ.setdefault(*_BLAS_THREADS)
        connection.own_page = parent.page
        die_with(parent.process)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        stream = os.fdopen(parent.tasks, "rb")
        start: Start | None
        if isinstance(prepare, Start):
            start = prepare
        else:
            attempt(prepare)  # an error here is raised again when the work needs the import
            start = receive(stream)
        if start is None:  # the parent needs no worker
            os._exit(0)
        spec = start.spec
        if spec.keeps_stdout:
            sys.stderr = os.fdopen(os.dup(2), "w", 1, errors="backslashreplace")  # our own lines
            for descriptor in (1, 2):  # drivers print failed assertions to stderr
                os.dup2(parent.stdout, descriptor)
        progress = Progress(
            parent.page, label=spec.label, verbose=spec.verbose, started=start.started
        )
        state = attempt(partial(spec.initialize, progress))
        gc.freeze()
        gc.enable()
        task: Answer[Any]
        while True:
            task = attempt(partial(receive, stream))
            if task.value is None and task.error is None:
                break
            progress.start_phase()
            answer = attempt(partial(_run, task, state))
            sys.stdout.flush()
            _flush_c_streams()
            send(parent.answers, answer)
            del task, answer
            gc.collect()  # of a launch on cpu, whose objects know one another, 2 MB are left
        os._exit(0)
    finally:
        import traceback

        traceback.print_exc()
        os._exit(1)


def _run(task: Answer[Any], state: Answer[object]) -> object:
    """Run a task that was received with the state that was created, or raise why one is missing."""
    created = state.unwrap()
    return task.unwrap()(created)


def _leave_to_parent(_number: int, _frame: FrameType | None) -> None:
    """Do nothing at a signal to the process group: the parent asks for a report and ends workers.

    Unlike an ignored signal, programs that this process starts do not inherit it.
    """


def attempt(function: Callable[[], T]) -> Answer[T]:
    """Return the value of a function, or the error that it raised."""
    try:
        return Answer(function())
    except CudarunError as error:
        return Answer(error=error)
    except Exception as error:
        if (exhausted := exhaustion(error)) is not None:
            return Answer(error=exhausted)
        return Answer(error=InternalError(error))


def send(pipe: int, message: object) -> None:
    """Write a message."""
    import pickle

    body = pickle.dumps(message)
    with os.fdopen(pipe, "wb", closefd=False) as stream:
        stream.write(HEADER.pack(len(body)))
        stream.write(body)


def receive(stream: BinaryIO) -> Any:
    """Read a message; ``None`` if the other end was closed before it was complete."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    [size] = HEADER.unpack(header)
    body = stream.read(size)
    if len(body) < size:
        return None
    import pickle

    return pickle.loads(body)


def die_with(parent: int) -> None:
    """Have the operating system end this process when the parent dies, however (prctl(2))."""
    import ctypes  # imported only in the worker

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the request took effect
        os._exit(1)


def _flush_c_streams() -> None:
    """Flush the driver's printf output in C's stdout buffer, which `os._exit` would drop."""
    import ctypes

    ctypes.CDLL(None).fflush(None)
