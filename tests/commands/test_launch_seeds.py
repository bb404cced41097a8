"""``--seeds`` and ``--stateless``: verified runs with fresh inputs, and state between launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cudarun.arguments.dimensions import parse_extent
from cudarun.arguments.grammar import parse_arguments
from cudarun.emulator.host.process import process
from cudarun.images.reader import read_image
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.launch.request import Program, ProgramOptions
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep
from cudarun.session.launch.steps import load_libraries
from cudarun.session.launch.verified_runs import run_verified
from cudarun.session.load.library import Library
from cudarun.session.workers.session import Session
from tests.commands.limits import at_a_limit

if TYPE_CHECKING:
    from conftest import Ran, Run

CHECK = "y == (old(x).T - mean(old(x), axis=1)).T"
SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "8", "a=f32:2")
STATE = """
.version 8.0
.target sm_75
.address_size 64

.global .align 4 .u32 launches;
.global .align 4 .u32 $unnamed;
.const .align 4 .u32 addend = 5;

.visible .entry count(.param .u64 out)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [launches];
    ld.const.u32 %r2, [addend];
    add.u32 %r1, %r1, 1;
    st.global.u32 [launches], %r1;
    add.u32 %r3, %r1, %r2;
    ld.global.u32 %r1, [$unnamed];
    add.u32 %r3, %r3, %r1;
    add.u32 %r1, %r1, 1;
    st.global.u32 [$unnamed], %r1;
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


def center(run: Run, name: str, *options: str, initial: str = "rand") -> Ran:
    """Judge a sample that subtracts the mean of each row."""
    return run(
        "launch", f"samples/judge/{name}.ptx", "-d", "cpu", "--grid", "rows", "--block", "64",
        f"x=f32[rows,columns]:{initial}", "y=f32[rows,columns]", "rows=i32:4", "columns=i32:64",
        "--check", CHECK, *options,
    )  # fmt: skip


def result(ran: Ran) -> Any:
    [outcome] = ran.document["outcomes"]
    return outcome["result"]


def test_each_run_has_its_own_inputs_and_is_checked(run: Run) -> None:
    ran = center(run, "hard_coded", "--seeds", "3")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[1].startswith(f"FAIL {CHECK} with seed 1  (rtol")
    assert lines[-1] == "FAIL 2 of 3 runs: seeds 1, 2"
    assert center(run, "hard_coded").code == 0  # the default seed, which it knows


def test_runs_are_in_the_document(run: Run) -> None:
    found = result(center(run, "hard_coded", "--seeds", "2", "--json"))
    assert found["runs"] == [{"seed": 0, "failures": []}, {"seed": 1, "failures": [CHECK]}]
    assert [check["passed"] for check in found["checks"]] == [False]
    assert found["state"] is None


def test_outputs_are_those_of_the_first_run(run: Run) -> None:
    words = ("x=f32[n]:randint(0,9)", "y=f32[n]:zeros", "n=i32:8", "--print", "x[:4]", "-q")
    ran = run(*SAXPY, *words, "--seeds", "3", "--check", "y == 2*x")
    assert ran.code == 0, ran.err
    alone = run(*SAXPY, *words).out
    assert ran.out.splitlines() == [
        alone.rstrip(), "PASS y == 2*x  (rtol 1e-05, atol 1e-06)", "PASS 3 runs: seeds 0 to 2",
    ]  # fmt: skip


def test_inputs_that_are_not_random_give_a_note(run: Run) -> None:
    ran = run(*SAXPY, "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:8", "--seeds", "2")
    assert ran.code == 0
    assert "note: no input is random: all runs have the same inputs" in ran.err


@pytest.mark.parametrize("options", [("--seeds", "3"), ("--repeat", "3", "--warmup", "2")])
def test_variables_of_the_image_are_restored_between_runs(
    run: Run, tmp_path: Any, options: tuple[str, ...]
) -> None:
    (tmp_path / "count.ptx").write_text(STATE)
    ran = run("launch", "count.ptx", "-d", "cpu", "--threads", "1", "out=u32[1]",
              "--check", "out == 6", "--check", "launches == 1", *options)  # fmt: skip
    assert ran.code == 0, ran.out
    ran = run("launch", "count.ptx", "-d", "cpu", "--threads", "1", "out=u32[1]", "--set",
              "launches=4", "--set", "addend=1", "--check", "out == 6", *options)  # fmt: skip
    assert ran.code == 0, ran.out


