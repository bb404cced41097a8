"""Short answers: `cudarun.report.brief`, by real launches."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.servers import KERNELS

if TYPE_CHECKING:
    from conftest import Ran, Run

SPEC = """
[defaults]
image = "k.ptx"
threads = 1
[[launch]]
name = "right"
kernel = "fill"
args = ["y=i32[1]", "k=i32:3"]
check = ["y == 3"]
[[launch]]
name = "wrong"
kernel = "fill"
args = ["y=i32[4]:zeros", "k=i32:3"]
check = ["y == 3"]
[[launch]]
name = "faulty"
kernel = "fault"
"""
SOURCE = """\
extern "C" __global__ void f(int *y, int n) {
    if (n > 0)
        y[1 << 28] = n;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(KERNELS)
    Path("f.cu").write_text(SOURCE)
    Path("a.toml").write_text(SPEC)


def brief(run: Run, *words: str) -> Ran:
    return run("launch", *words, "-d", "cpu", "--format", "brief")


def test_the_failing_cases_of_a_spec(run: Run) -> None:
    ran = brief(run, "--spec", "a.toml")
    assert ran.code == 5
    assert ran.out == (
        "FAIL wrong on cpu\n"
        "  what: y == 3: 3 of 4 elements mismatched, the last 3; largest absolute error 3; largest "
        "relative error 1; [1]: got 0, expected 3  (worst)\n"
        "  repeat: cudarun launch --spec a.toml -d cpu wrong\n"
        "FAIL faulty on cpu\n"
        "  what: cuCtxSynchronize: an illegal memory access was encountered "
        "(CUDA_ERROR_ILLEGAL_ADDRESS, 700); kernel fault: illegal address in a 4-byte store\n"
        "  repeat: cudarun launch --spec a.toml -d cpu faulty\n"
        "1 passed, 2 failed, 0 skipped\n"
    )
    assert ran.err == ""


def test_the_line_of_the_source(run: Run) -> None:
    ran = brief(run, "f.cu", "--threads", "1", "y=i32[1]", "n=1")
    assert ran.code == 5
    assert "\n  at: f.cu:3\n  source: y[1 << 28] = n;\n" in ran.out
    Path("f.cu").write_text(SOURCE.replace("n;", "m;"))
    ran = brief(run, "f.cu", "--threads", "1", "y=i32[1]", "n=1")
    assert ran.code == 4
    assert ran.out == (
        "FAIL f.cu on cpu\n"
        '  what: f.cu: NVRTC: the source does not compile: identifier "m" is undefined\n'
        "  at: f.cu:3\n"
        "  source: y[1 << 28] = m;\n"
    )


def test_a_launch_that_passes(run: Run) -> None:
    ran = brief(run, "k.ptx", "-k", "fill", "--threads", "1", "y=i32[1]", "k=7", "--print", "y")
    assert re.sub(r"[\d.]+ ms", "T ms", ran.out) == "PASS fill on cpu  T ms\nprint: y = [7]\n"


def test_a_failing_case_has_at_most_1_kb(run: Run) -> None:
    name, other = "long " * 100, "x" * 900
    check = "y == 3 and " + " and ".join(["y == 3"] * 70)
    spec = SPEC.replace('"wrong"', f'"{name}"').replace('["y == 3"]', f'["{check}"]')
    Path("a.toml").write_text(spec.replace('"faulty"', f'"{other}"'))
    ran = brief(run, "--spec", "a.toml")
    *_, first, second = re.split(r"^(?=FAIL)", ran.out, flags=re.MULTILINE)
    for text in (first, second.removesuffix("1 passed, 2 failed, 0 skipped\n")):
        assert len(text.encode()) <= 1024
        assert re.search(r"^  what: ", text, re.MULTILINE)
    assert "  repeat: too long, see --json\n" in second


def test_candidates(run: Run) -> None:
    ran = brief(run, "--spec", "a.toml", "--candidate", "k.ptx", "right")
    assert ran.out == "PASS k.ptx: 1 of 1 cases passed\n1 passed, 0 failed, 0 skipped\n"


LINELESS = """\
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b64 %a;
    .loc 1 LINE 0
    ld.param.u64 %a, [p];
    st.global.u32 [%a+4000], 5;
    ret;
}
.file 1 "f.cu"
"""


@pytest.mark.parametrize("form", ["brief", "sarif"])
def test_line_0_is_no_line(run: Run, form: str) -> None:
    Path("k.ptx").write_text(LINELESS.replace("LINE", "0"))
    ran = run("launch", "k.ptx", "-d", "cpu", "--threads", "1", "p=i32[1]", "--format", form)
    assert ran.code == 5
    assert not re.search("\n  at: |source: |startLine", ran.out)


@pytest.mark.parametrize("form", ["brief", "sarif"])
def test_a_name_can_have_any_bytes(run: Run, form: str) -> None:
    name = os.fsdecode(b"k\xff.ptx")
    Path(name).write_text(LINELESS.replace("LINE", "0"))
    ran = run("launch", name, "-d", "cpu", "--threads", "1", "p=i32[1]", "--format", form)
    assert ran.code == 5
    assert ("k%FF.ptx" if form == "sarif" else "FAIL k") in ran.out


@pytest.mark.parametrize("name", ["github", "sarif"])
def test_a_file_can_have_the_name_of_a_format(run: Run, name: str) -> None:
    ran = run("launch", name, "-d", "cpu")
    assert (ran.code, ran.out) == (2, "")


def test_source_that_is_a_pipe_is_not_read(run: Run) -> None:
    Path("k.ptx").write_text(LINELESS.replace("LINE", "1"))
    Path("f.cu").unlink()
    os.mkfifo("f.cu")
    ran = brief(run, "k.ptx", "--threads", "1", "p=i32[1]")
    assert (ran.code, ran.out.splitlines()[2:]) == (5, ["  at: f.cu:1"])


def test_lines_of_an_error_are_one_line(run: Run) -> None:
    ran = brief(run, "k.ptx", "--kernel", "fill", "--threads", "1", "y=i32[1]")
    assert ran.code == 2
    assert "\n  what: fill: takes 2 parameters, got 1 offset  size" in ran.out
    assert "x0a" not in ran.out
