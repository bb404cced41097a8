"""For all tests: what the processes that they start have of the environment."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from contextlib import suppress

import pytest

# A shell has what it starts in the background ignore SIGINT, and all children of that would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Thousands of commands are run. Compiling our sources in each of them would take half of the time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

with suppress(ModuleNotFoundError):  # machines with a GPU run the conformance suite without it
    from hypothesis import HealthCheck, settings

    # An example may take as long as a busy machine needs for it. In CI the examples of a test are
    # the same in every run: whether a commit passes must not depend on which one is found.
    settings.register_profile(
        "any speed",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize="CI" in os.environ,
    )
    settings.load_profile("any speed")

with suppress(ModuleNotFoundError):
    from cudarun.session.workers import deadline

    # A busy machine may need so long for a kernel, and tests compare what is on stderr.
    deadline._LONG = float("inf")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without looking for garbage among them, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
