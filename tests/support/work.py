"""The work of a function, counted: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls(function: Callable[[], object]) -> int:
    """Return the number of calls of Python and C functions that a call makes."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def growth(work: Callable[[int], object], size: int) -> float:
    """Return the ratio of the work of twice a size to that of the size; 2 is linear."""
    work(size)  # imports, caches
    return calls(lambda: work(2 * size)) / calls(lambda: work(size))
