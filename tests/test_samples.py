"""Every command of ``samples/README.md`` does what the document says it does.

``CUDARUN_SAMPLES_DEVICE=0 pytest tests/test_samples.py`` runs them on the first GPU instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from samples_readme import ROOT, Sample, samples

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
        timeout=60,
    )


@pytest.mark.parametrize("sample", [s.on_device(DEVICE) for s in samples()], ids=lambda s: s.name)
def test_sample(sample: Sample, folder: Path) -> None:
    done = cudarun(sample.arguments, folder)
    assert done.returncode == sample.exit_code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for check in sample.checks:
        assert f"held {check}" in done.stdout
    shown = iter(done.stdout.splitlines())
    for line in sample.output:
        assert line in shown, f"not in this place on stdout: {line}\n{done.stdout}"
