"""``cudarun exec``: the program runs with libraries of ours, and servers of its processes."""

from __future__ import annotations

import json
import os
import pickle
import re
import shlex
import signal
import socket
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from cudarun.base.records import dataclass
from cudarun.images.demangler import base_name, demangle
from cudarun.model.detectors import DetectorReport
from cudarun.model.exec import SIGNALED, ExecReport, ExecutedKernel, UncheckedError, UnsupportedCall
from cudarun.programs.report import USED, ProcessReport, read_report
from cudarun.session.driver.selection import process_profile
from cudarun.session.exec.libraries import ASSEMBLER, AUDIT, build_cuda_libraries
from cudarun.session.exec.request import ExecRequest
from cudarun.session.exec.server_process import ServerProcess, take
from cudarun.session.exec.symbols import function_at
from cudarun.session.workers.program import run_in_foreground, temporary_folder

_DRAIN, _STOP = 2, 3  # messages to the servers
_SOCKET = "CUDARUN_EXEC_SOCKET"
_TICK = 0.01  # seconds between looks at the servers, if there is a time limit
_PATIENCE = 10.0  # seconds in which killed processes end
_STOPPING = 120.0  # seconds in which servers write their reports, however busy the machine
_STALL = 30.0  # seconds in which a kernel that outlives its program must finish a block
_STATIC = (
    "{}: it contains the CUDA runtime, which uses the driver in undocumented ways; "
    "link it with nvcc -cudart shared"
)
_FOREIGN = (
    "{}{}: it contains machine code of NVIDIA's GPUs and its own CUDA runtime, "
    "which the emulated device cannot run; build it with PTX and nvcc -cudart shared"
)


@dataclass(frozen=True, slots=True)
class ProgramDebugger:
    """The debugger of the kernels of a program."""

    module: str  # the module of the servers
    address: str  # that of the debugger, for the servers
    # Called once the program runs, with a function that returns whether kernels can be launched,
    # and one that kills the program.
    run: Callable[[Callable[[], bool], Callable[[], None]], None]


def execute(
    request: ExecRequest, prepare: Callable[[], None], debugger: ProgramDebugger | None = None
) -> ExecReport:
    """Run a program on the emulated device.

    Args:
        request: The program.
        prepare: Called while the servers start.
        debugger: Debugs its kernels.

    Raises:
        RequestError: The libraries cannot be built, or the program cannot be started.
    """
    profile = process_profile(request.profile)
    with temporary_folder() as name:
        folder = Path(name)
        build_cuda_libraries(folder)
        if request.command[0].endswith(".cu"):
            # Imported here: most programs are compiled already.
            from cudarun.session.exec.compiler import compile_program

            source, information = request.command[0], "-lineinfo" if debugger is None else "-G"
            program = compile_program(source, folder, profile.architecture, information)
            request = replace(request, command=(program, *request.command[1:]))
        start = time.monotonic()
        with running_servers(request, folder, debugger) as servers:
            prepare()
            end = None if request.timeout is None else time.monotonic() + request.timeout
            status, is_late = _run(request, folder, servers, end, debugger)
            is_late = servers.finish(is_late or status in SIGNALED, end) or is_late
            if is_late:
                _kill_all(folder)
        seconds = time.monotonic() - start
        return execution_report(
            request, folder, status, seconds, is_late=is_late, is_broken=servers.have_failed
        )


