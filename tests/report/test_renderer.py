"""A further output format: one class, handed to click, serves every command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.cli import cudarun
from cudarun.report.renderer import Renderer

if TYPE_CHECKING:
    from cudarun.model.report import Part, Report

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Recorder(Renderer):
    """A format that keeps what it is given."""

    owns_stdout = True

    def __init__(self) -> None:
        self.prepared = 0
        self.labels: list[str] = []
        self.parts: list[Part] = []
        self.progressed: list[str] = []
        self.reports: list[Report] = []

    def prepare(self) -> None:
        self.prepared += 1

    def begin(self, labels: Iterable[str]) -> None:
        assert not self.parts
        self.labels += labels

    def progress(self, text: str) -> None:
        self.progressed.append(text)

    def add(self, part: Part) -> None:
        assert not self.reports
        self.parts.append(part)

    def end(self, report: Report) -> None:
        self.reports.append(report)


def recorded(*args: str) -> tuple[int, Recorder]:
    """The exit code of a command, and all that its renderer was given."""
    recorder = Recorder()
    code = cudarun.main(args, standalone_mode=False, obj=recorder)
    return code, recorder


SAXPY = ("launch", str(SAMPLES / "saxpy.ptx"), "-d", "cpu", "--threads", "100", "a=2")
DATA = ("x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100", "--check")


@pytest.mark.parametrize(
    ("args", "code", "tag"),
    [
        ((*SAXPY, *DATA, "y == a*x + 1"), 0, "launch"),
        ((*SAXPY, *DATA, "y == 0"), 1, "launch"),
        ((*SAXPY, *DATA, "y == 0", "--dry-run"), 0, "launch-plan"),
        (("load", str(SAMPLES / "saxpy.ptx"), "-d", "cpu"), 0, "load"),
        (("load", str(SAMPLES / "README.md"), "-d", "cpu"), 4, "load"),
        (("load", "--offline", str(SAMPLES / "saxpy.ptx")), 0, "load-offline"),
        (("managed", str(SAMPLES / "managed.ptx"), "-d", "cpu"), 0, "managed"),
        (("ctx", "show", "-d", "cpu"), 0, "ctx-show"),
        (("ctx", "verify", "--list"), 0, "ctx-verify"),
        (("devices", "-d", "cpu"), 0, "devices"),
    ],
    ids=lambda value: None if isinstance(value, tuple) else str(value),
)
def test_a_report_and_its_exit_code(
    capfd: pytest.CaptureFixture[str], args: tuple[str, ...], code: int, tag: str
) -> None:
    ended, recorder = recorded(*args)
    assert ([report.tag for report in recorder.reports], ended) == ([tag], code)
    assert (recorder.reports[0].exit_code, capfd.readouterr().out) == (code, "")
    assert recorder.prepared == (tag == "launch")


def test_a_link(tmp_path: Path) -> None:
    inputs = [str(SAMPLES / "link" / name) for name in ("main.ptx", "lib.ptx")]
    code, recorder = recorded("link", *inputs, "-o", str(tmp_path / "out.ptx"), "-d", "cpu")
    assert ([report.tag for report in recorder.reports], code) == (["link"], 0)


def test_steps_are_added_one_by_one() -> None:
    code, recorder = recorded("ctx", "run", "create A; pop == A; pop", "-d", "cpu")
    assert recorder.labels == ["create A", "pop == A", "pop"]
    assert [part.tag for part in recorder.parts] == ["step"] * 3
    [report] = recorder.reports
    assert report.tag == "ctx-run"
    assert (list(report.steps), code) == (recorder.parts, 5)


def test_cases_are_added_one_by_one(tmp_path: Path) -> None:
    spec = tmp_path / "cases.toml"
    case = f'[[launch]]\nimage = "{SAMPLES / "saxpy.ptx"}"\nskip = "later"\n'
    spec.write_text(case + f'name = "a"\n{case}name = "b"\n')
    code, recorder = recorded("launch", "--spec", str(spec), "-d", "cpu")
    assert [part.tag for part in recorder.parts] == ["case"] * 2
    [report] = recorder.reports
    assert report.tag == "launch-spec"
    assert (list(report.cases), code, recorder.prepared) == (recorder.parts, 0, 1)


def test_progress_ends_with_an_empty_text() -> None:
    code, recorder = recorded("ctx", "verify", "none-current", "-d", "cpu")
    assert (recorder.progressed[-1], code) == ("", 0)
    assert all(recorder.progressed[:-1])
