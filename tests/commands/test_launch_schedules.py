"""``--schedule`` and ``--schedules``: what is compared, what repeats a failure, what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

import cudarun

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry {name}(.param .u64 x, .param .u64 y) {{
  .reg .b64 %x, %y; .reg .b32 %t, %s; .reg .f32 %f;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
  mov.u32 %t, %tid.x; mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s;
  mad.wide.u32 %x, %t, 4, %x; mad.wide.u32 %y, %t, 4, %y;
  cp.async.ca.shared.global [%s], [%x], 4;
  cp.async.commit_group;
  cp.async.wait_group {left};
  ld.shared.f32 %f, [%s]; st.global.f32 [%y], %f;
  ret;
}}
"""
ARGUMENTS = ("x=f32[64]:iota", "y=f32[64]")
CHECK = ("--check", "y == x")


@pytest.fixture
def launch(tmp_path: Path) -> tuple[str, ...]:
    """The launch of a kernel that waits for too few groups."""
    (tmp_path / "late.ptx").write_text(KERNEL.format(name="late", left=1))
    return ("launch", "late.ptx", "-d", "cpu", "-q", "--block", "64", *ARGUMENTS)


def test_a_schedule_has_its_own_results(run: Run, launch: tuple[str, ...]) -> None:
    assert run(*launch, *CHECK).code == 0
    ran = run(*launch, *CHECK, "--schedule", "late")
    assert ran.code == 1
    assert ran.out.splitlines()[1] == "  64 of 64 elements mismatched"


def test_schedules_are_compared_and_the_failing_one_is_named(
    run: Run, launch: tuple[str, ...]
) -> None:
    ran = run(*launch, "--schedules", "3")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "PASS x as in the usual schedule  (rtol 1e-05, atol 1e-06)"
    assert lines[1] == "FAIL y as in the usual schedule  (rtol 1e-05, atol 1e-06)"
    assert lines[-1] == "FAIL 3 of 3 schedules: --schedule late repeats the first one"
    document = run(*launch, *CHECK, "--schedules", "1", "--json").document
    [outcome] = document["outcomes"]
    [found] = outcome["result"]["schedules"]["runs"]
    assert found == {"schedule": "late", "failures": ["y == x", "y as in the usual schedule"]}


@pytest.mark.parametrize(
    ("count", "last"),
    [
        (1, "PASS 1 schedule: late"),
        (2, "PASS 2 schedules: late and seed 0"),
        (3, "PASS 3 schedules: late and seeds 0 to 1"),
    ],
)
def test_a_right_kernel_passes(run: Run, tmp_path: Path, count: int, last: str) -> None:
    (tmp_path / "right.ptx").write_text(KERNEL.format(name="right", left=0))
    ran = run(
        *("launch", "right.ptx", "-d", "cpu", "-q", "--block", "64", *ARGUMENTS, *CHECK),
        *("--schedules", str(count), "--detect", "race"),
    )
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == f"PASS no race in {count + 1} schedules; asynchronous copies included"
    assert lines[-1] == last


def test_detectors_observe_each_order(run: Run) -> None:
    ran = run(
        *("launch", "samples/detect/race.ptx", "-k", "reverse_racy", "-d", "cpu", "-q"),
        *("--block", "64", "x=i32[64]:iota", "y=i32[64]", "--detect", "race", "--schedule", "1"),
    )
    assert ran.code == 1
    assert ran.out.startswith("FAIL race in shared memory")


def test_a_fault_names_its_schedule(run: Run, tmp_path: Path) -> None:
    text = KERNEL.format(name="k", left=1).replace(".reg .f32 %f;", ".reg .f32 %f; .reg .pred %p;")
    stop = "setp.nan.f32 %p, %f, %f; @%p trap; st.global"
    (tmp_path / "k.ptx").write_text(text.replace("st.global", stop))
    ran = run("launch", "k.ptx", "-d", "cpu", "--block", "64", *ARGUMENTS, "--schedules", "2")
    assert ran.code == 5
    assert ran.err.startswith("error: --schedule late: ")


def test_keys_and_keywords(run: Run, launch: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[[launch]]\nname = "usual"\nimage = "late.ptx"\nblock = 64\n'
        'args = ["x=f32[64]:iota", "y=f32[64]"]\ncheck = ["y == x"]\n'
        '[[launch]]\nname = "late"\nimage = "late.ptx"\nblock = 64\nschedule = "late"\n'
        'args = ["x=f32[64]:iota", "y=f32[64]"]\ncheck = ["y == x"]\n'
        '[[launch]]\nname = "others"\nimage = "late.ptx"\nblock = 64\nschedules = 1\n'
        'args = ["x=f32[64]:iota", "y=f32[64]"]\ncheck = ["y == x"]\n'
    )
    cases = run("launch", "--spec", "s.toml", "-d", "cpu", "--json").document["cases"]
    assert [each["verdict"] for each in cases] == ["passed", "failed", "failed"]
    schedules: tuple[int | Literal["late"], ...] = ("late", 0)
    for schedule in schedules:
        with pytest.raises(cudarun.WrongResult):
            cudarun.launch(
                tmp_path / "late.ptx", device="cpu", block=64, check="y == x", schedule=schedule,
                args={"x": "f32[64]:iota", "y": "f32[64]"},
            )  # fmt: skip


REFUSED = {
    ("-d", "0", "--schedule", "late"):
        "--schedule: requires the emulated device; device 0 is a GPU",
    ("--schedule", "soon"): "invalid value for '--schedule': 'soon' is not late or a seed",
    ("--schedule", "9223372036854775808"): "is not late or a seed, 0 to 2**63 - 1",
    ("--schedules", "2", "--schedule", "0"): "--schedules and --schedule cannot be combined",
    ("--schedules", "2", "--profile"): "--schedules and --profile cannot be combined",
}  # fmt: skip


@pytest.mark.parametrize(("options", "error"), REFUSED.items())
def test_what_is_refused(
    run: Run, launch: tuple[str, ...], options: tuple[str, ...], error: str
) -> None:
    ran = run(*launch, *options)
    assert ran.code == 2
    assert error in ran.err


@pytest.mark.parametrize("by_option", [True, False])
def test_compiled_code_follows_schedules(
    run: Run, launch: tuple[str, ...], by_option: bool
) -> None:
    options = ("--cpu-engine", "compile") if by_option else ()
    env = {} if by_option else {"CUDARUN_CPU_ENGINE": "compile"}
    ran = run(*launch, *options, *CHECK, "--schedules", "3", env=env)
    assert ran.code == 1
    assert "FAIL 3 of 3 schedules: --schedule late repeats the first one" in ran.out
    failed = run(*launch, *options, *CHECK, "--schedule", "late", "--json", env=env)
    [outcome] = failed.document["outcomes"]
    assert failed.code == 1
    assert [each["engine"] for each in outcome["result"]["engines"]] == ["compile"]


def test_detectors_interpret_schedules_of_compiled_code(run: Run, launch: tuple[str, ...]) -> None:
    ran = run(*launch, "--cpu-engine", "compile", "--schedules", "2", "--detect", "race")
    assert ran.code == 1
    assert ran.out.startswith("FAIL race in shared memory")
