"""Calls of the Python API whose service, or the service's worker, is killed at a random moment.

A call returns the right result or raises `cudarun.WorkerFailed`, the next call passes, and no
process of the killed service and no descriptor of it is left.

The start of a service takes twenty times as long as a call, and most of the processor time: a case
begins with the service of the case before. Processes that lose their parent become children of this
one (a subreaper, prctl(2)), so that every survivor is found without a search.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np

import cudarun
from tests.support.processes import ROOT, children, wait_for_end
from tools.fuzz.fuzzer import Fuzzer, Unexpected

_IMAGE = ROOT / "samples" / "saxpy.ptx"
_COUNT = 64
_WARM, _COLD = 4.4, 5.6  # a call takes some 10^4.2 microseconds, and 10^5.6 with a start
_PR_SET_CHILD_SUBREAPER = 36


class Services(Fuzzer[tuple[str, ...]]):
    """A case is pairs of whom to kill, and after how many microseconds of the call."""

    name = "services"
    is_process = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # else each service starts one per core
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def case(self, chance: random.Random) -> tuple[str, ...]:
        """Return one to three calls with a kill; most kills of a worker do not end the service."""
        case, longest = [], _WARM
        for _ in range(chance.randint(1, 3)):
            victim = chance.choice(("service", "worker", "worker", "worker"))
            case.append(f"{victim} {int(10 ** chance.uniform(2.5, longest))}")
            longest = _COLD if victim == "service" else _WARM
        return tuple(case)

    def exit_code(self, case: tuple[str, ...]) -> int:
        """Make the calls, and one without a kill at the end."""
        _call()
        descriptors = len(os.listdir("/proc/self/fd"))
        for words in case:
            victim, delay = words.split()
            with ThreadPoolExecutor(1) as pool:
                killer = pool.submit(_kill, victim, int(delay) / 1e6)
                with suppress(cudarun.WorkerFailed):
                    _call()
            killer.result()
            while orphans := [pid for pid in children(os.getpid()) if not _is_service(pid)]:
                for pid in orphans:
                    wait_for_end(pid)
                    os.waitpid(pid, 0)
        _call()
        left = os.listdir("/proc/self/fd")
        if len(left) > descriptors:
            raise Unexpected(f"{len(left)} open descriptors, {descriptors} before")
        return 0


def _call() -> None:
    """Launch saxpy.

    Raises:
        Unexpected: The result is wrong.
    """
    x = np.arange(_COUNT, dtype=np.float32)
    result = cudarun.launch(
        _IMAGE, args={"a": 2.0, "x": x, "y": np.ones(_COUNT, np.float32), "n": _COUNT},
        threads=_COUNT, device="cpu",
    )  # fmt: skip
    if not np.array_equal(result["y"], 2 * x + 1):
        raise Unexpected(f"wrong result: {result['y']}")


def _is_service(pid: int) -> bool:
    """Return whether a child leads a session, as services do, which this process starts."""
    return os.getsid(pid) == pid


def _kill(victim: str, delay: float) -> None:
    """Kill the services of this process, or their workers, after a time; wait for their end."""
    time.sleep(delay)
    for child in children(os.getpid()):
        with suppress(FileNotFoundError, ProcessLookupError):
            if not _is_service(child):
                continue
            killed = [child] if victim == "service" else children(child)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            for pid in killed:
                wait_for_end(pid)
