"""Every command of ``samples/README.md`` does what the document says it does.

``CUDARUN_SAMPLES_DEVICE=0 pytest tests/test_samples.py`` runs them on the first GPU instead.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.forked_processes import run_command
from tests.support.processes import PATIENCE
from tests.support.samples_readme import ROOT, Sample, samples

DEVICE = os.environ.get("CUDARUN_SAMPLES_DEVICE", "cpu")
STARTED = {
    *("saxpy", "texture", "tma_window", "attention", "managed", "hello"),
    *("far_past", "assert", "endless", "reverse_racy", "banks", "relax"),
}
"""Samples that are started as by a shell: each exit code, memory of each kind, each detector. The
others run in forked processes, since a start of Python takes longer than most of them. On a GPU all
are started."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory in which ``samples/…`` resolves and files may be written."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    return tmp_path


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def started(arguments: tuple[str, ...], folder: Path) -> Ran:
    """Run the command as a shell does."""
    words = [sys.executable, "-m", "cudarun", *arguments]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    return Ran(done.returncode, done.stdout, done.stderr)


def forked(arguments: tuple[str, ...], folder: Path) -> Ran:
    """Run the command in a process that has its modules."""
    code, out, err = run_command(arguments, folder, os.environ)
    return Ran(code, out.decode(), err.decode())


def appear_in_order(shown: tuple[str, ...], printed: str) -> bool:
    """Whether every shown line is among the printed ones, in order; ``…`` stands for anything."""
    lines = iter(printed.splitlines())
    patterns = (re.escape(line.rstrip()).replace("…", ".*") for line in shown)
    return all(any(re.fullmatch(pattern, line.rstrip()) for line in lines) for pattern in patterns)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_sample(sample: Sample, folder: Path) -> None:
    here = sample.on_device(DEVICE)
    is_started = DEVICE != "cpu" or sample.name in STARTED
    ran = (started if is_started else forked)(here.arguments, folder)
    printed = ran.out + ran.err
    assert ran.code == here.exit_code, printed
    assert "Traceback" not in ran.err
    for check in here.checks:
        assert f"PASS {check}" in ran.out
    if here.arguments == sample.arguments:
        assert appear_in_order(sample.output, printed), printed


def test_those_that_are_started_are_samples() -> None:
    assert {sample.name for sample in samples()} >= STARTED


def test_shown_output_is_compared() -> None:
    assert appear_in_order(("a … c", "d"), "x\na b c\nd\n")
    assert not appear_in_order(("d", "a … c"), "a b c\nd\n")
    assert not appear_in_order(("a",), "a b\n")
