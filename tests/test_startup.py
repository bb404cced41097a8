"""``--help`` starts quickly because it imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_tree import contexts
from tests.support.processes import PATIENCE

HEAVY = {"numpy", "rich", "cuda", "elftools", "ml_dtypes"}

PATHS = [context.command_path.split()[1:] for context in contexts()]


def imported(*arguments: str) -> set[str]:
    """Top-level packages that a run of ``cudarun`` imports, and not Python by itself.

    The bindings of CUDA 12 have a ``.pth`` file, by which every process imports ``cuda``.
    """
    found = (_modules("-m", "cudarun", *arguments), _modules("-c", ""))
    ours, of_python = ({name.partition(".")[0] for name in names} for names in found)
    return ours - of_python


def _modules(*arguments: str) -> set[str]:
    """Modules that a run of Python imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: " ".join(["cudarun", *path]))
def test_help_imports_nothing_heavy(path: list[str]) -> None:
    found = imported(*path, "--help")
    assert "click" in found
    assert found & HEAVY == set()


def test_version_imports_nothing_heavy() -> None:
    assert imported("--version") & HEAVY == set()


def test_a_document_imports_no_tables() -> None:
    image = Path(__file__).resolve().parents[1] / "samples" / "saxpy.ptx"
    found = _modules("-m", "cudarun", "load", "--offline", str(image), "--json")
    assert "cudarun.model.documents" in found
    assert "rich" not in found
    others = {"types", "spec_types", "managed_types", "context_types", "error_types"}
    assert not found & {f"cudarun.report.{name}" for name in others}


def test_tables_import_no_documents() -> None:
    image = Path(__file__).resolve().parents[1] / "samples" / "saxpy.ptx"
    found = _modules("-m", "cudarun", "load", "--offline", str(image))
    assert not found & {"cudarun.model.documents", "cudarun.report.json"}
