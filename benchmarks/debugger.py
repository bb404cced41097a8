"""The cost of the debugger: processor time of launches interpreted with and without it.

Usage: ``python benchmarks/debugger.py [--repeat N] [--small] [NAME…]``. Needs no GPU.

Each kernel of ``engines.py`` is launched alternately by the interpreter alone, and as ``cudarun
debug`` runs it without breakpoints: in a copy of the process, which makes snapshots. Copies for
both are made in the same way, so that both pay for memory that they share. A ratio is that of the
smallest times.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable

from emulated_device import Device, PreparedLaunch, driver
from emulator_cases import FULL, SMALL, Case, engine_cases
from timing import Failed

from cudarun.debugger.debugged_launch import DebuggedLaunch, LaunchAbandoned
from cudarun.debugger.history import History
from cudarun.debugger.plans import Plan
from cudarun.session.workers.snapshots import Copies, ParentConnection


class TimedLaunch(DebuggedLaunch):
    """A debugged launch that notes when it was told to run."""

    began = 0.0

    def launched(self, launch: object) -> None:
        """See `DebuggedLaunch`."""
        super().launched(launch)
        self.began = time.process_time()


def in_copy(work: Callable[[], None]) -> int:
    """Run a function in a copy of this process; return its process."""
    process = os.fork()
    if not process:
        try:
            work()
        except Failed as error:
            print(error, file=sys.stderr, flush=True)
        finally:
            os._exit(0)
    return process


def interpreted(launch: PreparedLaunch) -> float:
    """Return the seconds of a launch without the debugger."""
    reading, writing = os.pipe()

    def run() -> None:
        began = time.process_time()
        launch.run()
        os.write(writing, str(time.process_time() - began).encode())

    process = in_copy(run)
    os.waitpid(process, 0)
    os.close(writing)
    with open(reading) as file:
        seconds = file.read()
    if not seconds:
        raise Failed("the launch has failed")
    return float(seconds)


def debugged(launch: PreparedLaunch) -> float:
    """Return the seconds of a launch that the debugger controls."""
    with Copies() as copies:

        def run() -> None:
            target = TimedLaunch(ParentConnection(copies.address, 0), driver.start_debugger)
            try:
                launch.run()
                target.finished(time.process_time() - target.began)
            except LaunchAbandoned:
                return

        process = in_copy(run)
        root = copies.accept()
        assert root is not None
        history = History(copies, root)
        try:
            history.start()
            stop, seconds = history.run(Plan("continue", takes_snapshots=True))
        finally:
            history.close()
            os.waitpid(process, 0)
        if stop.reason != "ended" or not isinstance(seconds, float):
            raise Failed(f"it stopped: {stop.reason} {stop.text}")
        return seconds


def main() -> None:
    """Print a row for each kernel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="few threads: mostly bookkeeping")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    cases: dict[str, Callable[[], Case]] = engine_cases(SMALL if given.small else FULL)
    device = Device()
    device.select("interpret")
    print(f"{'kernel':24} {'interpreter':>12} {'debugger':>12} {'ratio':>7}")
    for name in given.names or cases:
        launch = device.prepared(cases[name]())
        try:
            times = [(interpreted(launch), debugged(launch)) for _ in range(given.repeat)]
        except Failed as error:
            print(f"{name:24} {error}", flush=True)
            continue
        plain, other = map(min, zip(*times, strict=True))
        print(
            f"{name:24} {1e3 * plain:9.1f} ms {1e3 * other:9.1f} ms {other / plain:7.2f}",
            flush=True,
        )
        launch.free()


if __name__ == "__main__":
    main()
