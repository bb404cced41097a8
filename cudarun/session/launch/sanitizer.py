"""``launch --sanitize``: the worker under NVIDIA's compute-sanitizer.

The sanitizer instruments a program that it starts itself, so this worker is no fork of ours but a
process of its own, `sanitized`; request and answer go through files. The sanitizer's words come in
its log file. A launch that it did not see to the end is an error, never a launch without findings.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import util
from pathlib import Path

from cudarun.diagnostics.findings import Finding
from cudarun.diagnostics.sanitizer import SanitizerLog, parse_sanitizer_log
from cudarun.errors import CudarunError, DeviceFailed, NoDevice, OutOfTime, RequestError, WorkerDied
from cudarun.records import dataclass
from cudarun.report.sanitizer_types import SanitizerReport
from cudarun.report.types import DeviceOutcome, LaunchReport
from cudarun.session.driver.selection import Selector
from cudarun.session.driver.target import Target
from cudarun.session.launch.request import LaunchRequest
from cudarun.session.workers.fleet import label_of, one_by_one
from cudarun.session.workers.temporary import temporary_folder
from cudarun.session.workers.worker import die_with

PROGRAM = "compute-sanitizer"
_HOMES = ("CUDA_HOME", "CUDA_PATH")
_FOLDERS = ("bin", "compute-sanitizer")  # of a toolkit, below its home
_FOUND = 99  # what the sanitizer is told to end with when it has found something

_OPTIONS = {
    # The bindings ask this driver for functions of newer ones: no fault of the kernel's.
    "memcheck": ("--report-api-errors", "no", "--padding", "4096"),
    "racecheck": (),
    "initcheck": (),
    "synccheck": (),
}
_REQUEST, _ANSWER, _LOG, _OUTPUT = "request", "answer", "log", "output"


def sanitize(tool: str, request: LaunchRequest, target: Target) -> LaunchReport:
    """Launch on each device under a tool of the sanitizer, side by side.

    Args:
        tool: ``memcheck``, ``racecheck``, ``initcheck`` or ``synccheck``.
        request: What to launch.
        target: Where.

    Raises:
        NoDevice: The sanitizer is not installed; there is no device.
    """
    program = find_program()
    # No guard zones, in which it would see nothing wrong, and nothing initialised by us.
    bare = replace(request, profile=True)
    with temporary_folder("cudarun-sanitize-") as folder:
        groups = one_by_one(target)
        with _all_ended() as processes:
            runs = []
            for index, selectors in enumerate(groups):
                run = _Run(folder / str(index), selectors, target)
                processes.append(run.start(program, tool, bare))
                runs.append(run)
            outcomes = [run.outcome(tool) for run in runs]
    return LaunchReport(
        image=request.image.origin,
        seed=request.seed if request.is_random else None,
        outcomes=tuple(outcomes),
    )


def find_program() -> str:
    """The path of compute-sanitizer.

    Raises:
        NoDevice: It is not installed.
    """
    homes = [os.environ[name] for name in _HOMES if os.environ.get(name)] + ["/usr/local/cuda"]
    places = [os.path.join(home, folder) for home in homes for folder in _FOLDERS]
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *places, *_wheels()])
    found = shutil.which(PROGRAM, path=path)
    if found is None:
        raise NoDevice(
            f"--sanitize: {PROGRAM} is not installed",
            hint="it comes with the CUDA toolkit, and as `pip install nvidia-cuda-sanitizer-api`; "
            "looked for on PATH, in CUDA_HOME and in /usr/local/cuda",
        )
    return found


def _wheels() -> Iterator[str]:
    """Where NVIDIA's wheels have it."""
    package = util.find_spec("nvidia")
    for place in (package.submodule_search_locations or ()) if package else ():
        yield from (os.fspath(path) for path in Path(place).glob(f"*/{PROGRAM}"))


@contextmanager
def _all_ended() -> Iterator[list[subprocess.Popen[bytes]]]:
    """A list of processes, each the first of a group, of which none is left afterwards."""
    processes: list[subprocess.Popen[bytes]] = []
    try:
        yield processes
    finally:
        for process in processes:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@dataclass(slots=True)
