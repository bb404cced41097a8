"""Annotations and the job summary: `cudarun.report.github`."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

import pytest

from cudarun.base.errors import DeviceFailed, ExitCode, RequestError
from cudarun.base.fault_place import FaultPlace
from cudarun.cli import main
from cudarun.model.detectors import LaunchFinding, MemoryAccess
from cudarun.model.spec import CaseReport, SpecReport
from cudarun.report.annotations import Annotation, of_error
from cudarun.report.github import GithubRenderer, workflow_command
from cudarun.report.renderer import TableStyle

LOG = (
    "kernel f: illegal address\n  at PTX line 42: st.global\n  from src/k.cu:10\n  block (3, 0, 0)"
)
ACCESSES = tuple(
    MemoryAccess(access, "f", ptx_line, "ld", source, (0, 0, 0), (0, 0, 0))
    for access, ptx_line, source in (("store", 5, "src/k.cu:11"), ("load", 6, None))
)
MASK = LaunchFinding("sync", "f", *[None] * 6, ACCESSES[:1], 1, "empty member mask")
_error, _warning = (partial(Annotation, level, "Check") for level in ("error", "warning"))
RACE = LaunchFinding("race", "f", "shared", "part", 0, None, 0, 4, ACCESSES, 1)


@pytest.mark.parametrize(
    ("annotation", "line"),
    [
        (_error("a, b: c", "50 %\nmore"), "::error title=a%2C b%3A c::50 %25%0Amore"),
        (_warning("t", "m", "k.cu", 3), "::warning file=k.cu,line=3,title=t::m"),
        (_error("t", "::error::x\r\n", "a,b"),
         "::error file=a%2Cb,title=t::::error::x%0D%0A"),
    ],
)  # fmt: skip
def test_the_notation(annotation: Annotation, line: str) -> None:
    assert workflow_command(annotation) == line


def test_paths_from_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kernels").mkdir()
    monkeypatch.chdir(tmp_path / "kernels")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert workflow_command(_error("t", "m", "k.cu")) == "::error file=kernels/k.cu,title=t::m"
    elsewhere = os.path.join(os.sep, "elsewhere", "k.cu")
    assert f"file={elsewhere}," in workflow_command(_error("t", "m", elsewhere))


def test_a_case_is_annotated_in_the_spec_and_in_the_source(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    error = DeviceFailed("illegal address", log=LOG)
    error.places = (FaultPlace(file="src/k.cu", line=10), FaultPlace(ptx_line=3))
    error.findings = (RACE, MASK)
    cases = (
        CaseReport("good", 1, "cpu", "passed"),
        CaseReport("a|b*", 7, "cpu", "failed", "fault\nmore", ExitCode.DEVICE_FAILED, error=error),
    )
    GithubRenderer(TableStyle(quiet=True)).end(SpecReport("s.toml", 1, 1, 0, 1.0, cases))
    table, *lines = capsys.readouterr().out.splitlines()
    assert table == "1 passed, 1 failed, 0 skipped in 1.0 s"
    assert [line.rpartition("::")[0].partition("::fault")[0] for line in lines] == [
        "::error file=s.toml,line=7,title=a|b* on cpu",
        "::error file=src/k.cu,line=11,title=f",
        "::error file=src/k.cu,line=11,title=f",
        "::error file=src/k.cu,line=10,title=DeviceFailed",
    ]
    assert "data race in part%0Astore at src/k.cu:11%0Aload at PTX line 6" in lines[1]
    assert "::synchronization error: empty member mask%0Astore at src/k.cu:11" in lines[2]
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### s.toml: 1 passed, 1 failed, 0 skipped\n\n| result |")
    assert "| failed | a\\|b\\* | cpu | 0.0 s | fault |\n" in summary


def test_errors_before_a_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "s.toml"
    spec.write_text('[[launch]]\nimage = "k.ptx"\nblok = 3\n')
    assert main(["launch", "--spec", str(spec), "--format", "github"]) == 2
    assert f"::error file={spec},line=3,title=RequestError::" in capsys.readouterr().out
    assert main(["launch", "--json", "--format=github", "k.ptx"]) == 2
    captured = capsys.readouterr()
    assert "::error title=RequestError::--json and --format github cannot be" in captured.out
    [annotation] = of_error(RequestError("wrong", hint="do this"))
    assert annotation == Annotation("error", "RequestError", "RequestError", "wrong\nhint: do this")


def test_messages_of_assertions_are_no_commands(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    letters = ", ".join(map(str, b"\n::error::forged\n\0"))
    path = tmp_path / "k.ptx"
    path.write_text(
        f"""
        .version 8.0 .target sm_80 .address_size 64
        .extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line,
            .param .b64 function, .param .b64 width);
        .global .b8 words[] = {{{letters}}};
        .visible .entry k() {{
            .reg .b64 %a; mov.u64 %a, words;
            .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 w;
            st.param.b64 [m], %a; st.param.b64 [f], %a; st.param.b64 [n], %a;
            st.param.b32 [l], 7; st.param.b64 [w], 1;
            call __assertfail, (m, f, l, n, w); ret;
        }}"""
    )
    launch = ["launch", str(path), "--grid", "1", "--block", "1", "-d", "cpu", "--format", "github"]
    assert main(launch) == ExitCode.DEVICE_FAILED
    out, err = capfd.readouterr()
    assert "| ::error::forged" in out
    assert not any(line.startswith("::error::forged") for line in f"{out}{err}".splitlines())


_PRINTING = """\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[32] = {35, 35, 91, 101, 114, 114, 111, 114, 93, 120, 10, 0};
.visible .entry k() {
  .reg .b64 %a;
  mov.u64 %a, text;
  cvta.global.u64 %a, %a;
  .param .b64 p; .param .b64 q; .param .b32 r;
  st.param.b64 [p], %a; st.param.b64 [q], 0;
  call (r), vprintf, (p, q);
  ret;
}
"""


def test_text_of_others_has_no_workflow_commands(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner finds ``##[`` anywhere in a line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    Path("k.ptx").write_text(_PRINTING)
    Path("a\n::error::b.ptx").write_text(_PRINTING.replace("ret;", "  ::error::c ##[error]d"))
    github = "-d", "cpu", "--threads", "1", "--format", "github"
    assert main(["launch", "k.ptx", *github]) == ExitCode.OK
    printed = capfd.readouterr()
    assert "| ##\\x5berror]x" in printed.out
    assert main(["launch", "a\n::error::b.ptx", *github]) == ExitCode.IMAGE_REFUSED
    refused = capfd.readouterr()
    assert not _commands(printed.out + refused.out + refused.err)
    assert main(["launch", "a\n::error::b.ptx", *github[:4]]) == ExitCode.IMAGE_REFUSED
    assert _commands(capfd.readouterr().err)  # in no workflow it is the text of the file
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["launch", "a\n::error::b.ptx", *github[:4]]) == ExitCode.IMAGE_REFUSED
    assert not _commands(capfd.readouterr().err)


def _commands(text: str) -> list[str]:
    """Return the lines with a workflow command but annotations, which have a title."""
    own = re.compile("::(error|warning) .*title=")
    return [
        line
        for line in text.splitlines()
        if not own.match(line) and ("##[" in line or line.lstrip().startswith("::"))
    ]
