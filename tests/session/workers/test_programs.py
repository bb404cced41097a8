"""Many programs with the same input."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cudarun.session.workers import programs
from cudarun.session.workers.programs import run_programs
from tests.support.processes import PATIENCE, is_alive

MOST = 1 << 20


def run(commands: dict[str, list[str]], stdin: bytes = b"", **options: object) -> dict[str, object]:
    limits = {"at_once": 2, "timeout": PATIENCE, "most_output": MOST} | options
    return dict(run_programs([*commands.items()], stdin, **limits))  # type: ignore[arg-type]


def test_each_has_the_whole_input_and_its_own_result() -> None:
    code = "import sys; print(sys.argv[1], sys.stdin.read(), end=''); sys.exit(int(sys.argv[1]))"
    commands = {str(n): [sys.executable, "-c", code, str(n)] for n in range(5)}
    found = run(commands, b"input")
    assert {name: (each.status, each.stdout) for name, each in found.items()} == {
        str(n): (n, f"{n} input".encode()) for n in range(5)
    }


def test_too_much_output() -> None:
    [result] = run({"yes": ["yes"]}).values()
    assert (result.status, result.stdout, result.killed) == (None, b"", "its output exceeds 1 MiB")


def test_only_the_end_of_error_output_is_kept() -> None:
    [result] = run({"a": ["sh", "-c", "seq 100000 >&2; echo end >&2; exit 4"]}).values()
    assert (result.status, len(result.stderr)) == (4, 2000)
    assert result.stderr.endswith("100000\nend\n")


def test_a_flood_on_stderr_fills_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes through a pipe; more than a pipe holds does not block the program."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code = "head -c 8M /dev/zero >&2; [ -p /dev/stderr ] && exit 3"
    [result] = run({"a": ["sh", "-c", code]}).values()
    assert (result.status, result.stderr) == (3, "\0" * 2000)


def test_programs_wait_for_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 40, hard))
    try:
        found = run({str(n): ["sh", "-c", "cat; sleep 0.05"] for n in range(24)}, b"x", at_once=24)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert {(each.status, each.stdout, each.killed) for each in found.values()} == {(0, b"x", None)}


LOOP = "while :; do sleep 0.02; done"


def test_a_program_at_its_limit_can_end_in_order(tmp_path: Path) -> None:
    code = f"trap 'echo > {tmp_path}/log; exit 0' TERM; {LOOP}"
    for limit in (0.2, 1.0, 5.0, 25.0):  # in which a slow machine starts a shell
        [result] = run({"a": ["sh", "-c", code]}, timeout=limit).values()
        assert (result.status, result.killed) == (None, f"timed out after {limit:g} s")
        if (tmp_path / "log").exists():
            return
    raise AssertionError("it did not get SIGTERM")


def test_a_stubborn_program_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_PATIENCE", 0.1)
    [result] = run({"a": ["sh", "-c", f"trap '' TERM; {LOOP}"]}, timeout=0.2).values()
    assert (result.status, result.killed) == (None, "timed out after 0.2 s")


def test_the_rest_ends_with_the_iterator(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    sleep = ["sh", "-c", f"echo $$ > {file}; exec sleep 3600"]
    ends = ["sh", "-c", f"until [ -s {file} ]; do sleep 0.01; done; cat {file}"]
    commands = [("sleeps", sleep), ("ends", ends)]
    with closing(
        run_programs(commands, b"", at_once=2, timeout=PATIENCE, most_output=MOST)
    ) as results:
        name, result = next(results)
        assert name == "ends"
        assert is_alive(int(result.stdout))
    assert not is_alive(int(result.stdout))
