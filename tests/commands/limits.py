"""Time limits of kernels that never end, which such a kernel begins to run within."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.commands.conftest import Ran

LIMITS = (0.5, 2, 8, 32, 128)
"""Seconds: the first where the machine is idle, a later one where it is busy."""


def at_a_limit(
    attempt: Callable[[float], Ran], reached: Callable[[Ran], bool]
) -> tuple[Ran, float]:
    """Run a command with a time limit; with a longer one where its kernel did not come far enough.

    Args:
        attempt: Runs the command with a limit in seconds.
        reached: Whether the kernel came as far as the test needs it to.

    Returns:
        What the last command left, and its limit.
    """
    for limit in LIMITS:
        ran = attempt(limit)
        if reached(ran):
            break
    return ran, limit
