"""Signals that a command is started with as ignored, as by nohup, stay ignored."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.fault_matrix import launch
from tests.support.fault_runner import Cell, Run, Scene, wait_for_kernel


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_an_ignored_signal_ends_nothing(tmp_path: Path, number: signal.Signals) -> None:
    def send(run: Run) -> None:
        wait_for_kernel(run)
        run.process.send_signal(number)

    check = ("--check", "out == arange(64)", "--trace")
    cell = Cell(launch("slow", *check, n=1000), 0, meanwhile=send, ignored=(number,))
    result = Scene(tmp_path, ["cpu"]).run(cell)
    assert result.problems == (), result.output
