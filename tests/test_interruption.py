"""Ctrl-C while the command starts: exit code 130, and nothing is printed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from tests.support.interruptions import interruptions
from tests.support.processes import PATIENCE, ROOT

COMMAND = ("load", "--offline", "samples/saxpy.ptx")


@pytest.mark.parametrize(("events", "step"), [("imports", 29), ("calls", 4001)])
def test_at_imports_and_calls(events: str, step: int) -> None:
    found, count = interruptions(events, range(2, 100 * step, step), *COMMAND)
    assert [each for each in found if not each.is_clean] == []
    assert len(found) == len(range(2, count + 1, step)) > 10


def test_at_the_first_events() -> None:
    found, _ = interruptions("imports", range(2, 17), *COMMAND)
    assert [each for each in found if not each.is_clean] == []
    assert len(found) == 15


def test_a_document_at_the_first_event() -> None:
    found, _ = interruptions("imports", [2], *COMMAND, "--json")
    document = json.loads(found[0].out)
    assert (found[0].status, document["exit_code"]) == (130, 130)
    assert document["error"]["message"] == "interrupted"


_DROPPED = """
import os, signal
from cudarun.base.process import EndingSignals

class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        len("the handler runs before this call")

signals = EndingSignals([])
signals.admit()
try:
    value = Interrupted()
    del value
    len("the first call afterwards")
    print("lost")
except KeyboardInterrupt:
    print("interrupted")
"""

_THIRD = """
import os, signal
from cudarun.base.process import EndingSignals

signals = EndingSignals([])
signals.admit()
for _ in range(3):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""

_LEFT = """
import os, signal
from cudarun.base.process import EndingSignals

signals = EndingSignals([])
signals.admit()
try:
    os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    signals.leave()
"""


def python(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


def test_an_exception_that_python_drops_is_raised_again() -> None:
    done = python(_DROPPED)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_the_third_signal_ends_the_process_at_once() -> None:
    done = python(_THIRD)
    assert (done.returncode, done.stdout, done.stderr) == (130, "interrupted\n" * 2, "")


def test_a_process_that_got_sigterm_ends_by_it() -> None:
    done = python(_LEFT)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")


_IGNORED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from cudarun.__main__ import main
os.kill(os.getpid(), signal.SIGINT)
sys.argv = ["cudarun", "--help"]
main()
"""


def test_an_ignored_signal_stays_ignored() -> None:
    done = python(_IGNORED)
    assert (done.returncode, done.stderr) == (0, "")