class _Run:
    """One device's worker under the sanitizer; ``folder`` is where they leave their files."""

    folder: Path
    selectors: Sequence[Selector]
    target: Target
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0

    def start(self, program: str, tool: str, request: LaunchRequest) -> subprocess.Popen[bytes]:
        """Start the sanitizer with the worker under it."""
        self.folder.mkdir()
        alone = replace(self.target, devices=tuple(self.selectors))
        (self.folder / _REQUEST).write_bytes(pickle.dumps((alone, request)))
        command = [
            *(program, "--tool", tool, *_OPTIONS[tool]),
            *("--target-processes", "all", "--error-exitcode", str(_FOUND)),
            *("--show-backtrace", "device", "--log-file", os.fspath(self.folder / _LOG)),
            *(sys.executable, "-m", "cudarun.session.launch.sanitized", os.fspath(self.folder)),
        ]
        package = Path(__file__).resolve().parents[2]
        paths = (os.fspath(package), os.environ.get("PYTHONPATH", ""))
        self.started = time.monotonic()
        with open(self.folder / _OUTPUT, "wb") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output if self.target.capture else None,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
                preexec_fn=partial(die_with, os.getpid()),
                start_new_session=True,
            )
        return self.process

    def outcome(self, tool: str) -> DeviceOutcome:
        """Wait for the end; the launch's result and the sanitizer's, or why there is none."""
        assert self.process is not None, "it has been started"
        label = label_of(self.selectors)
        status = self._wait(self.process)
        output = (self.folder / _OUTPUT).read_text(errors="replace")
        text = self._read(_LOG)
        if status is None:
            assert self.target.timeout is not None, "else nobody stops waiting"
            error = OutOfTime(
                f"no result within {self.target.timeout:g} s under {PROGRAM}; it was killed",
                hint=f"a kernel takes many times as long under {tool}",
                device=label,
            )
            return DeviceOutcome(label, None, error, output)
        log = parse_sanitizer_log(text)
        answer = self.folder / _ANSWER
        if not answer.exists():
            return DeviceOutcome(label, None, _failure(log, text, status).at(device=label), output)
        [(label, result, error)] = pickle.loads(answer.read_bytes())
        if error is not None and not isinstance(error, DeviceFailed):
            return DeviceOutcome(label, None, error, output)
        if log.total is None or log.complaints:
            return DeviceOutcome(label, None, _failure(log, text, status).at(device=label), output)
        kernel = error.context.get("kernel") if error is not None else result.demangled
        report = SanitizerReport(tool, _findings(log, text, status, kernel), log.total)
        return DeviceOutcome(label, result, error, output, report)

    def _wait(self, process: subprocess.Popen[bytes]) -> int | None:
        limit = self.target.timeout
        left = None if limit is None else max(0.0, self.started + limit - time.monotonic())
        try:
            return process.wait(left)
        except subprocess.TimeoutExpired:
            _end(process)
            return None

    def _read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""


def _findings(log: SanitizerLog, text: str, status: int, kernel: str | None) -> tuple[Finding, ...]:
    """What was found; all that was said, where that is more than could be understood.

    A finding whose frames do not lead to a kernel is of the one that was launched.
    """
    counted = bool(log.total) or status == _FOUND
    if counted and not log.findings:
        lines = tuple(line.lstrip("= ") for line in text.splitlines())
        return (Finding("unrecognised", "error", "a finding in unknown words", details=lines),)
    return tuple(replace(found, kernel=found.kernel or kernel) for found in log.findings)


def _failure(log: SanitizerLog, text: str, status: int) -> CudarunError:
    """Why there is no result of the sanitizer's."""
    first = log.complaints[0].splitlines()[0] if log.complaints else ""
    words = first.removeprefix("Error: ") or f"it ended with status {status} and no summary"
    if "not supported" in words:
        return DeviceFailed(f"{PROGRAM}: {words}", log=text or None)
    return WorkerDied(f"{PROGRAM}: {words}", log=text or None)


def refuse_emulated(target: Target) -> None:
    """The sanitizer instruments machine code.

    Raises:
        RequestError: One of the devices is emulated.
    """
    if any(selector.driver == "cpu" for selector in target.devices):
        raise RequestError(
            f"--sanitize: {PROGRAM} is for GPUs, and cpu is emulated",
            hint="on cpu every access is checked at any rate, and --detect race,uninit finds "
            "races and what is read before it is written",
        )


# --- for the process under the sanitizer ----------------------------------------------------------


def read_request(folder: Path) -> tuple[Target, LaunchRequest]:
    """What the parent left there."""
    found: tuple[Target, LaunchRequest] = pickle.loads((folder / _REQUEST).read_bytes())
    return found


def leave_answer(folder: Path, answer: object) -> None:
    """Put the answer where the parent looks for it, whole."""
    unfinished = folder / f"{_ANSWER}.unfinished"
    unfinished.write_bytes(pickle.dumps(answer))
    unfinished.rename(folder / _ANSWER)
