"""JUnit files: well-formed whatever a kernel prints, and counted right."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from cudarun.base import machine
from cudarun.base.errors import DeviceFailed, ExitCode
from cudarun.base.files import OutputFile
from cudarun.base.machine import DeviceIdentity
from cudarun.model.spec import CaseReport, SpecReport
from cudarun.report.junit import write_junit

CASES = (
    CaseReport("a <&> b", 1, "0", "passed", seconds=0.25, output="\x1b[31m\0 ünder \ud800"),
    CaseReport(
        "fault", 4, "0", "failed", "x: y", ExitCode.DEVICE_FAILED, 0.5,
        error=DeviceFailed("x: y", log="ptxas <fatal>", hint="mend it", device="0"), seed=7,
    ),
    CaseReport("skip", 9, "0", "skipped", "later"),
    CaseReport("a <&> b", 1, "1", "passed", seconds=1),
)  # fmt: skip


IDENTITY = DeviceIdentity("0", 0, "GPU-5af1", "0000:01:00.0", "H200", None, (13, 0))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ElementTree.Element:
    monkeypatch.setattr(machine, "_devices", {})
    monkeypatch.setattr(machine, "host", lambda: "gpu07")
    machine.add([IDENTITY])
    report = SpecReport("dir/cases.toml", 2, 1, 1, 2.0, CASES)
    write_junit(report, OutputFile("--junit", str(tmp_path / "out.xml")))
    assert (tmp_path / "out.xml").read_text().endswith("</testsuites>\n")
    return ElementTree.parse(tmp_path / "out.xml").getroot()


def test_a_suite_for_each_device(root: ElementTree.Element) -> None:
    assert root.attrib == {
        "name": "dir/cases.toml", "tests": "4", "failures": "0", "errors": "1", "time": "1.750",
    }  # fmt: skip
    assert [suite.get("name") for suite in root] == [
        "dir/cases.toml on gpu07/0 (GPU-5af1)",
        "dir/cases.toml on gpu07/1",  # no worker has described this device
    ]
    assert {suite.get("hostname") for suite in root} == {"gpu07"}
    assert [suite.get("tests") for suite in root] == ["3", "1"]
    assert [suite.get("skipped") for suite in root] == ["1", "0"]


def test_names_and_output_survive(root: ElementTree.Element) -> None:
    passed = root[0][0]
    assert (passed.get("name"), passed.get("classname")) == ("a <&> b", "cases.0")
    assert passed.find("system-out").text == "�[31m� ünder �"  # type: ignore[union-attr]


def test_an_error_has_all_that_is_known(root: ElementTree.Element) -> None:
    error = root[0][1].find("error")
    assert error is not None
    assert (error.get("message"), error.get("type")) == ("x: y", "DeviceFailed")
    assert error.text == "x: y\n  in device 0\n  | ptxas <fatal>\n  hint: mend it\n  seed 7"
