"""``--timeout`` of reading; that of workers is tested in ``tests/session/workers``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "line",
    [
        "launch - -d cpu",
        "launch - --dry-run",
        "launch --spec /dev/stdin -d cpu",
        "load - -d cpu",
        "load - --offline",
        "link - -o out.cubin -d cpu",
        "managed - -d cpu",
        "ctx run --script - -d cpu",
    ],
)
def test_reading_from_a_pipe_that_stays_open_ends(line: str, tmp_path: Path) -> None:
    read, write = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cudarun", *line.split(), "--timeout", "0.2"],
            stdin=read,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.fspath(ROOT)},
            timeout=PATIENCE,
        )
    finally:
        os.close(read)
        os.close(write)
    assert done.returncode == 6, done.stderr
    assert done.stderr.startswith("error: reading the request timed out after 0.2 s")
    assert [*tmp_path.iterdir()] == []