def test_a_variable_without_an_address_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A driver need not return the addresses of variables that are local to their image."""
    process.reset()
    monkeypatch.setattr(Library, "find_symbol", lambda library, name: None)
    parts = ".global .align 1 .b8 $str[3] = {97, 98, 0};\n.visible .entry"
    data = STATE.replace(".visible .entry", parts).encode()
    step = LaunchStep(
        image=Image("count.ptx", data, read_image(data, "count.ptx")),
        kernel=None,
        geometry=GeometryRequest(block=parse_extent("1")),
        arguments=parse_arguments(["out=u32[1]"]),
    )
    program = Program((step,), ProgramOptions(seeds=2))
    here = Session(Target(parse_devices("cpu")), parse_devices("cpu"))
    [device] = here.devices
    found = run_verified(here, load_libraries(here, program), program, device)
    process.reset()
    [note] = [each.message for each in found.diagnostics if "restored" in each.message]
    named = "launches, addend, $unnamed"  # and not the string literal
    assert note == f"not restored between runs, the driver returns no address: {named}"


def test_an_answer_that_a_kernel_keeps_is_found(run: Run) -> None:
    ran = center(run, "cached", "--stateless")
    assert ran.code == 1
    assert f"PASS {CHECK}" in ran.out
    assert "FAIL y as before other launches" in ran.out
    assert ran.out.splitlines()[-1] == (
        "note the launches changed variables of the image: answer, known"
    )
    assert center(run, "cached", "--seeds", "3").code == 0  # its variables are restored


def test_scratch_memory_of_the_image_is_no_state(run: Run) -> None:
    ran = center(run, "honest_scratch", "--stateless", "--json")
    assert ran.code == 0, ran.err
    state = result(ran)["state"]
    assert state["changed"] == ["means"]
    assert [(each["expression"], each["passed"]) for each in state["comparisons"]] == [
        ("x", True), ("y", True),
    ]  # fmt: skip


def test_nan_is_no_difference_between_launches(run: Run) -> None:
    ran = center(run, "honest_serial", "--stateless", "--equal-nan", initial="inf")
    assert ran.code == 0, ran.out
    assert "no input is random" in ran.err


def test_runs_precede_the_timed_ones(run: Run) -> None:
    ran = center(run, "hard_coded", "--seeds", "2", "--repeat", "2", "--warmup", "0", "--json")
    found = result(ran)
    assert [bool(each["failures"]) for each in found["runs"]] == [False, True]
    assert len(found["timing"]["samples"]) == 2


def test_a_fault_names_its_seed(run: Run) -> None:
    ran = run(
        "launch", "samples/judge/fault.ptx", "-d", "cpu", "--grid", "1", "--block", "64",
        "x=f32[64]:rand", "y=f32[64]", "rows=i32:1", "columns=i32:64", "--seeds", "2",
        "--seed", "7",
    )  # fmt: skip
    assert ran.code == 5
    assert "\nerror: seed 7: " in ran.err


def test_each_step_of_a_program_is_checked_in_each_run(run: Run) -> None:
    ran = run(
        *SAXPY, "x=f32[n]:rand", "y=f32[n]:zeros", "n=i32:8", "--check", "y == 2*x", "--then",
        "--threads", "8", "a=f32:3", "x=x", "y=y", "n=i32:8", "--check", "y == 5*x", "--seeds", "2",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "PASS 2 runs: seeds 0 to 1" in ran.out


def test_a_spec_has_both_as_keys(run: Run, tmp_path: Any) -> None:
    (tmp_path / "judge.toml").write_text(
        "[defaults]\nseeds = 2\nstateless = true\n[[launch]]\nimage = 'samples/saxpy.ptx'\n"
        "threads = 8\nargs = ['a=f32:2', 'x=f32[n]:rand', 'y=f32[n]:zeros', 'n=i32:8']\n"
        "check = 'y == 2*x + 1'\n"
    )
    ran = run("launch", "--spec", "judge.toml", "-d", "cpu")
    assert ran.code == 1
    assert "failed: y == 2*x + 1; 2 of 2 runs, the first with seed 0" in ran.out
    assert "FAIL 2 of 2 runs: seeds 0, 1" in ran.out


def test_a_spec_notes_changed_variables(run: Run, tmp_path: Any) -> None:
    (tmp_path / "judge.toml").write_text(
        "[[launch]]\nname = 'scratch'\nimage = 'samples/judge/honest_scratch.ptx'\ngrid = 2\n"
        "block = 64\nargs = ['x=f32[2,8]:rand', 'y=f32[2,8]', 'i32:2', 'i32:8']\nstateless = true\n"
    )
    ran = run("launch", "--spec", "judge.toml", "-d", "cpu")
    assert ran.code == 0, ran.out
    assert "note the launches changed variables of the image: means  (scratch on cpu)" in ran.out


def test_a_time_limit_names_its_seed(run: Run) -> None:
    ran, limit = at_a_limit(
        lambda limit: run(
            "launch", "samples/endless.ptx", "-d", "cpu", "--grid", "1", "--block", "32",
            "flag=i32[1]:zeros", "--seeds", "2", "--seed", "3", "--timeout", str(limit),
        ),
        lambda ran: "kernel endless" in ran.err,
    )  # fmt: skip
    assert ran.code == 6
    assert f"error: seed 3: timed out after {limit} s" in ran.err
