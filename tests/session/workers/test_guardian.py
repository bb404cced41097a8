"""A process that nobody reads, that is killed, or that takes too long: what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, PYTHON_PATH, wait_until

CODE = """
import os, signal, sys, time
from cudarun.session.workers.guardian import guarded_folder

if {stubborn}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with guarded_folder("guarded-", 1, {seconds}) as folder:
    open(os.path.join(folder, "input"), "w").close()
    print(folder, flush=True)
    while not {ends}:
        time.sleep(0.01)
"""


def started(
    folder: Path, *, ends: bool = False, stubborn: bool = False, seconds: float | None = None
) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", CODE.format(ends=ends, stubborn=stubborn, seconds=seconds)],
        stdout=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(folder), "PYTHONPATH": PYTHON_PATH},
    )  # fmt: skip
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def assert_gone(process: subprocess.Popen[str], folder: Path) -> None:
    process.wait(PATIENCE)
    wait_until(lambda: not folder.exists(), "end of the folder")
    assert process.stdout is not None
    process.stdout.close()


def test_the_end_of_the_block(tmp_path: Path) -> None:
    process, folder = started(tmp_path, ends=True)
    assert process.wait(PATIENCE) == 0
    assert not folder.exists()
    assert_gone(process, folder)


def test_a_process_that_is_killed(tmp_path: Path) -> None:
    process, folder = started(tmp_path)
    assert (folder / "input").exists()
    process.kill()
    assert_gone(process, folder)


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_reader_that_leaves(tmp_path: Path, *, stubborn: bool) -> None:
    process, folder = started(tmp_path, stubborn=stubborn)
    assert process.stdout is not None
    process.stdout.close()
    assert_gone(process, folder)
    assert process.returncode == -(signal.SIGKILL if stubborn else signal.SIGTERM)


def test_a_time_limit(tmp_path: Path) -> None:
    process, folder = started(tmp_path, seconds=0.2)
    assert_gone(process, folder)
    assert process.returncode == -signal.SIGTERM
