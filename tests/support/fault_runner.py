"""How a cell of the fault matrix is run: the process, what is done to it, what is looked at after.

Everything is real: processes are killed, files limited, terminals closed. What is waited for is
what the command says (``--trace``) or the processes that there are, never a time.
"""

from __future__ import annotations

import ctypes
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.support.forked_processes import run_in_session
from tests.support.processes import (
    PATIENCE,
    PYTHON_PATH,
    ROOT,
    children,
    is_alive,
    marked,
    of_session,
    wait_until,
)

IMAGE = os.fspath(ROOT / "tests" / "data" / "faults" / "faults.ptx")
CUBIN = ROOT / "tests" / "images" / "golden" / "facts.cubin"
GOOD_LAUNCH = (
    *("launch", IMAGE, "-k", "good", "--block", "64", "out=i32[64]", "n=i32:64"),
    *("--check", "out == arange(64)"),
)
MARK = "CUDARUN_FAULT_MATRIX"
ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_TIME_TO_END = 60.0  # seconds after which a process of a run is one that it has left behind
_CAP_DAC_OVERRIDE, _PR_CAPBSET_DROP = 1, 24


@dataclass(frozen=True, slots=True)
class _Files:
    """Files that a scene makes, as they stand in a cell's arguments."""

    half_a_cubin: str = "{folder}/half.cubin"
    broken_ptx: str = "{folder}/broken.ptx"
    pipe: str = "{folder}/pipe"


FILES = _Files()


