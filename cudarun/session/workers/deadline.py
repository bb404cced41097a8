"""Time limits: of reading in the parent, and of a kernel that can report where it stands.

At the limit and at Ctrl-C the parent sends `TIMEOUT_SIGNAL` to a worker with a handler for it, and
kills others at once: those of GPUs, where no kernel can be asked. While a kernel runs on the
emulated device the signal is an exception in the midst of it, and the answer reports the thread
states. A kernel there that runs for long reports them meanwhile, as progress.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from cudarun.base.errors import OutOfTime

if TYPE_CHECKING:
    from cudarun.session.driver.calls import Driver
    from cudarun.session.workers.progress import Progress

TIMEOUT_SIGNAL = signal.SIGALRM  # the signal to a worker whose time limit has passed

_LONG = 10.0  # seconds after which thread states are reported
_LOOKING = 0.25  # seconds of processor time between looks at the clock

_COMPILING = (
    "raise --timeout, or interpret the kernel: --cpu-engine interpret, or "
    "CUDARUN_CPU_ENGINE=interpret"
)


@contextmanager
def time_limit(seconds: float | None, work: str) -> Iterator[None]:
    """Limit the time of work in this process, in the main thread.

    Args:
        seconds: The limit; ``None``: unlimited.
        work: The work, for the message: ``"reading a.ptx"``.

    Raises:
        OutOfTime: The limit has passed.
    """
    if seconds is None:
        yield
        return

    late = OutOfTime(
        f"{work} timed out after {seconds:g} s",
        hint="check for a pipe that stays open, or raise --timeout",
    )
    with interrupted_after(seconds, late):
        yield


@contextmanager
def interrupted_after(seconds: float, error: Exception) -> Iterator[None]:
    """Raise an error after a time; for the main thread.

    The parent's signal, at its own limit and at Ctrl-C, keeps its meaning.
    """
    end = time.monotonic() + seconds

    def stop(number: int, frame: FrameType | None) -> None:
        if time.monotonic() >= end:
            raise error
        if callable(before):
            before(number, frame)

    before = signal.signal(TIMEOUT_SIGNAL, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(TIMEOUT_SIGNAL, before)


@contextmanager
def stopped_after_timeout(driver: Driver, progress: Progress) -> Iterator[None]:
    """Stop a kernel that runs meanwhile at the limit; for a worker's main thread.

    Raises:
        OutOfTime: With the state of every thread in its log; the parent knows the limit.
    """
    thread_states = driver.traits.thread_states
    if thread_states is None:
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        log, places = thread_states() or (None, ())
        error = OutOfTime("the time limit has passed", log=log)
        error.places = places
        if driver.traits.is_compiling():
            error.cause, error.hint = "the kernel was being compiled", _COMPILING
        raise error

    end = time.monotonic() + _LONG

    def report(_number: int, _frame: FrameType | None) -> None:
        if time.monotonic() < end:
            return
        # the states of many threads can take longer than an interval: no look interrupts another
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        states = thread_states()
        if states is None:
            signal.setitimer(signal.ITIMER_VIRTUAL, _LOOKING, _LOOKING)
        else:
            progress.add_states(states[0])

    before = signal.signal(TIMEOUT_SIGNAL, stop), signal.signal(signal.SIGVTALRM, report)
    signal.setitimer(signal.ITIMER_VIRTUAL, _LOOKING, _LOOKING)
    try:
        yield
    except OutOfTime:
        driver.attempt("cuCtxSynchronize")  # which prints what the kernel has printed
        raise
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        for number, handler in zip((TIMEOUT_SIGNAL, signal.SIGVTALRM), before, strict=True):
            signal.signal(number, handler)
