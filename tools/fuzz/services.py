"""Calls of the Python API whose service, or the service's worker, is killed at a random moment.

A call returns the right result or raises `cudarun.WorkerFailed`, the next call passes, and no
process of the killed service and no descriptor of it is left.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from contextlib import suppress

import numpy as np

import cudarun
from tests.support.processes import ROOT, children, of_session, wait_until
from tools.fuzz.fuzzer import Fuzzer, Unexpected

_IMAGE = ROOT / "samples" / "saxpy.ptx"
_COUNT = 64


class Services(Fuzzer[tuple[str, ...]]):
    """A case is pairs of whom to kill, and after how many microseconds of the call."""

    name = "services"
    is_process = True

    def case(self, chance: random.Random) -> tuple[str, ...]:
        """Return one to three calls with a kill; a warm call takes some 20 ms, a cold one 400."""
        return tuple(
            f"{chance.choice(('service', 'worker'))} {int(10 ** chance.uniform(2.5, 5.6))}"
            for _ in range(chance.randint(1, 3))
        )

    def exit_code(self, case: tuple[str, ...]) -> int:
        """Make the calls, and one without a kill at the end."""
        _call()
        descriptors = len(os.listdir("/proc/self/fd"))
        for words in case:
            victim, delay = words.split()
            sessions = children(os.getpid())
            killer = threading.Timer(int(delay) / 1e6, _kill, (victim,))
            killer.start()
            with suppress(cudarun.WorkerFailed):
                _call()
            killer.join()
            ended = [each for each in sessions if each not in children(os.getpid())]
            wait_until(lambda: not any(map(of_session, ended)), "end of the killed service")  # noqa: B023
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


def _kill(victim: str) -> None:
    """Kill the services of this process, or their workers, and wait for their end."""
    for service in children(os.getpid()):
        with suppress(FileNotFoundError, ProcessLookupError):
            killed = [service] if victim == "service" else children(service)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not {*killed} & {*of_session(service)}, "end of what was killed")  # noqa: B023