@dataclass(frozen=True, slots=True)
class Cell:
    """A fault under one command.

    Attributes:
        arguments: Of ``cudarun``, without ``-d``; the text after ``--spec`` is the spec itself.
            ``{folder}`` is the scene's.
        exit_code: What it is to end with; negative: the signal that ends it.
        says: A regular expression that its output is to match.
        intact: Another, for each device as ``{device}``: what came of everything else.
        others: Likewise, for each device but the first.
        saved: A file that each device but the first is to leave; nobody leaves any other.
        meanwhile: Done while it runs.
        stdin: ``closed``: without one; ``terminal``: in a terminal of its own.
        stdout: A file to write to.
        stderr: Likewise.
        file_limit: No file may have more bytes (``RLIMIT_FSIZE``).
        ignored: Signals that it is started with as ignored, as by nohup. No other is, however
            these tests were started.

    A word ``{limit}`` of the arguments is the scene's time limit, which ``says`` may name, too.
    """

    arguments: tuple[str, ...]
    exit_code: int
    says: str = ""
    intact: str = ""
    others: str = ""
    saved: str = ""
    meanwhile: Callable[[Run], None] | None = None
    stdin: str = ""
    stdout: str = ""
    stderr: str = ""
    file_limit: int | None = None
    ignored: tuple[signal.Signals, ...] = ()

    @property
    def is_undisturbed(self) -> bool:
        """Whether nothing is done to the process: its arguments alone make the fault."""
        return self == Cell(
            self.arguments, self.exit_code, self.says, self.intact, self.others, self.saved
        )


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a cell: how it ended, in what time, and what is not as it should be."""

    exit_code: int
    seconds: float
    output: str
    problems: tuple[str, ...]


class Scene:
    """A folder and devices to work with; all that is started carries a mark by which it is found.

    Args:
        folder: For all files.
        devices: Their labels.
        patience: Seconds that a cell may take before it counts as hanging.
        limit: Seconds that a kernel that does not end gets.
        forked: Whether undisturbed cells run in processes that are forked (`forked_processes`).
    """

    def __init__(
        self,
        folder: Path,
        devices: Sequence[str],
        *,
        patience: float = PATIENCE,
        limit: int = 3,
        forked: bool = False,
    ) -> None:
        self.folder = folder
        self.patience = patience
        self.limit = limit
        self.forked = forked
        self.devices = tuple(devices)
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        (folder / "half.cubin").write_bytes(CUBIN.read_bytes()[:600])
        text = Path(IMAGE).read_text()
        (folder / "broken.ptx").write_text(text.replace("ret;", "ret.nonsense;", 1))
        os.mkfifo(folder / "pipe")

    def run(self, cell: Cell) -> Result:
        """Run a cell and look at what is left of it."""
        output_folder = Path(tempfile.mkdtemp(dir=self.folder, prefix="out-"))
        with tempfile.TemporaryFile(dir=self.folder) as said:
            started = time.monotonic()
            arguments = self._arguments(cell, output_folder)
            run: Run | ForkedRun
            if self.forked and cell.is_undisturbed:
                run = ForkedRun(self, arguments, output_folder)
            else:
                run = Run(self, cell, arguments, output_folder, said)
            run.finish()
            seconds = time.monotonic() - started
            problems = [*self._problems(cell, run), *self._left(cell, run)]
            output_folder.chmod(0o700)
            shutil.rmtree(output_folder)
            run.end_all()
            return Result(run.exit_code, seconds, run.output, tuple(problems))

    def is_fine(self) -> str:
        """Launch once more on all devices; what is wrong with that, or nothing."""
        return "; ".join(self.run(Cell(GOOD_LAUNCH, 0, intact="on {device} ")).problems)

    def _arguments(self, cell: Cell, output_folder: Path) -> list[str]:
        filled = []
        for word in cell.arguments:
            if "[[launch]]" in word:
                spec = self.folder / "cases.toml"
                spec.write_text(self._fill(word, output_folder))
                filled.append(os.fspath(spec))
            else:
                filled.append(self._fill(word, output_folder))
        return [*filled, "-d", ",".join(self.devices)]

    def _fill(self, word: str, output_folder: Path) -> str:
        """Outputs have a folder of their own in each run; inputs that of the scene."""
        is_output = "{{device}}" in word
        folder = os.fspath(output_folder if is_output else self.folder)
        word = word.replace("{limit}", str(self.limit))
        return word.replace("{folder}", folder).replace("{{device}}", "{device}")

    def environment(self) -> dict[str, str]:
        """Return the variables of the processes."""
        return {
            **os.environ,
            "PYTHONPATH": PYTHON_PATH,
            "TMPDIR": os.fspath(self.temporary),
            "CUDARUN_CPU_DEVICES": str(max(1, len(self.devices))),
        }

    def _problems(self, cell: Cell, run: Run | ForkedRun) -> Iterator[str]:
        if run.exit_code != cell.exit_code:
            yield f"ended with {run.exit_code}, not {cell.exit_code}"
        says = cell.says.replace("{limit}", str(self.limit))
        if not re.search(says, run.output):
            yield f"does not say '{says}'"
        if "Traceback" in run.output:
            yield "shows a traceback"
        wanted = [(cell.intact, self.devices), (cell.others, self.devices[1:])]
        for pattern, devices in wanted:
            for device in devices:
                if not re.search(pattern.replace("{device}", re.escape(device)), run.output):
                    yield f"does not say '{pattern}' of {device}"

    def _left(self, cell: Cell, run: Run | ForkedRun) -> Iterator[str]:
        """Processes and files that are left and should not be, or are not and should."""
        for pid in run.left_behind():
            yield f"process {pid} is left"
        files = {path.name for path in run.folder.iterdir()}
        names = (device.replace(":", "-") for device in self.devices[1:])
        wanted = {cell.saved.format(device=name) for name in names} if cell.saved else set()
        for name in files ^ wanted:
            yield f"{name} is {'left' if name in files else 'missing'}"
        for path in self.temporary.iterdir():
            yield f"TMPDIR has {path.name}"
            shutil.rmtree(path) if path.is_dir() else path.unlink()


class Run:
    """One process of ``cudarun`` and what it has said so far."""

    def __init__(
        self, scene: Scene, cell: Cell, arguments: list[str], folder: Path, said: IO[bytes]
    ) -> None:
        self.scene = scene
        self.folder = folder
        self._cell = cell
        self._mark = f"{MARK}={uuid.uuid4().hex}"
        self._said = said
        self._limit = time.monotonic() + scene.patience
        self.terminal: int | None = None
        self.exit_code = 0
        command = [sys.executable, "-m", "cudarun", *arguments]
        with self._streams() as (stdin, stdout, stderr):
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=scene.environment() | {MARK: self._mark.removeprefix(f"{MARK}=")},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                preexec_fn=self._prepare,
                start_new_session=True,
            )

    @contextmanager
    def _streams(self) -> Iterator[tuple[int, int, int]]:
        """Stdin, stdout and stderr of the process; both outputs together, in a file."""
        opened = []
        outputs = []
        for name in (self._cell.stdout, self._cell.stderr):
            if name:
                opened.append(os.open(name, os.O_WRONLY))
            outputs.append(opened[-1] if name else self._said.fileno())
        stdin = os.open(os.devnull, os.O_RDONLY)
        opened.append(stdin)
        if self._cell.stdin == "terminal":
            self.terminal, stdin = pty.openpty()
            opened.append(stdin)
        yield stdin, outputs[0], outputs[1]
        for descriptor in opened:
            os.close(descriptor)

    def _prepare(self) -> None:
        """Set up the child, before it becomes ``cudarun``."""
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in ENDING:
            is_ignored = number in self._cell.ignored
            signal.signal(number, signal.SIG_IGN if is_ignored else signal.SIG_DFL)
        if self._cell.stdin == "closed":
            os.close(0)
        if self._cell.stdin == "terminal":
            import fcntl
            import termios

            fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # it leads a session, and this is its terminal
        if self._cell.file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._cell.file_limit,) * 2)
        # Even root is then bound by a folder's permissions (capabilities(7)).
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)

    @property
    def output(self) -> str:
        """What it has written so far, on stdout and stderr."""
        size = os.fstat(self._said.fileno()).st_size
        return os.pread(self._said.fileno(), size, 0).decode(errors="replace")

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for something while the process runs.

        Raises:
            TimeoutError: It did not happen.
        """
        while not holds():
            if time.monotonic() > self._limit:
                raise TimeoutError(f"{what}: waited in vain; so far:\n{self.output}")
            if self.process.poll() is not None:
                raise TimeoutError(f"{what}: it ended before;\n{self.output}")
            time.sleep(0.01)

    def finish(self) -> None:
        """Do what is to be done meanwhile, and wait for the end."""
        try:
            if self._cell.meanwhile is not None:
                self._cell.meanwhile(self)
            self.exit_code = self.process.wait(max(1.0, self._limit - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            self.end_all()
            self.process.wait()
            raise
        finally:
            if self.terminal is not None:
                os.close(self.terminal)
                self.terminal = None

    def workers(self) -> list[int]:
        """Return the children of the process, oldest first: process IDs may have wrapped around."""
        with suppress(OSError):  # it has ended
            return [pid for pid in children(self.process.pid) if is_alive(pid)]
        return []

    def left_behind(self) -> list[int]:
        """Return the processes of this run that do not end."""
        return _remaining(lambda: marked(self._mark))

    def end_all(self) -> None:
        """Kill whatever carries the mark."""
        _kill(marked(self._mark))


class ForkedRun:
    """A run of ``cudarun`` that is left alone, in a process that has imported it already."""

    def __init__(self, scene: Scene, arguments: list[str], folder: Path) -> None:
        self.folder = folder
        self._scene = scene
        self._arguments = arguments
        self._mark = f"{MARK}={uuid.uuid4().hex}"
        self._session = 0
        self.exit_code = 0
        self.output = ""

    def finish(self) -> None:
        """Run it to its end."""
        environment = self._scene.environment() | {MARK: self._mark.removeprefix(f"{MARK}=")}
        self.exit_code, self._session, output = run_in_session(self._arguments, ROOT, environment)
        self.output = output.decode(errors="replace")

    def _processes(self) -> list[int]:
        """Return those that were forked, and those that run another program."""
        return [*of_session(self._session), *marked(self._mark)]

    def left_behind(self) -> list[int]:
        """Return the processes of this run that do not end."""
        return _remaining(self._processes)

    def end_all(self) -> None:
        """Kill whatever belongs to this run."""
        _kill(self._processes())


def _remaining(processes: Callable[[], list[int]]) -> list[int]:
    with suppress(TimeoutError):
        wait_until(lambda: not processes(), "end of the processes", _TIME_TO_END)
    return processes()


def _kill(processes: list[int]) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


# --- what is done meanwhile ----------------------------------------------------------------------


def wait_for_buffer(run: Run) -> None:
    """Wait until every device has its buffer, so that its kernel is launched in the next moment.

    ``managed`` has one worker, which goes from device to device.
    """
    count = 1 if "managed" in run.process.args else len(run.scene.devices)  # type: ignore[operator]
    run.wait_until(lambda: run.output.count("cuMemAlloc(") >= count, "a launch")


def wait_for_kernel(run: Run) -> None:
    """Wait for the buffers, and a moment more: most often the kernel runs then.

    What is done next must come to the same where it does not run yet.
    """
    wait_for_buffer(run)
    time.sleep(0.2)


def wait_for_copy_back(run: Run) -> None:
    """Wait until every device has the result copied, and begins to save it."""
    count = len(run.scene.devices)
    run.wait_until(lambda: run.output.count("cuMemcpyDtoH") >= count, "a copy back")


def wait_for_worker(run: Run) -> None:
    """Wait until there is a worker for every device."""
    run.wait_until(lambda: len(run.workers()) >= len(run.scene.devices), "workers")


def feed_image(run: Run) -> None:
    """Write the good image to the pipe as soon as the command reads it."""
    opened: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):  # to open it to write would wait for a reader, even if none comes
            opened.append(os.open(run.scene.folder / "pipe", os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    run.wait_until(is_read, "a reader of the pipe")
    os.set_blocking(opened[0], True)
    with os.fdopen(opened[0], "wb") as pipe:
        pipe.write(Path(IMAGE).read_bytes())


def kill_worker(run: Run, number: int) -> None:
    """Send a signal to the first device's worker, which is the oldest."""
    os.kill(run.workers()[0], number)


def kill_parent(run: Run) -> None:
    """End the command so that it can do nothing about it."""
    run.process.kill()


def terminate(run: Run) -> None:
    """End the command as service managers and ``timeout`` do."""
    run.process.terminate()


def close_terminal(run: Run) -> None:
    """Close the terminal that the command runs in."""
    assert run.terminal is not None, "the cell has a terminal"
    os.close(run.terminal)
    run.terminal = None


def make_read_only(run: Run) -> None:
    """Take the right to write away from the folder of the outputs."""
    run.folder.chmod(0o500)
