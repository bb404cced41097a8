"""Folders that all processes of a test run share, for what takes long to make."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object] | None = None
) -> Path:
    """Return a folder of this test run; ``make`` fills it in the first process that needs it."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, complete = base / name, base / f"{name}-complete"
    with open(base / f"{name}-lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            folder.mkdir()
            if make is not None:
                make(folder)
            complete.touch()
    return folder
