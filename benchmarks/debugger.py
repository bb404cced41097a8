"""The cost of the debugger: processor time of launches interpreted with and without it.

Usage: ``python benchmarks/debugger.py [--repeat N] [--small] [--back] [NAME…]``. Needs no GPU.

Each kernel of ``engines.py`` is launched alternately by the interpreter alone, and as ``cudarun
debug`` runs it without breakpoints: in a copy of the process, which makes snapshots. Copies for
both are made in the same way, so that both pay for memory that they share. A ratio is that of the
smallest times.

``--back`` runs a kernel of about ten seconds to its end, and goes back from there to its first
instruction, once.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from emulated_device import Device, PreparedLaunch, driver
from emulator_cases import FULL, SMALL, Case, engine_cases, scalar
from timing import Failed

from cudarun.debugger.debugged_launch import DebuggedLaunch, LaunchAbandoned
from cudarun.debugger.debugger import Debugger
from cudarun.debugger.history import History, Reached
from cudarun.debugger.plans import Plan
from cudarun.model.debug import Stop
from cudarun.session.workers.snapshots import Copies, Copy, ParentConnection

LONG_LIMIT = 75_000  # the iterations of mandelbrot that take about ten seconds


class TimedLaunch(DebuggedLaunch):
    """A debugged launch whose stops have the processor time of the run to them."""

    began = 0.0

    def _follow(self, plan: Plan) -> None:
        self.began = time.process_time()
        super()._follow(plan)

    def _converse(self, stop: Stop | None, outcome: object = None) -> None:
        super()._converse(stop, time.process_time() - self.began)


class TimedHistory(History):
    """The processes of a launch, and the seconds of their runs."""

    seconds = 0.0

    def _run(self, process: Copy, plan: Plan) -> Reached:
        stop, seconds = super()._run(process, plan)
        assert isinstance(seconds, float)
        self.seconds += seconds
        return stop, seconds


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


@contextmanager
def controlled(launch: PreparedLaunch) -> Iterator[TimedHistory]:
    """Let the debugger control a launch, which has not begun."""
    with Copies() as copies:

        def run() -> None:
            target = TimedLaunch(ParentConnection(copies.address, 0), driver.start_debugger)
            try:
                launch.run()
                target.finished(None)
            except LaunchAbandoned:
                return

        process = in_copy(run)
        root = copies.accept()
        assert root is not None
        history = TimedHistory(copies, root)
        try:
            yield history
        finally:
            history.close()
            os.waitpid(process, 0)


def debugged(launch: PreparedLaunch) -> float:
    """Return the seconds of a launch that the debugger controls."""
    with controlled(launch) as history:
        debugger = Debugger(history)
        stop = debugger.move()
        if stop.reason != "ended":
            raise Failed(f"it stopped: {stop.reason} {stop.text}")
        return history.seconds


def there_and_back(launch: PreparedLaunch) -> tuple[float, float]:
    """Return the seconds to the end, and back to the first instruction of the kernel."""
    with controlled(launch) as history:
        debugger = Debugger(history)
        end, forth = debugger.move(), history.seconds
        debugger.add_breakpoint(end.kernel)
        stop = debugger.move(back=True)
        if (end.reason, stop.reason) != ("ended", "breakpoint"):
            raise Failed(f"it stopped: {end.reason}, {stop.reason}")
        return forth, history.seconds - forth


def print_way_back(device: Device, case: Case) -> None:
    """Print the times of a long run, and of the way back."""
    arguments = tuple(each for each in case.arguments if each.name != "limit")
    longer = replace(case, arguments=(*arguments, scalar("limit", "i32", LONG_LIMIT)))
    launch = device.prepared(longer)
    forth, back = there_and_back(launch)
    print(f"{case.name}, {LONG_LIMIT} iterations: {forth:.2f} s, and back {back:.2f} s", flush=True)
    launch.free()


def main() -> None:
    """Print a row for each kernel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="few threads: mostly bookkeeping")
    parser.add_argument("--back", action="store_true", help="go back from the end of a long run")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    cases: dict[str, Callable[[], Case]] = engine_cases(SMALL if given.small else FULL)
    device = Device()
    device.select("interpret")
    if given.back:
        print_way_back(device, cases["mandelbrot"]())
        return
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
