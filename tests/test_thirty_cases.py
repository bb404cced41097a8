"""The spec of thirty cases, eight of them out of order, on two emulated devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import thirty_cases


def test_every_verdict_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    junit = tmp_path / "out.xml"
    _, status, document = thirty_cases.run("cpu:all", "--junit", str(junit))
    assert thirty_cases.faults(document, status) == []
    assert thirty_cases.junit_faults(junit, document) == []
    assert (document["passed"], document["failed"], document["skipped"]) == (46, 10, 4)


def test_what_is_wrong_would_be_found() -> None:
    case = {"name": "fault: assertion", "device": "0", "verdict": "passed", "exit_code": 0}
    document = {"cases": [case | {"reason": None}], "passed": 1, "failed": 0, "skipped": 0}
    assert thirty_cases.faults(document, 0) == [
        "fault: assertion on 0: passed (0): None",
        "1 cases on 1 devices",
        "exit status 0, not 6",
    ]
