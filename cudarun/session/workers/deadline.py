"""A kernel whose time is over is stopped and asked where it stands, where the driver can tell.

At the limit the parent sends a signal to a worker that has a handler for it, and kills others at
once: those of GPUs, where nobody can ask a kernel. While a kernel runs on the emulated device the
signal is an exception in the midst of it, and the answer says where it was.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from cudarun.errors import OutOfTime
from cudarun.session.workers.worker import OVERDUE

if TYPE_CHECKING:
    from cudarun.session.driver.calls import Driver


@contextmanager
def stopped_when_overdue(driver: Driver) -> Iterator[None]:
    """Have a kernel that runs meanwhile stop at the limit. To be used in the main thread.

    Raises:
        OutOfTime: With the place of every thread in its log; the parent knows the limit.
    """
    standing = driver.standing
    if standing is None:
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime("the time is over", log=standing())

    before = signal.signal(OVERDUE, stop)
    try:
        yield
    except OutOfTime:
        driver.attempt("cuCtxSynchronize")  # which shows what the kernel has printed
        raise
    finally:
        signal.signal(OVERDUE, before)
