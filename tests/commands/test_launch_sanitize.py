"""``launch --sanitize``: what it is refused with; what it finds needs a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.diagnostics.sanitizer import parse_sanitizer_log
from cudarun.model.detectors import SanitizerReport
from cudarun.report.console import console
from cudarun.report.detector_tables import show_sanitizer

if TYPE_CHECKING:
    from conftest import Run

DATA = Path(__file__).resolve().parents[1] / "data" / "sanitizer"
GOOD = (
    *("launch", "tests/data/faults/faults.ptx", "-k", "good", "--block", "64"),
    *("out=i32[n]:zeros", "n=i32:64", "--sanitize", "memcheck"),
)


def test_a_request_is_refused_before_anything_is_started(run: Run) -> None:
    ran = run(*GOOD, "-d", "0", "--save", "out=/nowhere/out.npy")
    assert ran.code in (2, 3)  # 3 where the sanitizer is not installed, which is as good a reason
    assert "Traceback" not in ran.err


def test_how_findings_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    log = parse_sanitizer_log((DATA / "racecheck-shared_race.txt").read_text())
    show_sanitizer(SanitizerReport("racecheck", log.findings, 3), "0", console(False))
    assert capsys.readouterr().out == (
        "FAIL racecheck: Race reported between Write access at shared_race+0xe0 "
        "in findings.cu:22\n"
        "  findings.cu:22: Write access in shared_race\n"
        "  findings.cu:23: Read access in shared_race\n"
        "  and Read access at shared_race+0xf0 in findings.cu:23 [256 hazards]\n"
        "racecheck: 3 findings on 0, 2 not shown\n"
    )
    show_sanitizer(SanitizerReport("racecheck", (), 0), "0", console(False))
    assert capsys.readouterr().out == "PASS racecheck: nothing found on 0\n"