class Servers:
    """The process whose copies are the servers of the program's processes."""

    def __init__(self, path: Path, program: ServerProcess) -> None:
        self._path = path
        self._program = program
        self.have_failed = False  # whether one has ended without its report
        self._is_draining = False

    def finish(self, is_killed: bool, end: float | None) -> bool:
        """Wait until the servers have written their reports.

        The work that is left ends, as on a GPU, if the program was killed, or at Ctrl-C. Servers
        that do not write their reports then are killed.

        Args:
            is_killed: Whether a signal has ended the program.
            end: When the time limit of the program is exceeded; ``None`` without one.

        Returns:
            Whether it is exceeded.
        """
        if not self._path.with_name(USED).exists():
            return False  # no process has called CUDA
        is_late = False
        if not is_killed:
            self._send(_DRAIN)
            with suppress(KeyboardInterrupt):
                if end is None:
                    self._program.wait(None)
                while self._program.status() is None and not is_late:
                    time.sleep(_TICK)
                    is_late = end is not None and time.monotonic() >= end
        self.stop()
        stopped = time.monotonic()
        self.have_failed = self._program.wait(_STOPPING, lambda: stopped) != 0
        return is_late

    def have_work(self) -> bool:
        """Return whether servers have work of a program that has ended."""
        if not self._is_draining:
            self._is_draining = True
            self._send(_DRAIN)
        return self._program.status() is None

    def stop(self) -> None:
        """Let the servers write their reports now."""
        self._send(_STOP)

    def _send(self, message: int) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as end, suppress(OSError):
            end.connect(os.fspath(self._path))
            end.send(struct.pack("=QQ", message, 0))


