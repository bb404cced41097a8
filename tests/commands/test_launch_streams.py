"""``cudarun launch`` with streams, descriptors or a folder that are full, closed or gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.notes import BY_ORDER
from tests.support.processes import PATIENCE

if TYPE_CHECKING:
    from tests.commands.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--block", "32")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100")


def test_a_full_disk_beneath_stdout_is_an_error_not_a_traceback() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cudarun", *SAXPY, *ARGUMENTS, "--json"],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
        )  # fmt: skip
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
    assert done.returncode == 2


def test_a_reader_that_leaves_early_is_no_error() -> None:
    script = (
        f"{sys.executable} -m cudarun {' '.join(SAXPY)} --help | head -1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("--version",),
        ("launch", "--help"),
        ("devices", "-d", "cpu"),
        (*SAXPY, *ARGUMENTS),
    ],
    ids=lambda args: " ".join(args[:2]),
)
def test_a_pipe_that_nobody_reads_is_no_error(args: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "cudarun", *args],
            cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, BY_ORDER if args[-1] == ARGUMENTS[-1] else "")


def test_a_kernels_output_into_a_closed_pipe_is_no_error() -> None:
    script = (
        f"{sys.executable} -m cudarun launch samples/hello.ptx -d cpu --block 256 --grid 8 2026 1 "
        "| head -1; echo ${PIPESTATUS[0]}"
    )
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words", ["devices -d cpu", "devices -d cpu --json", "--help", "--version", "launch --help"]
)
@pytest.mark.parametrize("closed", [">&-", ">&- <&-", ">&- 2>&-"])
def test_without_a_stdout_the_output_is_lost_which_is_an_error(words: str, closed: str) -> None:
    script = f"{sys.executable} -m cudarun {words} {closed}"
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    said = "" if "2>&-" in closed else "error: the output cannot be written: stdout is closed\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_without_a_stdout_what_prints_nothing_still_works(tmp_path: Path) -> None:
    quoted = " ".join(f"'{argument}'" for argument in ARGUMENTS)
    script = f"{sys.executable} -m cudarun {' '.join(SAXPY)} {quoted} -q >&-"
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_deleted_working_directory(tmp_path: Path) -> None:
    script = (
        f"cd {tmp_path} && rmdir {tmp_path} && {sys.executable} -m cudarun "
        f"{SAXPY[0]} {ROOT / SAXPY[1]} {' '.join(SAXPY[2:])} {' '.join(ARGUMENTS)} --save y=y.npy"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2, "error: the working directory was deleted\nhint: change to an existing one: cd DIR\n",
    )  # fmt: skip


@pytest.mark.parametrize("limit", [6, 7, 9, 11])
def test_too_few_descriptors(limit: int) -> None:
    script = (
        f"ulimit -n {limit}; exec {sys.executable} -m cudarun {' '.join(SAXPY)} "
        f"{' '.join(ARGUMENTS)} -q"
    )
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "error: operating system: Too many open files\n"
        "hint: raise the limit of open files: ulimit -n 1024\n",
    )


def test_a_terminal_without_utf_8_gets_what_it_can_show(run: Run) -> None:
    ran = run(*SAXPY[:4], "--block", "16,2", *ARGUMENTS, env={"PYTHONIOENCODING": "ascii"})
    assert ran.code == 0
    assert "block 16?2" in ran.out
