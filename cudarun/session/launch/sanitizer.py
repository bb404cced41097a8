"""``launch --sanitize``: the worker under NVIDIA's compute-sanitizer.

The sanitizer instruments a program that it starts itself, so this worker is not forked but a
separate program, `sanitizer_worker`. The sanitizer writes its findings to its log file. A launch
that it did not observe to the end is an error, never a launch without findings.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path

from cudarun.base.errors import (
    CudarunError,
    DeviceFailed,
    NoDevice,
    OutOfTime,
    RequestError,
    WorkerDied,
    worst,
)
from cudarun.base.terminal import visible
from cudarun.diagnostics.entries import SanitizerFinding
from cudarun.diagnostics.sanitizer import SanitizerLog, parse_sanitizer_log
from cudarun.model.detectors import SanitizerReport
from cudarun.model.launch import DeviceOutcome, LaunchReport, LaunchResult
from cudarun.session.compile.toolkit import find_program
from cudarun.session.driver.contexts import Target
from cudarun.session.launch.parent import report
from cudarun.session.launch.request import Program
from cudarun.session.workers.connection import SIZE, Page
from cudarun.session.workers.devices import label_of, labeled, one_by_one
from cudarun.session.workers.job import Devices, answers_of
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.program import SupervisedProgram
from cudarun.session.workers.shared_file import SharedFile
from cudarun.session.workers.worker import Answer, receive, send

PROGRAM = "compute-sanitizer"
_FOUND = 99  # the sanitizer's exit code when it has findings

_OPTIONS = {
    # The bindings query this driver for functions of newer ones, which is not the kernel's fault.
    "memcheck": ("--report-api-errors", "no", "--padding", "4096"),
    "racecheck": (),
    "initcheck": (),
    "synccheck": (),
}
WORKER = "cudarun.session.launch.sanitizer_worker"
"""The module of the worker that the sanitizer starts."""


def sanitize(tool: str, program: Program, target: Target) -> LaunchReport:
    """Launch on each device under a tool of the sanitizer, concurrently.

    Args:
        tool: ``memcheck``, ``racecheck``, ``initcheck`` or ``synccheck``.
    """
    path = find_sanitizer()
    # Without guard zones, in which it would not detect errors, and without our initialization.
    bare = program.with_options(profile=True)
    with WorkerPool() as pool:
        groups = one_by_one(pool, target)
    with ExitStack() as stack:
        runs = [stack.enter_context(_Run(path, tool, bare, each, target)) for each in groups]
        outcomes = [run.outcome() for run in runs]
    return report(program, outcomes)


def find_sanitizer() -> str:
    """Return the path of compute-sanitizer; `NoDevice` if compute-sanitizer is not installed."""
    found = find_program(PROGRAM, PROGRAM)
    if found is None:
        raise NoDevice(
            f"{PROGRAM} is not installed",
            hint="it is part of the CUDA toolkit, and available as `pip install "
            "nvidia-cuda-sanitizer-api`; searched PATH, CUDA_HOME and /usr/local/cuda",
            option="--sanitize",
        )
    return found


class _Run(AbstractContextManager["_Run"]):
    """One device's worker under the sanitizer, started immediately.

    Request, answer, the sanitizer's log, output and progress use shared files, which can be opened
    whatever the sanitizer does with the descriptors of the program that it starts.
    """

    def __init__(
        self, path: str, tool: str, program: Program, devices: Devices, target: Target
    ) -> None:
        self._tool = tool
        self._label = label_of(devices)
        self._target = target
        with ExitStack() as stack:
            self._log, self._output, self._answer = (
                stack.enter_context(SharedFile()) for _ in range(3)
            )
            question, memory = (stack.enter_context(SharedFile()) for _ in range(2))
            os.truncate(memory.fileno(), SIZE)
            self._page = Page(memory.fileno())
            stack.callback(self._page.end_program)
            alone = replace(target, devices=devices)
            send(question.fileno(), (alone, program))
            command = [
                *(path, "--tool", tool, *_OPTIONS[tool]),
                *("--target-processes", "all", "--error-exitcode", str(_FOUND)),
                *("--show-backtrace", "device", "--log-file", self._log.path),
                *(sys.executable, "-m", WORKER, question.path, self._answer.path, memory.path),
            ]
            package = Path(__file__).resolve().parents[3]
            paths = (os.fspath(package), os.environ.get("PYTHONPATH", ""))
            self._program = stack.enter_context(
                SupervisedProgram(
                    command,
                    stdout=self._output.fileno() if target.capture or target.escape else None,
                    environment={"PYTHONPATH": os.pathsep.join(filter(None, paths))},
                )
            )
            self._stack = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def outcome(self) -> DeviceOutcome:
        """Wait for the end; return the launch's result and the sanitizer's, or the error."""
        label, tool, limit = self._label, self._tool, self._target.timeout
        status = self._program.wait(limit, lambda: self._page.phase_start)
        output = self._output.read().decode(errors="replace")
        if self._target.escape:
            sys.stdout.write(visible(output))
            output = ""
        text = self._log.read().decode(errors="replace")
        if status is None:
            late = OutOfTime(
                f"timed out after {limit:g} s under {PROGRAM} (--timeout {limit:g}); it was killed",
                hint=f"kernels run many times slower under {tool}",
                device=label,
            )
            return DeviceOutcome(label, None, late, output)
        log = parse_sanitizer_log(text)
        received: Answer[list[Answer[LaunchResult]]] | None = receive(
            io.BytesIO(self._answer.read()).read
        )
        if received is None:
            return DeviceOutcome(label, None, _failure(log, text, status).at(device=label), output)
        [answer] = (labeled(each, label) for each in answers_of(received))
        label, result, error = answer.device, answer.value, answer.error
        if error is not None and not isinstance(error, DeviceFailed):
            return DeviceOutcome(label, None, error, output)
        if log.total is None or log.complaints:
            return DeviceOutcome(label, None, _failure(log, text, status).at(device=label), output)
        kernel = error.context.get("kernel") if error is not None else answer.unwrap().demangled
        found = SanitizerReport(tool, _findings(log, text, status, kernel), log.total)
        error = worst((error, *(result.errors if result is not None else ())))
        return DeviceOutcome(label, result, error, output, found)


def _findings(
    log: SanitizerLog, text: str, status: int, kernel: str | None
) -> tuple[SanitizerFinding, ...]:
    """Return the findings; the whole log if part of it could not be parsed.

    A finding whose frames do not lead to a kernel is attributed to the launched one.
    """
    counted = bool(log.total) or status == _FOUND
    if counted and not log.findings:
        lines = tuple(line.lstrip("= ") for line in text.splitlines())
        return (
            SanitizerFinding("unrecognised", "error", "an unrecognized finding", details=lines),
        )
    return tuple(replace(found, kernel=found.kernel or kernel) for found in log.findings)


def _failure(log: SanitizerLog, text: str, status: int) -> CudarunError:
    """Return the reason that the sanitizer gave no result."""
    first = log.complaints[0].splitlines()[0] if log.complaints else ""
    words = first.removeprefix("Error: ") or f"it exited with status {status} without a summary"
    if "not supported" in words:
        return DeviceFailed(f"{PROGRAM}: {words}", log=text or None)
    return WorkerDied(f"{PROGRAM}: {words}", log=text or None)


def refuse_emulated(target: Target) -> None:
    """Refuse emulated devices, because the sanitizer instruments SASS."""
    if any(selector.driver == "cpu" for selector in target.devices):
        raise RequestError(
            f"{PROGRAM} requires a GPU; cpu is emulated",
            hint="cpu checks every access; add --detect race,uninit,sync for data races, "
            "uninitialized reads and synchronization errors",
            option="--sanitize",
        )
