"""``--baseline``: the same launch with another kernel."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from cudarun.model.runs import BaselineResult, SpeedResult, TimingResult
from cudarun.report.timing_tables import show_speed

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Ran, Run

MATMUL = (
    "launch", "samples/matmul.ptx", "-k", "matmul_tiled", "-d", "cpu", "--threads", "7,9",
    "--block", "16,16", "a=f32[m,k]:rand", "b=f32[k,n]:rand", "c=f32[m,n]", "m=i32:9", "n=i32:7",
    "k=i32:5",
)  # fmt: skip


def center(run: Run, name: str, *options: str) -> Ran:
    """Launch a sample that subtracts the mean of each row."""
    return run(
        "launch", f"samples/judge/{name}.ptx", "-d", "cpu", "--grid", "rows", "--block", "64",
        "x=f32[rows,columns]:rand", "y=f32[rows,columns]", "rows=i32:4", "columns=i32:64", *options,
    )  # fmt: skip


def result(ran: Ran) -> Any:
    [outcome] = ran.document["outcomes"]
    return outcome["result"]


def test_all_buffers_are_compared(run: Run) -> None:
    ran = run(*MATMUL, "--baseline", ":matmul_naive")
    assert ran.code == 0, ran.err
    compared = re.findall(r"^PASS (\w) as by matmul_naive", ran.out, re.MULTILINE)
    assert compared == ["a", "b", "c"]


def test_the_same_image_is_its_own_baseline(run: Run) -> None:
    ran = center(run, "cached", "--baseline", "samples/judge/cached.ptx", "--seeds", "2")
    assert ran.code == 0, ran.err  # each has variables of its own
    assert "PASS y as by samples/judge/cached.ptx" in ran.out


def test_a_different_result_fails(run: Run) -> None:
    ran = center(run, "zeros", "--baseline", "samples/judge/honest_serial.ptx:center", "--json")
    assert ran.code == 1
    found = result(ran)
    baseline = found["baseline"]
    assert baseline["kernel"] == "samples/judge/honest_serial.ptx:center"
    passed = {each["expression"]: each["passed"] for each in baseline["comparisons"]}
    assert passed == {"x": True, "y": False}
    assert (baseline["timing"], baseline["speed"], found["reference"]) == (None, None, None)


def test_each_seed_is_compared(run: Run) -> None:
    ran = center(run, "honest_serial", "--baseline", "samples/judge/hard_coded.ptx", "--seeds", "2")
    assert ran.code == 1
    assert "FAIL y as by samples/judge/hard_coded.ptx  (" in ran.out
    assert "FAIL 1 of 2 runs: seed 1" in ran.out


def test_variables_in_checks_are_those_of_the_launch(run: Run) -> None:
    words = ("--baseline", "samples/judge/honest_serial.ptx", "--check")
    means = "symbol('means', f32)[:4]"
    ran = center(run, "honest_scratch", *words, f"{means} == mean(x, axis=1)")
    assert ran.code == 0, ran.err
    assert "as by samples/judge/honest_serial.ptx" in ran.out


def test_emulated_time_makes_nothing_faster(run: Run) -> None:
    ran = run(*MATMUL, "--baseline", ":matmul_naive", "--repeat", "5", "--warmup", "0")
    assert ran.code == 0, ran.err
    [line] = re.findall(r"^baseline matmul_naive: 5 runs, median .*$", ran.out, re.MULTILINE)
    assert line.endswith("; no speed-up: emulated time is not GPU time")
    assert "faster" not in ran.out


TIMING = TimingResult("events", (1.0,) * 9, 0, 0, 1.0, 1.0, 1.0, 0.0, {}, False, None, None, None)
FASTER = SpeedResult(1.8, 1.75, 1.9, 0.95, 1e-9, is_significant=True)


@pytest.mark.parametrize(
    ("speed", "line"),
    [
        (FASTER, "1.8 × faster than naive  (95 % interval 1.75 to 1.9;"),
        (
            replace(FASTER, ratio=0.5, low=0.4, high=0.8),
            "2 × slower than naive  (95 % interval 1.25 to 2.5;",
        ),
        (
            SpeedResult(1.01, 0.98, 1.03, 0.95, 0.4, is_significant=False),
            "no significant difference from naive: 1.01 × its speed  (95 % interval 0.98 to 1.03;",
        ),
    ],
)
def test_the_line_names_the_faster_kernel(speed: SpeedResult, line: str) -> None:
    text = io.StringIO()
    show_speed(
        BaselineResult("naive", (), TIMING, speed), Console(file=text, width=200), passed=True
    )
    assert text.getvalue() == f"{line} baseline: 9 runs, median 1 ms)\n"


def test_a_failed_launch_has_no_speed() -> None:
    text = io.StringIO()
    show_speed(BaselineResult("naive", (), TIMING, None), Console(file=text), passed=False)
    assert text.getvalue() == (
        "baseline naive: 9 runs, median 1 ms; no speed-up: the launch failed\n"
    )


def test_the_baseline_has_a_geometry_of_its_own(run: Run) -> None:
    """`matmul_tiled` requires blocks of 16 × 16; one thread of a baseline fills one element."""
    with_block = run(*MATMUL, "--baseline", ":matmul_naive", "--baseline-block", "7,9")
    assert with_block.code == 0, with_block.err
    with_grid = run(*MATMUL, "--baseline", ":matmul_naive", "--baseline-grid", "1")
    assert with_grid.code == 0, with_grid.err  # 16 × 16 threads are enough for 7 × 9 elements
    too_few = run(
        *MATMUL, "--baseline", ":matmul_naive", "--baseline-grid", "1", "--baseline-block", "4"
    )
    assert too_few.code == 1
    assert "FAIL c as by matmul_naive" in too_few.out


def test_a_spec_has_the_geometry_as_keys(run: Run, tmp_path: Path) -> None:
    words = ("--baseline", ":matmul_naive", "--baseline-grid", "1", "--baseline-block", "4")
    assert run(*MATMUL, *words, "--write-spec", "a.toml").code == 1
    text = (tmp_path / "a.toml").read_text()
    assert "baseline-grid = 1\nbaseline-block = 4\n" in text
    assert run("launch", "--spec", "a.toml", "-d", "cpu").code == 1
    (tmp_path / "a.toml").write_text(text.replace("baseline-block = 4", "baseline-block = [7, 9]"))
    assert run("launch", "--spec", "a.toml", "-d", "cpu").code == 0


def test_a_spec_has_it_as_a_key(run: Run, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    written = run(
        *MATMUL, "--baseline", "samples/matmul.ptx:matmul_naive", "--write-spec", "specs/a.toml"
    )
    assert written.code == 0, written.err
    text = (tmp_path / "specs/a.toml").read_text()
    assert 'baseline = "../samples/matmul.ptx:matmul_naive"' in text
    assert run("launch", "--spec", "specs/a.toml", "-d", "cpu").code == 0
    (tmp_path / "specs/a.toml").write_text(text.replace("../samples/matmul.ptx:m", "missing.ptx:m"))
    ran = run("launch", "--spec", "specs/a.toml", "-d", "cpu")
    assert ran.code == 2
    assert "missing.ptx" in ran.err
    ran = run("launch", "--spec", "specs/a.toml", "-d", "cpu", "--confine", "specs")
    assert ran.code == 2


def test_a_baseline_outside_of_the_confinement_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    image = (tmp_path / "samples/saxpy.ptx").read_bytes()
    for place in ("specs/k.ptx", "k.ptx"):
        (tmp_path / place).write_bytes(image)
    (tmp_path / "specs/a.toml").write_text(
        '[[launch]]\nimage = "k.ptx"\nthreads = 4\nbaseline = "../k.ptx"\n'
        'args = ["a=f32:1", "x=f32[4]:iota", "y=f32[4]:ones", "n=i32:4"]\n'
    )
    ran = run("launch", "--spec", "specs/a.toml", "-d", "cpu", "--confine", "specs")
    assert ran.code == 2
    assert "--baseline" in ran.err or "baseline" in ran.err
    assert "is outside specs" in ran.err


def test_a_fault_of_the_baseline_is_its_own(run: Run) -> None:
    ran = run(
        "launch", "samples/judge/honest_serial.ptx", "-d", "cpu", "--grid", "1", "--block", "64",
        "x=f32[64]:rand", "y=f32[64]", "rows=i32:1", "columns=i32:64", "--baseline",
        "samples/judge/fault.ptx",
    )  # fmt: skip
    assert ran.code == 5
    assert "error: --baseline: " in ran.err
    assert "file samples/judge/fault.ptx" in ran.err
