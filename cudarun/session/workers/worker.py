"""The worker's half of a worker process: start, then answer tasks one after the other.

Messages are their length and then their pickle.
"""

from __future__ import annotations

import gc
import os
import signal
import struct
import sys
from _socket import (
    CMSG_SPACE,
    SCM_RIGHTS,
    SOL_SOCKET,
    socket,
)  # of `socket`, whose import takes a while
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from cudarun.base.errors import CudarunError, InternalError, exhaustion
from cudarun.base.records import dataclass
from cudarun.session.workers import connection
from cudarun.session.workers.progress import Progress

if TYPE_CHECKING:
    from cudarun.session.workers.connection import Connection

S = TypeVar("S")
T = TypeVar("T")

HEADER = struct.Struct("=Q")  # the length of a message, which precedes it
_DESCRIPTORS = struct.Struct("=3i")
STDOUT, STDERR = 1, 2
_ANCILLARY = CMSG_SPACE(_DESCRIPTORS.size)
_CHUNK = 1 << 20

# The threads that numpy's OpenBLAS starts when it is imported wait for work by spinning for 2^26
# cycles each, which takes more processor time than the import. They sleep after 2^20 (0.3 ms).
BLAS_THREADS = "OPENBLAS_THREAD_TIMEOUT", "20"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The result of a task, or of a job on one device: a value, or why there is none."""

    value: T | None = None  # the value; ``None`` when ``error`` is set
    error: CudarunError | None = None  # the reason that there is no value
    # The worker's stdout during the task, when it was captured; with ``--together`` the first
    # device of the worker has it.
    output: str = ""
    device: str = ""  # the device of a job, as for ``--device``
    is_reusable: bool = False  # whether the worker of a job can take another one

    def unwrap(self) -> T:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class WorkerSpec(Generic[S]):
    """The description of a worker; workers of equal specs are interchangeable."""

    # Makes the worker's state, at once. An error that it raises is the answer to every task. It
    # must pickle where a preforked process may serve.
    initialize: Callable[[Progress], S]
    label: str = ""  # the worker's name in messages, where there are several
    capture: bool = False  # keep what it writes on stdout instead of passing it on
    verbose: bool = False  # log every step on stderr
    escape: bool = False  # show the control characters in its stdout as escapes
    driver: str = ""  # the driver of its devices, for a worker that can be kept for other commands
    # Called with the state after each answer, to prepare the next task.
    prepare: Callable[[S], object] | None = None

    @property
    def keeps_stdout(self) -> bool:
        """Return whether the parent reads the worker's stdout."""
        return self.capture or self.escape


@dataclass(frozen=True, slots=True)
class Start:
    """The first message to a process: its spec, and when the parent made it (`time.monotonic`)."""

    spec: WorkerSpec[Any]
    started: float


