"""The report of ``exec`` on stderr."""

from __future__ import annotations

import pytest

from cudarun.model.detectors import DetectorReport, LaunchFinding, MemoryAccess
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


def test_findings_name_their_kernel_and_processes_share_their_claims(
    capsys: pytest.CaptureFixture[str],
) -> None:
    access = MemoryAccess("load", "void f<int>(int*)", 7, "ld.u32", None, (0, 0, 0), (1, 0, 0))
    finding = LaunchFinding(
        "uninit", "void f<int>(int*)", "shared", "variable s", 4, None, 1028, 4, (access,), 1
    )
    kernel = ExecutedKernel("_Z1fIiEvPT_", "void f<int>(int*)", "f", 2, 1.25)
    reports = tuple(DetectorReport(("race", "uninit"), found, None) for found in ((), (finding,)))
    report = ExecReport("./p", 0, 1.0, (kernel,), detectors=reports)
    show_execution(report, console(False), TableStyle(quiet=True))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "FAIL f: uninitialized read of shared memory: s + 4, 4 bytes at 0x404"
    assert [line for line in lines if line.startswith("PASS")] == [
        "PASS no race in this schedule; asynchronous copies included"
    ]


def test_a_program_with_a_runtime_of_its_own_fails() -> None:
    problems = ("./p: it contains the CUDA runtime",)
    assert ExecReport("./p", 0, 1.0, problems=problems, has_runtime=True).exit_code == 1
    assert ExecReport("./p", 0, 1.0, problems=("a library",)).exit_code == 0


@pytest.mark.parametrize(("status", "quiet"), [(0, False), (0, True), (1, False)])
def test_a_program_that_launches_nothing(
    status: int, quiet: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    report = ExecReport("./p", status, 1.0, detectors=(DetectorReport(("race",), (), None),))
    show_execution(report, console(False), TableStyle(quiet=quiet))
    err = capsys.readouterr().err
    assert "PASS" not in err
    assert ("note: no kernel was launched\n" in err) == (status == 0 and not quiet)
