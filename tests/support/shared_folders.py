"""Folders that all processes of a test run share, for what takes long to make."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder of this test run, in which the first process has made what it contains."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, complete = base / name, base / f"{name}-complete"
    with open(base / f"{name}-lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            folder.mkdir()
            make(folder)
            complete.touch()
    return folder