@contextmanager
def running_servers(
    request: ExecRequest, folder: Path, debugger: ProgramDebugger | None = None
) -> Iterator[Servers]:
    """Start the servers of a program with `program_environment`; they end with the context."""
    path = folder / "socket"
    options = {
        "folder": os.fspath(folder),
        "profile": request.profile,
        "detect": request.detect,
        "stats": request.stats,
        "engine": request.engine,
        # Else the time limit ends the work that is left, or the user.
        "stall": _STALL if request.timeout is None and debugger is None else None,
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(os.fspath(path))
        listener.listen(1024)
        module = () if debugger is None else (debugger.module, json.dumps(debugger.address))
        process = take(*module)
        with process:
            process.listen(listener, options)
            listener.close()  # no process waits for servers that have ended
            yield Servers(path, process)


def program_environment(folder: Path) -> dict[str, str]:
    """Return the variables by which a program finds the libraries of a folder, and its servers."""
    audited, audit = os.environ.get("LD_AUDIT"), os.fspath(folder / AUDIT)
    return {
        "LD_AUDIT": f"{audit}:{audited}" if audited else audit,
        "CUDARUN_EXEC_LIBRARIES": os.fspath(folder),
        _SOCKET: os.fspath(folder / "socket"),
        "TRITON_LIBCUDA_PATH": os.fspath(folder),
        "TRITON_PTXAS_PATH": os.fspath(folder / ASSEMBLER),
        "TRITON_PTXAS_BLACKWELL_PATH": os.fspath(folder / ASSEMBLER),  # of newer versions
    }


def _run(
    request: ExecRequest,
    folder: Path,
    servers: Servers,
    end: float | None,
    debugger: ProgramDebugger | None,
) -> tuple[int, bool]:
    """Run the program; return its exit status, and whether it exceeded the time limit."""
    is_late = False

    def debug(is_running: Callable[[], bool], kill: Callable[[], None]) -> None:
        assert debugger is not None
        debugger.run(lambda: is_running() or servers.have_work(), kill)

    def is_stuck() -> bool:
        nonlocal is_late
        if not is_late and end is not None and time.monotonic() >= end:
            is_late = True
            servers.stop()
        return is_late

    status = run_in_foreground(
        request.command,
        program_environment(folder),
        stdout_to_stderr=request.keeps_stdout,
        meanwhile=None if debugger is None else debug,
        is_stuck=None if end is None else is_stuck,
    )
    return status, is_late


def _kill_all(folder: Path) -> None:
    """Kill the processes that the program has started, which have its environment.

    One that goes on all the same, in a system call that does not return, is left.
    """
    mark = f"{_SOCKET}={folder / 'socket'}\0".encode()
    end = time.monotonic() + _PATIENCE
    found = True
    while found and time.monotonic() < end:
        found = False
        time.sleep(_TICK)  # those that were killed end
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # it has ended, or is another user's
                if mark in path.read_bytes():
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    found = True


# --- the report ----------------------------------------------------------------------------------


def execution_report(
    request: ExecRequest,
    folder: Path,
    status: int,
    seconds: float,
    *,
    is_late: bool,
    is_broken: bool,
) -> ExecReport:
    """Return the report of a run from what its servers have written to their folder."""
    reports: list[ProcessReport] = []
    unsupported: Counter[str] = Counter()
    defects: list[str] = []
    for path in sorted(folder.glob("report-*[0-9]")):  # none that is only written in part
        try:
            reports.append(read_report(path.read_bytes()))
            unsupported.update(reports[-1].unsupported)
            defects += reports[-1].defects
        except pickle.UnpicklingError as error:
            defects.append(f"the report of a process cannot be read: {error}")
    if is_broken and not defects:
        defects.append("a server of the program's processes has ended without its report")
    return ExecReport(
        program=shlex.join(request.command),
        program_status=status,
        seconds=seconds,
        kernels=_kernels(reports),
        detectors=tuple(_detectors(request, reports)),
        unchecked=tuple(_unchecked(reports)),
        unsupported=tuple(UnsupportedCall(*row) for row in sorted(unsupported.items())),
        problems=tuple(dict.fromkeys(_problems(request, reports))),
        defects=tuple(dict.fromkeys(defects)),
        fault=None if defects else _with_name(each.fault for each in reports),
        limit=request.timeout if is_late else None,
        running=_with_name(each.running for each in reports),
        has_runtime=not all(_is_library(file) for each in reports for file in each.foreign),
        keeps_status=request.exit_code == "program",
    )


def _with_name(texts: Iterable[str | None]) -> str | None:
    """Return the first text about a kernel, with its name in C++ spelling."""
    text = next(filter(None, texts), None)
    return text and re.sub(r"(?<=^kernel )[^\s:]+", lambda found: demangle(found[0]), text)


def _kernels(reports: Iterable[ProcessReport]) -> tuple[ExecutedKernel, ...]:
    launches, seconds = Counter[str](), defaultdict[str, float](float)
    for report in reports:
        for kernel, times in report.kernels.items():
            launches[kernel] += times.launches
            seconds[kernel] += times.seconds
    found = [
        ExecutedKernel(kernel, name, base_name(name), count, 1e3 * seconds[kernel])
        for kernel, count in launches.items()
        for name in [demangle(kernel)]
    ]
    return tuple(sorted(found, key=lambda each: -each.milliseconds))


def _detectors(request: ExecRequest, reports: Iterable[ProcessReport]) -> Iterator[DetectorReport]:
    if not request.detect and not request.stats:
        return
    # Imported here: most runs have no detectors.
    from cudarun.session.launch.detection import DetectorResults, detector_report

    for each in reports:
        results = DetectorResults(findings=each.findings, counted=each.statistics)
        found = detector_report(request.detection, results, (), {})
        has_passed = each.kernels and not (each.fault or each.defects)
        if found is not None and (has_passed or found.findings or found.statistics):
            yield found


def _unchecked(reports: Iterable[ProcessReport]) -> Iterator[UncheckedError]:
    for report in reports:
        for each, count in report.unchecked.items():
            function = function_at(each.file, each.offset)
            yield UncheckedError(each.call, each.error, function, each.file, each.offset, count)


def _problems(request: ExecRequest, reports: Iterable[ProcessReport]) -> Iterator[str]:
    """Yield one line for each kernel or library that cannot run."""
    for report in reports:
        for kernel, reason in report.refused.items():
            first = next(iter(reason.strip().splitlines()), "unknown reason")
            if "SASS" in reason or "no PTX" in reason:
                first += "; add PTX: nvcc -gencode arch=compute_90,code=compute_90"
            yield f"{demangle(kernel)} {first}"
        for file, function in report.foreign.items():
            call = f" ({function})" if function else ""
            yield _FOREIGN.format(file, call) if _is_library(file) else _STATIC.format(file)


def _is_library(file: str) -> bool:
    return ".so" in os.path.basename(file)
