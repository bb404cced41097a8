"""Options of the command line with ``--spec``: they replace the keys of all cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cudarun.commands.launch import command
from cudarun.commands.spec_file import read_spec
from cudarun.commands.spec_options import spec_options
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices

if TYPE_CHECKING:
    from conftest import Ran, Run

RACE = """
.version 7.0
.target sm_70
.address_size 64

.visible .entry {name}(.param .u64 out)
{{
    .reg .u32 %r<2>;
    .reg .u64 %p<2>;
    ld.param.u64 %p1, [out];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%p1], %r1;
    ret;
}}
"""
CASES = """
[[launch]]
name = "first"
image = "race.ptx"
block = 2
args = ["out=u32[1]"]

[[launch]]
name = "second"
image = "race.ptx"
block = 2
args = ["out=u32[1]"]
detect = "uninit"
seed = 5
timeout = 50
rtol = 0.5
"""
SOURCE = """
#include "value.h"
extern "C" __global__ void fill(int *out) { out[0] = VALUE; }
"""


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "race.ptx").write_text(RACE.format(name="race"))
    (folder / "cases.toml").write_text(CASES)
    return folder


def launched(run: Run, *options: str) -> Ran:
    return run("launch", "--spec", "specs/cases.toml", "-d", "cpu", *options)


def cases(ran: Ran) -> dict[str, Any]:
    return {case["name"]: case for case in ran.document["cases"]}


def test_detect_finds_the_races_of_all_cases(run: Run, specs: Path) -> None:
    assert launched(run).code == 0
    ran = launched(run, "--detect", "race", "--json")
    assert ran.code == 1
    assert {name: case["verdict"] for name, case in cases(ran).items()} == {
        "first": "failed", "second": "failed",
    }  # fmt: skip
    command = cases(ran)["first"]["command"]
    assert command == "cudarun launch --spec specs/cases.toml --detect=race -d cpu first"


def test_an_empty_value_replaces_a_key_too(run: Run, specs: Path) -> None:
    text = CASES.replace('"uninit"', '"race"')
    (specs / "cases.toml").write_text(text)
    assert launched(run, "second").code == 1
    assert launched(run, "second", "--detect", "").code == 0


def test_a_time_limit_replaces_those_of_the_cases(run: Run, specs: Path) -> None:
    (specs / "race.ptx").write_text(RACE.format(name="race").replace("ret;", "again: bra again;"))
    ran = launched(run, "--timeout", "0.5", "second")
    assert ran.code == 6
    assert "--timeout 0.5" in ran.out


@pytest.mark.parametrize(
    ("option", "value", "checks"),
    [
        ("--stats", None, lambda result: result["watched"]["statistics"] is not None),
        ("--repeat", "3", lambda result: len(result["timing"]["samples"]) == 3),
        ("--stateless", None, lambda result: result["state"] is not None),
        ("--seeds", "2", lambda result: [run["seed"] for run in result["runs"]][1:] == [1]),
    ],
)
def test_other_options(run: Run, specs: Path, option: str, value: str | None, checks: Any) -> None:
    (specs / "cases.toml").write_text(CASES.partition('[[launch]]\nname = "second')[0])
    words = [option] if value is None else [option, value]
    ran = launched(run, *words, "--json", "first")
    assert ran.document["cases"][0]["verdict"] == "passed", ran.out
    assert checks(ran.document["cases"][0]["result"])


def test_paths_start_from_the_working_directory(run: Run, specs: Path, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include/value.h").write_text("#define VALUE 3\n")
    (specs / "fill.cu").write_text(SOURCE)
    (specs / "cases.toml").write_text(
        '[[launch]]\nimage = "fill.cu"\nblock = 1\nargs = ["out=i32[1]"]\ncheck = "out == 3"\n'
        'include = "missing"\n'
    )
    ran = launched(run, "--include", "include")
    assert ran.code == 0, ran.out + ran.err
    assert launched(run).code == 4


def test_a_case_that_an_option_does_not_fit_is_named(run: Run, specs: Path) -> None:
    text = CASES.replace('detect = "uninit"', "repeat = 2")
    (specs / "cases.toml").write_text(text)
    ran = launched(run, "--detect", "race")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: specs/cases.toml:")
    assert "case 'second': --detect and --repeat cannot be combined" in ran.err


@pytest.mark.parametrize(
    "words",
    [("--check", "out == 0"), ("--kernel", "race"), ("--set", "x=i32:1"), ("--print", "out"),
     ("--baseline-grid", "1")],
)  # fmt: skip
def test_options_about_one_kernel_are_refused(
    run: Run, specs: Path, words: tuple[str, ...]
) -> None:
    ran = launched(run, *words)
    says = f"--spec: {words[0]} applies to one launch; set it in the cases of the spec"
    assert (ran.code, ran.err) == (2, f"error: {says}\n")


def test_options_of_the_run_reach_every_case(specs: Path) -> None:
    spec = str(specs / "cases.toml")
    words = ["--spec", spec, "--cpu-engine", "interpret", "--cpu-threads", "3", "--python", "py"]
    with command.make_context("launch", words) as context:
        cases = read_spec(spec, (), Target(parse_devices("cpu")), spec_options(context))
    requests = [case.request.options for case in cases if case.request is not None]
    assert [(each.engine, each.cpu_threads) for each in requests] == [("interpret", 3)] * 2
    assert [each.functions.python for each in requests] == ["py"] * 2
