"""The status line: only on a terminal, only after a while, and gone in the end."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from cudarun.report import progress
from cudarun.report.progress import ReadProgress, StatusLine, status_line
from cudarun.session.workers.connection import Page
from cudarun.session.workers.progress import Progress
from tests.support.processes import children

ROOT = Path(__file__).resolve().parents[2]


class Clock:
    """A clock that stands until it is told."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def told(what: str, done: float = 0.0) -> ReadProgress:
    page = Page()
    Progress(page).report(what, done)
    return page.read


def shown(out: io.StringIO) -> list[str]:
    return out.getvalue().split("\r\x1b[K")[1:]


def test_nothing_is_shown_of_what_is_quick(clock: Clock) -> None:
    line = StatusLine(out := io.StringIO())
    line.update([("", told("filling x"))])
    clock.now = 0.9
    line.update([("", told("filling x"))])
    line.end()
    assert out.getvalue() == ""


def test_what_takes_long_is_shown_and_taken_away(clock: Clock) -> None:
    line = StatusLine(out := io.StringIO())
    line.update([("", told("filling x"))])
    clock.now = 2.0
    line.update([("", told("timing saxpy", 0.25))])
    line.end()
    assert shown(out) == ["2 s  timing saxpy  [#####...............] 25%", ""]


def test_several_devices_take_turns(clock: Clock) -> None:
    line = StatusLine(out := io.StringIO())
    workers = [("on 0", told("filling x")), ("on cpu", told(""))]
    for clock.now in (0.0, 2.0, 3.0):
        line.update(workers)
    assert shown(out) == ["2 s  filling x  on 0", "3 s  starting  on cpu"]


def test_a_line_is_never_longer_than_the_terminal(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    line = StatusLine(out := io.StringIO())
    for clock.now in (0.0, 2.0):
        line.update([("", told("filling " + 100 * "x"))])
    assert [len(text) for text in shown(out)] == [19]


def test_a_text_may_be_of_any_length() -> None:
    worker = told(10_000 * "ü", 0.5)
    what, done = worker()
    assert what.startswith("üü")
    assert done == 0.5


def test_no_line_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(sys, "stderr", out := io.StringIO())
    line = status_line()
    for clock.now in (0.0, 2.0):
        line.update([("", told("filling x"))])
    line.end()
    assert out.getvalue() == ""


def shown_until_killed(arguments: Sequence[str], text: str, folder: Path) -> tuple[int, str]:
    """Run ``cudarun`` on a terminal, and kill its worker when it has shown a text.

    Returns:
        Its exit status, and all that it has shown.
    """
    mine, theirs = pty.openpty()
    written = ""
    with subprocess.Popen(
        [sys.executable, "-m", "cudarun", *arguments],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
    ) as process:  # fmt: skip
        os.close(theirs)
        killed = False
        with suppress(OSError):  # the terminal is closed
            while True:
                written += os.read(mine, 1 << 16).decode()
                if not killed and text in written:
                    killed = True
                    os.kill(children(process.pid)[0], signal.SIGKILL)
    os.close(mine)
    return process.returncode, written


def test_on_a_terminal_a_long_launch_says_what_it_is_doing() -> None:
    arguments = ("launch", "samples/endless.ptx", "-d", "cpu", "--threads", "1", "x=i32[1]:zeros")
    code, written = shown_until_killed(arguments, " s  running endless", ROOT)
    assert code == 7
    *_, line, last = written.split("\r\x1b[K")
    assert re.fullmatch(r"\d+ s  running endless", line)
    assert "the worker process was killed" in last


def test_a_spec_says_which_case_it_is_at(tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(
        f'[[launch]]\nname = "never ends"\nimage = "{ROOT}/samples/endless.ptx"\n'
        'threads = 1\nargs = ["flag=i32[1]:zeros"]\nexpect_error = "WorkerDied"\n'
    )
    case = " s  running endless  on cpu, case 1 of 1: never ends"
    arguments = ("launch", "--spec", "cases.toml", "-d", "cpu")
    code, written = shown_until_killed(arguments, case, tmp_path)
    assert code == 0
    assert written.endswith("\r\x1b[K")


def long_kernel(states: str) -> ReadProgress:
    worker = Progress(page := Page())
    worker.report("running spin", 0.5)
    worker.add_states(states)
    worker.report("running spin", 0.75)
    return page.read


STATES = "kernel spin: 3 of 4 blocks have finished\n  1 thread runs: block (3, 0, 0)"
NOTE = (
    "note: the kernel still runs on device cpu\n"
    "  | kernel spin: 3 of 4 blocks have finished\n  |   1 thread runs: block (3, 0, 0)\n"
)


def test_thread_states_are_noted_once(clock: Clock) -> None:
    worker = long_kernel(STATES)
    line = StatusLine(out := io.StringIO(), is_terminal=False)
    for clock.now in (0.0, 2.0, 4.0):
        line.update([("cpu", worker)])
    line.end()
    assert out.getvalue() == NOTE


def test_the_status_line_goes_on_after_a_note(clock: Clock) -> None:
    line = StatusLine(out := io.StringIO())
    line.update([("cpu", told("running spin"))])
    clock.now = 2.0
    line.update([("cpu", told("running spin"))])
    line.update([("cpu", long_kernel(STATES))])
    clock.now = 4.0
    line.update([("cpu", long_kernel(STATES))])
    assert out.getvalue().startswith("\r\x1b[K2 s  running spin  cpu\r\x1b[K" + NOTE)
    assert out.getvalue().count("note:") == 1


def test_the_next_step_has_no_thread_states() -> None:
    worker = Progress(page := Page())
    worker.report("running spin")
    worker.add_states(STATES)
    worker.report("checking")
    assert page.read()[0] == "checking"
