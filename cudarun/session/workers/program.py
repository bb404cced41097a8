"""External programs, such as compute-sanitizer and nvcc, in supervised processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

from cudarun.base.errors import RequestError
from cudarun.session.workers import connection
from cudarun.session.workers.parent import STARTUP_LIMIT
from cudarun.session.workers.shared_file import SharedFile
from cudarun.session.workers.worker import die_with

_TICK = 0.05  # seconds between calls of `is_stuck`
_PATIENCE = 3.0  # seconds in which a program ends after SIGTERM, and after SIGKILL
_DELETION = 'read -r _; for _ in 1 2 3 4 5; do rm -rf "$0" && exit; sleep 1; done'


class SupervisedProgram(AbstractContextManager["SupervisedProgram"]):
    """A running program, the first process of a group that ends with it.

    Args:
        stdin: The descriptor that it reads its input from; none by default.
        stdout: The descriptor that it writes its output to; this process's own by default.
        stderr: The same of its error output.
        environment: Variables beside those of this process.
        prepare: Called in the new process before the program, such as to confine it.
        folder: Its working directory; by default that of this process.

    It is a context manager: leaving it leaves no process behind. Neither does a worker that runs a
    program and is killed: its parent kills the program's group.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int | None = None,
        stderr: int | None = None,
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], object] | None = None,
        folder: str | None = None,
    ) -> None:
        self._started, parent = time.monotonic(), os.getpid()

        def begin() -> None:
            """Prepare the process, which leads its group already, to end with its parent."""
            die_with(parent)
            # Its parent could be killed before it notes the group, and its own children go on.
            _note_in_page(os.getpid())
            if prepare is not None:
                prepare()

        self._process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **(environment or {})},
            preexec_fn=begin,
            start_new_session=True,
            cwd=folder,
        )

    def __exit__(self, *_: object) -> None:
        self.end()

    def wait(
        self, timeout: float | None, phase_start: Callable[[], float | None] | None = None
    ) -> int | None:
        """Wait for the program's end; return its status, ``None`` if it was killed at its limit.

        Args:
            timeout: The time limit in seconds; ``None`` for none.
            phase_start: Returns the start of the limited phase, ``None`` before the first; by
                default the limit applies to the whole run.
        """
        while True:
            start = phase_start() if phase_start else self._started
            if timeout is None:
                return self._process.wait()
            end = self._started + STARTUP_LIMIT if start is None else start + timeout
            left = end - time.monotonic()
            try:
                return self._process.wait(max(0.0, min(left, timeout)))
            except subprocess.TimeoutExpired:
                if left > 0.0 or (phase_start and phase_start() != start):
                    continue
                self.end()
                return None

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self._started

    def status(self) -> int | None:
        """Return the status of the program; ``None`` while it runs."""
        return self._process.poll()

    def ends_with_worker(self) -> None:
        """Name this program as the one whose group ends with this worker."""
        _note_in_page(self._process.pid)

    def terminate(self) -> None:
        """Send SIGTERM to the program, if it runs: it passes it on, or ends in order."""
        self._process.terminate()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program and its process group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    @property
    def memory(self) -> int:
        """The resident memory of its process group in bytes."""
        group = self._process.pid
        return sum(_resident(path, group) for path in Path("/proc").glob("[0-9]*/stat"))

    def has_own(self, namespace: str) -> bool:
        """Return whether the program is in another namespace than this process (namespaces(7))."""
        own, others = (f"/proc/{each}/ns/{namespace}" for each in ("self", self._process.pid))
        return os.readlink(own) != os.readlink(others)

    @property
    def has_own_filter(self) -> bool:
        """True if the program has a filter of system calls that this process has not."""
        return _filters(self._process.pid) > _filters(os.getpid())

    def end(self) -> None:
        """Kill the program and its process group."""
        self.send(signal.SIGKILL)
        self._process.wait()
        _note_in_page(0)


def _resident(path: Path, group: int) -> int:
    """Return the resident memory of a process if it is of a group, by its file of proc(5)."""
    try:
        fields = path.read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE") if int(fields[2]) == group else 0


def _filters(process: int) -> int:
    """Return the number of filters of system calls of a process (proc(5), Linux 5.9)."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(each.split()[1]) for each in lines if each.startswith("Seccomp_filters")), 0)


def run_compiler(
    command: Sequence[str], timeout: float | None = None, **environment: str
) -> tuple[int | None, str]:
    """Run a program; return its status, ``None`` if its limit killed it, and its messages."""
    with SharedFile() as output:
        file = output.fileno()
        with SupervisedProgram(
            command, stdout=file, stderr=file, environment=environment
        ) as program:
            status = program.wait(timeout)
        return status, output.read().decode(errors="replace")


def run_in_foreground(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdout_to_stderr: bool,
    meanwhile: Callable[[Callable[[], bool], Callable[[], None]], None] | None = None,
    service: AbstractContextManager[object] | None = None,
    is_stuck: Callable[[], bool] | None = None,
) -> int:
    """Run a program with this process's standard streams and terminal, as a shell does.

    Ctrl-C is the program's: it decides what it means. An error of this process ends the program: in
    order if it reacts to SIGTERM, else by force.

    Args:
        environment: Variables beside those of this process.
        stdout_to_stderr: Pass its output to stderr.
        meanwhile: Called once it runs, with a function that returns whether it still does, and one
            that kills it. The terminal and stdin are not the program's then.
        service: Entered after the program starts, and left when it has ended: a process with
            threads is not forked safely.
        is_stuck: Called from time to time; the program is killed if it returns true, and left
            alone if that is not possible.

    Returns:
        Its exit status as of a shell: 128 + a signal.

    Raises:
        RequestError: The program cannot be started.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=None if meanwhile is None else subprocess.DEVNULL,
            stdout=2 if stdout_to_stderr else None,
            process_group=None if meanwhile is None else 0,
            env={**os.environ, **environment},
            preexec_fn=partial(die_with, os.getpid()),
        )
    except OSError as error:
        reason = error.strerror or str(error)
        raise RequestError(f"{command[0]} cannot be started: {reason}") from error
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    has_stuck = False
    try:
        with service or nullcontext():
            if meanwhile is not None:
                meanwhile(lambda: process.poll() is None, process.kill)
            while process.poll() is None and not has_stuck:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(None if is_stuck is None else _TICK)
                has_stuck = is_stuck is not None and is_stuck()
            if has_stuck:  # before the service is left, which could wait for it
                with suppress(PermissionError):
                    process.kill()
    finally:
        signal.signal(signal.SIGINT, handler)
        for end in (process.kill,) if has_stuck else (process.terminate, process.kill):
            # Another user's program cannot be killed, and a system call can go on after it.
            with suppress(PermissionError, subprocess.TimeoutExpired):
                end()  # does nothing if it has ended
                process.wait(_PATIENCE)
    status = -signal.SIGKILL if process.returncode is None else process.returncode
    return 128 - status if status < 0 else status


def _note_in_page(group: int) -> None:
    if connection.own_page is not None:
        connection.own_page.program = group


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Make a folder, yield its path, and delete it however this process ends.

    If this process cannot, a shell does so as soon as a pipe closes that only this process and its
    workers hold. What a program that ends later still creates, it deletes, too.
    """
    folder = tempfile.mkdtemp(prefix="cudarun-")
    with subprocess.Popen(
        ["/bin/sh", "-c", _DELETION, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as shell:
        yield folder
        with suppress(RecursionError):  # a program can make thousands of folders in each other
            shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            shell.kill()
