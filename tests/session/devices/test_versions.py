"""The lines of ``--version``."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from cudarun.session.devices.probes import version_lines


def test_the_version_of_the_bindings_is_the_one_that_is_installed() -> None:
    assert version_lines()[0] == f"cuda-bindings {version('cuda-bindings')}"


def test_no_bindings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "none")])
    assert version_lines()[0] == "cuda-bindings not installed"
