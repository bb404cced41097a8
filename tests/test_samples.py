"""Every command of ``samples/README.md`` does what the document says it does.

``CUDARUN_SAMPLES_DEVICE=0 pytest tests/test_samples.py`` runs them on the first GPU instead.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE
from tests.support.samples_readme import ROOT, Sample, samples

DEVICE = os.environ.get("CUDARUN_SAMPLES_DEVICE", "cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory in which ``samples/…`` resolves and files may be written."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    return tmp_path


def cudarun(arguments: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudarun", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def appear_in_order(shown: tuple[str, ...], printed: str) -> bool:
    """Whether every shown line is among the printed ones, in order; ``…`` stands for anything."""
    lines = iter(printed.splitlines())
    patterns = (re.escape(line.rstrip()).replace("…", ".*") for line in shown)
    return all(any(re.fullmatch(pattern, line.rstrip()) for line in lines) for pattern in patterns)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_sample(sample: Sample, folder: Path) -> None:
    here = sample.on_device(DEVICE)
    done = cudarun(here.arguments, folder)
    printed = done.stdout + done.stderr
    assert done.returncode == here.exit_code, printed
    assert "Traceback" not in done.stderr
    for check in here.checks:
        assert f"PASS {check}" in done.stdout
    if here.arguments == sample.arguments:
        assert appear_in_order(sample.output, printed), printed


def test_shown_output_is_compared() -> None:
    assert appear_in_order(("a … c", "d"), "x\na b c\nd\n")
    assert not appear_in_order(("d", "a … c"), "a b c\nd\n")
    assert not appear_in_order(("a",), "a b\n")
