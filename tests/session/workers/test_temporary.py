"""Folders between processes: gone however the process that made them ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cudarun.session.workers.temporary import temporary_folder

ROOT = Path(__file__).resolve().parents[3]

# A worker that is forked within, as a spec's are, holds all that its parent has open.
WAITING = """
import os, time
from cudarun.session.workers.worker import die_with
from cudarun.session.workers.temporary import temporary_folder
parent = os.getpid()
with temporary_folder("cudarun-test-") as folder:
    if os.fork() == 0:
        die_with(parent)
        time.sleep(60)
    (folder / "data").write_text("x")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def in_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", os.fspath(tmp_path))


def gone(path: Path) -> bool:
    for _ in range(1000):
        if not path.exists():
            return True
        time.sleep(0.01)
    return False


def test_it_is_gone_afterwards(tmp_path: Path) -> None:
    with temporary_folder("cudarun-test-") as folder:
        (folder / "data").write_text("x")
        assert folder.parent == tmp_path
        assert folder.name.startswith("cudarun-test-")
    assert not folder.exists()


def test_also_after_an_exception() -> None:
    with pytest.raises(ValueError, match="no"), temporary_folder("cudarun-test-") as folder:
        raise ValueError("no")
    assert not folder.exists()


def test_a_process_that_still_holds_everything_keeps_nobody_waiting() -> None:
    with temporary_folder("cudarun-test-") as folder:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    assert not folder.exists()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_also_where_the_process_is_killed(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.fspath(ROOT), "TMPDIR": os.fspath(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert (folder / "data").exists()
        process.kill()
    assert gone(folder)
