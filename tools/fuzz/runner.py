"""Run cases in a process with limits; one that exceeds them, or dies, is a failure.

A case may take 20 s of processor time and 1 GiB of memory. The process is forked, so that it
starts at once, and replaced after each such case.
"""

from __future__ import annotations

import gc
import math
import os
import pickle
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from tools.fuzz.fuzzer import Failure, Fuzzer, working_folder

SECONDS = 20.0
"""Processor time of a case."""

MEMORY = 1 << 30
"""Bytes of a case."""

_HANGS = 30 * SECONDS  # of wall time without a result: in one call into C, or waiting
_LATE = 30.0  # seconds after the end of the time in which a case may end
_EATS = 2 * MEMORY  # at this size it is killed

Anyone = Fuzzer[Any]


class _OutOfTime(BaseException):
    """The limit of a case; nothing catches it."""


@dataclass
class Result:
    """The outcome of a fuzzer.

    Attributes:
        name: Of the fuzzer.
        cases: The number of cases run.
        seconds: Processor time.
        failures: Those with an undocumented outcome.
        slowest: Processor time of the slowest case.
        largest: Bytes by which the process grew.
    """

    name: str
    cases: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    largest: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def line(self) -> str:
        """A summary."""
        return (
            f"{self.name:12} {self.cases} cases, {len(self.failures)} failures, "
            f"{self.seconds:.1f} s of processor time, slowest {self.slowest:.2f} s, "
            f"grew by {self.largest >> 20} MiB"
        )


def run(
    fuzzer: Callable[[Path], Anyone],
    count: int,
    seed: int,
    first: int = 0,
    *,
    shorten: bool = True,
    seconds: float = math.inf,
) -> Result:
    """Run cases.

    Args:
        fuzzer: Makes the fuzzer, in its folder.
        count: The number of cases.
        seed: The same cases for the same seed.
        first: The number of the first case.
        shorten: Look for the shortest reproducer of the first failure of each kind.
        seconds: Begin no case after this time.
    """
    result = Result(getattr(fuzzer, "name", "?"))
    end = time.monotonic() + seconds
    while result.cases < count and time.monotonic() < end:
        before = result.cases
        _run_some(fuzzer, count, seed, first, result, shorten=shorten, end=end)
        assert result.cases > before, "each process ends a case"
    return result


def _run_some(
    make: Callable[[Path], Anyone],
    count: int,
    seed: int,
    first: int,
    result: Result,
    *,
    shorten: bool,
    end: float,
) -> None:
    """Run cases in one process, until it has to be replaced."""
    numbers = range(first + result.cases, first + count)
    receive, send = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(receive)
            _serve(make, numbers, seed, send, shorten=shorten, end=end)
        finally:  # an error of the fuzzer's own code
            traceback.print_exc()
            os._exit(1)
    os.close(send)
    problem = _collect(receive, pid, result, end + _LATE)
    os.close(receive)
    _, status, usage = os.wait4(pid, 0)
    result.seconds += usage.ru_utime + usage.ru_stime
    code = os.waitstatus_to_exitcode(status)
    if code or problem:
        number = first + result.cases
        with working_folder() as folder:
            text = repr(make(folder).numbered(seed, number))
        problem = problem or f"the process ended with status {code}"
        result.failures.append(Failure(number, problem, text[:2000]))
        result.cases += 1


def _collect(receive: int, pid: int, result: Result, end: float) -> str:
    """Read the results of cases; return why the process had to be killed, or an empty string."""
    last = time.monotonic()
    stream = os.fdopen(receive, "rb", closefd=False)
    while True:
        if select.select([receive], [], [], 0.5)[0]:
            try:
                seconds, grown, failure = pickle.load(stream)
            except EOFError:
                return ""
            result.cases += 1
            result.slowest = max(result.slowest, seconds)
            result.largest = max(result.largest, grown)
            if failure is not None:
                result.failures.append(failure)
            last = time.monotonic()
        elif time.monotonic() > min(last + _HANGS, end):
            os.kill(pid, signal.SIGKILL)
            return f"no result within {time.monotonic() - last:.0f} s"
        elif _resident(pid) > _EATS:
            os.kill(pid, signal.SIGKILL)
            return f"more than {_EATS >> 20} MiB of memory"


def _resident(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()
    return int(pages[1]) * resource.getpagesize()


def _serve(
    make: Callable[[Path], Anyone],
    numbers: range,
    seed: int,
    send: int,
    *,
    shorten: bool,
    end: float,
) -> NoReturn:
    """Run cases in the new process, until one has used too much memory."""
    signal.signal(signal.SIGPROF, _stop)
    warnings.simplefilter("error", RuntimeWarning)
    gc.freeze()
    with working_folder() as folder, os.fdopen(send, "wb", buffering=0) as stream:
        fuzzer = make(folder)
        seen: set[str] = set()
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        for number in numbers:
            case = fuzzer.numbered(seed, number)
            start = time.process_time()
            problem = _limited(fuzzer, case)
            seconds = time.process_time() - start
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - base
            if grown > MEMORY and problem is None:
                problem = f"{grown >> 20} MiB of memory"
            failure = None
            if problem is not None:
                failure = Failure(number, problem, repr(case)[:2000])
                if shorten and failure.kind not in seen and seconds < 1 and grown < MEMORY:
                    shorter = fuzzer.reproducer(case, problem)
                    failure = Failure(number, problem, repr(shorter)[:2000])
                seen.add(failure.kind)
            stream.write(pickle.dumps((seconds, grown, failure)))
            if grown > MEMORY or time.monotonic() > end:
                break
    os._exit(0)


def _limited(fuzzer: Anyone, case: Any) -> str | None:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return fuzzer.problem(case)
    except _OutOfTime:
        return f"more than {SECONDS:g} s of processor time"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _OutOfTime
