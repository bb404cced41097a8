"""The report of ``exec`` on stderr."""

from __future__ import annotations

import pytest

from cudarun.model.exec import ExecReport, ExecutedKernel
from cudarun.report.console import console
from cudarun.report.exec_tables import show_execution
from cudarun.report.renderer import TableStyle


def test_a_pipe_has_no_width(capsys: pytest.CaptureFixture[str]) -> None:
    name = "kernel_with_a_long_name_" * 5
    kernel = ExecutedKernel(kernel=name, demangled=name, name=name, launches=2, milliseconds=1.25)
    show_execution(ExecReport("./p", 0, 1.0, (kernel,)), console(False), TableStyle(quiet=False))
    captured = capsys.readouterr()
    assert captured.out == ""
    header, row = captured.err.splitlines()
    assert header == "launches  ms     kernel"
    assert row == f"2         1.250  {name}"
