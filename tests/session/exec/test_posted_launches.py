"""Launches whose answer a program does not wait for: see `posted_launches`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
PROGRAM = Path(__file__).with_name("posted_launches.py")


@pytest.mark.usefixtures("cached")  # building the libraries takes long
@pytest.mark.parametrize(
    ("what", "output", "status"),
    [
        ("stopped", "True\n", 0),
        ("contexts", "True\n", 0),
        ("ordered", "True\nTrue\n", 0),
        ("refused", "0 0 0 1\n0 0\n1\n906 901\n400\n400\n400 0\n", 0),
        ("faulting", "0 0 0 700 700\n", 5),
    ],
)
def test_launches_in_order_until_one_is_refused(what: str, output: str, status: int) -> None:
    command = [sys.executable, "-m", "cudarun", "exec", "-q", "--"]
    # The variables of a thread get the addresses of those of one that has ended.
    command += ["env", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"]
    command += [sys.executable, str(PROGRAM), what]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.stdout, ran.returncode) == (output, status), ran.stderr
