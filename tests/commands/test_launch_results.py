"""What ``cudarun launch`` says of results: checks that fail, checks that cannot be made, notes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.notes import BY_ORDER

if TYPE_CHECKING:
    from conftest import Run

TESTS = Path(__file__).parents[1]
FIVE = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "5", "a=2", "x=f32[n]:iota")
SAXPY = (*FIVE, "y=f32[n]:ones", "n=i32:5")  # y becomes 1 3 5 7 9


def test_what_cannot_be_evaluated_hides_nothing(run: Run) -> None:
    wanted = (
        "--print",
        "y[9]",
        "--print",
        "y[:2]",
        "--check",
        "y[7] == 3",
        "--check",
        "y == 2*x+1",
    )
    ran = run(*SAXPY, *wanted, "--save", "y=y.npy")
    assert ran.code == 2
    _, *shown = ran.out.splitlines()
    assert shown == [
        "y[:2] = [1. 3.]",
        "saved y to y.npy, 148 bytes",
        "not evaluated y[7] == 3",
        "PASS y == 2*x+1  (rtol 1e-05, atol 1e-06)",
    ]
    assert [line for line in ran.err.splitlines() if line.startswith("error")] == [
        "error: --check: y[7] == 3: […]: index 7 is out of bounds for axis 0 with size 5",
        "error: --print: y[9]: […]: index 9 is out of bounds for axis 0 with size 5",
    ]


def test_what_cannot_be_evaluated_in_json(run: Run) -> None:
    ran = run(*SAXPY, "--print", "y[9]", "--check", "y[7] == 3", "--check", "y[0] == 1", "--json")
    [outcome] = ran.document["outcomes"]
    assert (ran.code, ran.document["exit_code"]) == (2, 2)
    checks = outcome["result"]["checks"]
    assert [check["passed"] for check in checks] == [False, True]
    assert [check["evaluated"] for check in checks] == [False, True]
    first, second = outcome["result"]["errors"]
    assert ran.document["error"] == outcome["error"] == first
    assert first["message"].startswith("--check: y[7]")
    assert second["message"].startswith("--print: y[9]")


def test_a_file_that_cannot_be_written_hides_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "y.bin").symlink_to("/dev/full")
    ran = run(*SAXPY, "--save", "y=y.bin", "--save", "x=x.npy", "--force", "--check", "y[1] == 3")
    assert ran.code == 2
    assert ran.out.splitlines()[1:] == [
        "saved x to x.npy, 148 bytes",
        "PASS y[1] == 3  (rtol 1e-05, atol 1e-06)",
    ]
    assert ran.err.startswith(
        f"{BY_ORDER}error: --save: y.bin cannot be written: No space left on device"
    )


@pytest.mark.parametrize(
    ("check", "lines"),
    [
        ("any(y == 4)", ["  got false, expected true"]),
        (
            "n == 5 and all(y < 9)",
            ["  1 of 5 elements failed", "  [4]: got 9.0, expected < 9"],
        ),
        (
            "isnan(y)",
            ["  5 of 5 elements failed", *(f"  [{i}]: got false, expected true" for i in range(5))],
        ),
        ("y > 2", ["  1 of 5 elements failed", "  [0]: got 1.0, expected > 2"]),
        (
            "3 <= y < 9",
            [
                "  2 of 5 elements failed",
                "  [0]: got 1.0, expected >= 3",
                "  [4]: got 9.0, expected < 9",
            ],
        ),
        ("a == 1", ["  got 2.0, expected 1; absolute error 1; relative error 1"]),
        (
            "y[:2] == 3",
            [
                "  1 of 2 elements mismatched; largest absolute error 2; "
                "largest relative error 0.666667",
                "  [0]: got 1.0, expected 3",
            ],
        ),
        (
            "y == [1, 3, 5, 9, 19]",
            [
                "  2 of 5 elements mismatched, the last 2; largest absolute error 10; "
                "largest relative error 0.526316",
                "  [3]: got 7.0, expected 9",
                "  [4]: got 9.0, expected 19  (worst)",
            ],
        ),
        ("y[n:] == 3", ["  the selection is empty"]),
        ("all(y[n:] == 3)", ["  the selection is empty"]),
        (
            "0*y[:2]/0 == 0*y[1:3]/0",
            [
                "  2 of 2 elements mismatched",
                "  [0]: got nan, expected nan",
                "  [1]: got nan, expected nan",
                "  note all of them are NaN on both sides: --equal-nan compares NaN as equal",
            ],
        ),
    ],
)
def test_what_is_wrong_with_a_check(run: Run, check: str, lines: list[str]) -> None:
    ran = run(*SAXPY, "--check", check)
    _, failed, *shown = ran.out.splitlines()
    assert (ran.code, ran.err) == (1, BY_ORDER)
    assert failed.startswith(f"FAIL {check}")
    assert shown == lines


def test_some_are_nan_on_both_sides(run: Run) -> None:
    check = "where(y < 4, 0*y/0, y) == where(y < 6, 0*y/0, y)"
    shown = run(*SAXPY, "--check", check).out.splitlines()
    assert shown[2] == "  3 of 5 elements mismatched, the first 3"
    assert shown[-1].startswith("  note 2 of them are NaN on both sides")
    assert "note" not in run(*SAXPY, "--check", check, "--equal-nan").out


def test_a_device_that_is_its_own_reference(run: Run) -> None:
    two = {"CUDARUN_CPU_DEVICES": "2"}
    note = "note the reference device is the same device (cpu)"
    assert note in run(*SAXPY, "--reference", "cpu").out.splitlines()
    assert "note" not in run(*SAXPY, "--reference", "cpu:1", env=two).out


def test_a_drawn_seed_is_printed(run: Run) -> None:
    random = (*FIVE, "y=f32[n]:rand", "n=i32:5")
    assert run(*random, "--seed", "random").out.startswith("seed ")
    assert "seed" not in run(*random).out
    assert "seed" not in run(*random, "--seed", "3").out
    assert run(*random, "--seed", "3", "--json").document["seed"] == 3
    assert run(*random, "--json").document["seed"] == 0
    seeds = {run(*random, "--seed", "random", "--json").document["seed"] for _ in range(3)}
    assert len(seeds) > 1


def test_verbose_shows_the_parameters(run: Run) -> None:
    shown = run(*SAXPY, "-v").out.splitlines()
    assert shown[1].startswith("saxpy: interpreted: ")
    assert shown[2].split() == ["offset", "size", "align", "padding", "name", "type", "value"]
    assert shown[6].split() == ["24", "4", "4", "n", "i32", "5"]


def test_shared_memory_that_was_forgotten(run: Run) -> None:
    args = ("launch", "samples/reverse.ptx", "-k", "reverse", "-d", "cpu", "--block", "64")
    ran = run(*args, "x=i32[64]:iota")
    assert ran.code == 5
    assert ran.err.splitlines()[-1] == (
        "hint: the kernel uses extern __shared__ memory, but --smem is 0"
    )
    assert "hint" not in run(*args, "x=i32[64]:iota", "--smem", "128").err
    assert run(*args, "x=i32[64]:iota", "--smem", "256").code == 0


def test_a_grid_that_waits_for_itself_without_being_cooperative(run: Run) -> None:
    args = (
        "launch",
        str(TESTS / "emulator/nvcc/cooperative.ptx"),
        "-k",
        "grid_sync",
        "-d",
        "cpu",
        "--grid",
        "2",
        "--block",
        "32",
        "i32[4Ki]:zeros",
        "i32[4Ki]:zeros",
    )
    ran = run(*args)
    assert ran.code == 5
    assert "CUDA_ERROR_LAUNCH_FAILED, 719" in ran.err
    assert ran.err.splitlines()[-1] == (
        "hint: the kernel synchronizes the whole grid, which requires --cooperative"
    )
    assert run(*args, "--cooperative").code == 0


def test_the_devices_after_one_that_faulted(run: Run) -> None:
    args = (
        "launch",
        "samples/out_of_bounds.ptx",
        "-k",
        "far_past",
        "--block",
        "64",
        "x=i32[9]",
        "9",
    )
    two = {"CUDARUN_CPU_DEVICES": "2"}
    ran = run(*args, "-d", "cpu:all", "--together", env=two)
    assert ran.code == 5
    assert ran.err.splitlines()[-3:] == [
        "error: not run: device cpu faulted; its process cannot be used any more",
        "  in device cpu:1",
        "hint: remove --together, so that each device has its own process",
    ]
    assert run(*args, "-d", "cpu:all", env=two).err.count("CUDA_ERROR_ILLEGAL_ADDRESS") == 2


def test_rows_of_a_printed_array_are_lines(run: Run) -> None:
    ran = run(*SAXPY, "--print", "reshape(arange(6),(2,3))", "-q")
    assert ran.out.splitlines()[-2:] == ["reshape(arange(6),(2,3)) = [[0 1 2]", " [3 4 5]]"]
