"""Side-by-side timing of whole processes, shared by the benchmarks here."""

from __future__ import annotations

import compileall
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Failed(Exception):
    """A command that is being timed did not end with the status that it should."""


def cudarun_command() -> list[str]:
    """The command as users start it: the script beside this interpreter, else ``-m cudarun``."""
    script = Path(sys.executable).with_name("cudarun")
    return [os.fspath(script)] if script.exists() else [sys.executable, "-m", "cudarun"]


def interleaved(
    cases: Mapping[str, Sequence[str]],
    repeat: int,
    *,
    warmup: int = 1,
    environment: Mapping[str, str] | None = None,
) -> dict[str, list[float]]:
    """Run every case in turn, ``repeat`` rounds over, and return their wall times in seconds.

    Interleaving spreads whatever else the machine does over all cases alike. Warm-up rounds fill
    the disk and compute caches and are not counted. Our bytecode is compiled first, as pip does
    when it installs: in a checkout with ``PYTHONDONTWRITEBYTECODE`` set it never would be.

    Raises:
        Failed: A command ended with a status other than 0.
    """
    compileall.compile_dir(ROOT / "cudarun", quiet=1)
    times: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(warmup + repeat):
        for name, command in cases.items():
            seconds = _wall_time(name, command, environment)
            if turn >= warmup:
                times[name].append(seconds)
    return times


def _wall_time(name: str, command: Sequence[str], environment: Mapping[str, str] | None) -> float:
    start = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise Failed(f"{name}: exit status {done.returncode}\n{done.stdout}")
    return seconds


def show(times: Mapping[str, Sequence[float]], baseline: str) -> None:
    """Print a line per case: median, spread, and the ratio of its median to the baseline's."""
    base = statistics.median(times[baseline])
    width = max(map(len, times))
    print(f"{'':{width}}   median      min      max    ratio")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(
            f"{name:{width}}  {_ms(median)} {_ms(min(seconds))} {_ms(max(seconds))}"
            f"  {median / base:6.2f}"
        )


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:5.0f} ms"
