"""``--help`` starts quickly because it imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.command_tree import contexts
from tests.support.processes import PATIENCE

HEAVY = {"numpy", "rich", "cuda", "elftools", "ml_dtypes"}

PATHS = [context.command_path.split()[1:] for context in contexts()]


def imported(*arguments: str) -> set[str]:
    """Top-level packages that a run of ``cudarun`` imports, and not Python by itself.

    The bindings of CUDA 12 have a ``.pth`` file, by which every process imports ``cuda``.
    """
    return _imported("-m", "cudarun", *arguments) - _imported("-c", "")


def _imported(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: " ".join(["cudarun", *path]))
def test_help_imports_nothing_heavy(path: list[str]) -> None:
    found = imported(*path, "--help")
    assert "click" in found
    assert found & HEAVY == set()


def test_version_imports_nothing_heavy() -> None:
    assert imported("--version") & HEAVY == set()