def serve(
    parent: Connection, prepare: Callable[[], object] | Start, *, log: int | None = None
) -> NoReturn:
    """Serve tasks in a new process until the parent ends it.

    Args:
        parent: The connection with the parent, with which the worker dies.
        prepare: The start, or a function to call until the parent sends it.
        log: The stderr between tasks of a worker whose tasks come with their streams: those of the
            command that starts the worker would stay open after it, and the reader of a pipe would
            wait.

    It leaves by `os._exit`: process exit tears a driver down faster than the driver's own calls,
    and the parent's buffers and handlers are not the child's.
    """
    try:
        gc.disable()  # nothing that is imported is garbage; collecting takes 7 % of the time
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills it
        for number in (signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):  # the parent's handler
                # The parent asks for a report and ends workers. Unlike an ignored signal, programs
                # that this process starts do not inherit it.
                signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.environ.setdefault(*BLAS_THREADS)
        connection.own_page = parent.page
        die_with(parent.process)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        if log is not None:
            os.dup2(nowhere, STDOUT)
            os.dup2(log, STDERR)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        read = partial(_read, socket(fileno=parent.tasks))
        start: Start | None
        if isinstance(prepare, Start):
            start = prepare
        else:
            attempt(prepare)  # an error here is raised again when the work needs the import
            start = receive(read)
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
        is_first = True
        import ctypes  # only in the worker

        flush = ctypes.CDLL(None).fflush
        while True:
            task = attempt(partial(receive, read))
            if task.value is None and task.error is None:
                break
            progress.start_phase()
            answer = attempt(partial(_run, task, state))
            sys.stdout.flush()
            flush(None)  # the driver's printf output, which `os._exit` drops
            if log is not None:
                _redirect(nowhere, log)
            send(parent.answers, answer)
            del task, answer
            if spec.prepare is not None:
                state = attempt(partial(_prepared, spec.prepare, state))
                error = state.error
                if isinstance(error, InternalError) and log is not None and not error.is_logged:
                    print(f"error after an answer:\n{error.log}", file=sys.stderr, flush=True)
                    error.is_logged = True
            gc.collect()  # of a launch on cpu, whose objects know one another, 2 MB are left
            if is_first:  # what it has imported would be visited after each task
                gc.freeze()
            is_first = False
        os._exit(0)
    finally:
        import traceback

        traceback.print_exc()
        os._exit(1)


def _run(task: Answer[Any], state: Answer[object]) -> object:
    """Run a task that was received with the state that was created, or raise why one is missing."""
    created = state.unwrap()
    return task.unwrap()(created)


def _prepared(prepare: Callable[[S], object], state: Answer[S]) -> S:
    """Return the state, prepared for the next task; an error there is one of cudarun."""
    created = state.unwrap()
    try:
        prepare(created)
    except CudarunError as error:
        raise InternalError(error) from error
    return created


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


def send(pipe: int, message: object, descriptors: tuple[int, ...] = ()) -> None:
    """Write a message; descriptors come with its header, through a socket."""
    import pickle

    body = pickle.dumps(message)
    data = memoryview(HEADER.pack(len(body)) + body)  # at once: the reader wakes up once
    if descriptors:
        connection = socket(fileno=pipe)
        try:
            own = SOL_SOCKET, SCM_RIGHTS, _DESCRIPTORS.pack(*descriptors)
            data = data[connection.sendmsg([data], [own]) :]
        finally:
            connection.detach()
    while data:
        data = data[os.write(pipe, data) :]


def receive(read: Callable[[int], bytes | bytearray]) -> Any:
    """Read a message; ``None`` if the other end was closed before it was complete.

    Args:
        read: Returns as many bytes, fewer at the end of the stream.
    """
    header = read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    [size] = HEADER.unpack(header)
    body = read(size)
    if len(body) < size:
        return None
    import pickle

    return pickle.loads(body)


def _read(tasks: socket, size: int) -> bytearray:
    """Return as many bytes of tasks, which can come with descriptors; fewer at the end.

    A worker that is kept for several commands uses the streams and the working directory of the
    command that a task belongs to: the descriptors are stdout, stderr and the folder.
    """
    data = bytearray()
    while len(data) < size:
        part, ancillary, *_ = tasks.recvmsg(min(size - len(data), _CHUNK), _ANCILLARY)
        for *_, packed in ancillary:
            stdout, stderr, folder = _DESCRIPTORS.unpack(packed)
            _redirect(stdout, stderr)
            os.fchdir(folder)
            for descriptor in (stdout, stderr, folder):
                os.close(descriptor)
        if not part:
            break
        data += part
    return data


def _redirect(stdout: int, stderr: int) -> None:
    """Write to other files, except what goes to the file of the worker's output."""
    if sys.stderr.fileno() == STDERR:
        os.dup2(stdout, STDOUT)
        os.dup2(stderr, STDERR)
    else:
        os.dup2(stderr, sys.stderr.fileno())


def die_with(parent: int) -> None:
    """Have the operating system end this process when the parent dies, however (prctl(2))."""
    import ctypes  # imported only in the worker

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the request took effect
        os._exit(1)
