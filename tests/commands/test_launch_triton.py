"""Kernels from Triton's cache: what lies beside the image says how they are launched."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

DATA = Path(__file__).resolve().parents[1] / "data" / "triton"
SOFTMAX = ("y=f32[24,1000]", "x=f32[24,1000]:randn", "1000", "1000")
HOLDS = ("--check", "y == exp(x) / sum(exp(x), axis=1, keepdims=true)")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    for file in DATA.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path


def test_only_the_kernels_own_arguments_are_given(run: Run, cache: Path) -> None:
    ran = run("launch", "softmax.ptx", "-d", "cpu", "--grid", "24", *SOFTMAX, *HOLDS)
    assert ran.code == 0, ran.err
    assert "softmax  grid 24 × block 128 = 3072 threads  shared 16 B  on cpu" in ran.out


def test_arguments_without_names(run: Run, cache: Path) -> None:
    given = [text.partition("=")[2] if "=" in text else text for text in SOFTMAX]
    ran = run("launch", "softmax.ptx", "-d", "cpu", "--grid", "24", *given)
    assert (ran.code, ran.err) == (0, "")


def test_scratch_can_be_given_all_the_same(run: Run, cache: Path) -> None:
    ran = run(
        "launch", "softmax.ptx", "-d", "cpu", "--grid", "24", *SOFTMAX, "null", "null", *HOLDS
    )
    assert ran.code == 0, ran.err


def test_the_parameters_of_a_cubin_are_counted(run: Run, cache: Path) -> None:
    ran = run(
        "launch", "softmax.cubin", "--grid", "24", *SOFTMAX[:2], "i32:1000", "i32:1000",
        "--dry-run", "--json",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    plan = ran.document
    assert (plan["block"], plan["shared_bytes"]) == ([128, 1, 1], 16)
    assert [(row["name"], row["value"]) for row in plan["parameters"][4:]] == [
        ("global_scratch", "null"),
        ("profile_scratch", "null"),
    ]


def test_scratch_memory_is_as_large_as_the_grid_needs(run: Run, cache: Path) -> None:
    ran = run(
        "launch", "tiles.cubin", "--grid", "4,2", "y=f32[128,64]", "x=f32[128,64]:iota",
        "i32:128", "i32:64", "--dry-run", "--json",
    )  # fmt: skip
    values = [row["value"] for row in ran.document["parameters"]]
    assert values[4:] == ["u8[2048]:zeros", "null"]


def test_a_program_of_two_blocks_is_a_cluster(run: Run, cache: Path) -> None:
    ran = run(
        "launch", "clustered.ptx", "-d", "cpu", "--grid", "4", "y=f32[2000]", "x=f32[2000]:iota",
        "2000", "--check", "y == x + 1",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "clustered  grid 8 × block 64 = 512 threads  cluster 2  on cpu" in ran.out


def test_an_argument_that_is_missing_is_missed(run: Run, cache: Path) -> None:
    ran = run("launch", "softmax.ptx", "-d", "cpu", "--grid", "24", *SOFTMAX[:3])
    assert ran.code == 2
    assert "softmax: takes 6 parameters, got 5" in ran.err


def test_an_older_triton_has_one_kind_of_scratch_memory(run: Run, cache: Path) -> None:
    known = json.loads((cache / "softmax.json").read_text())
    del known["profile_scratch_size"]
    (cache / "softmax.json").write_text(json.dumps(known))
    ran = run("launch", "softmax.ptx", "--grid", "24", *SOFTMAX, "null", "--dry-run", "--json")
    assert ran.document["parameters"][5]["name"] == "global_scratch"


def test_what_is_said_counts_for_more(run: Run, cache: Path) -> None:
    ran = run(
        "launch", "softmax.ptx", "--grid", "24", "--smem", "4Ki", "--block", "64", *SOFTMAX,
        "--dry-run", "--json",
    )  # fmt: skip
    assert (ran.document["block"], ran.document["shared_bytes"]) == ([64, 1, 1], 4096)


def test_threads_say_nothing_of_programs(run: Run, cache: Path) -> None:
    ran = run("launch", "softmax.ptx", "-d", "cpu", "--threads", "24", *SOFTMAX)
    assert (ran.code, ran.err) == (
        2,
        "error: --threads: a Triton kernel requires a number of programs\n"
        "hint: set the number of programs with --grid\n",
    )


@pytest.mark.parametrize("text", ["{}", "[1]", "no json", '{"name": 3, "num_warps": "x"}'])
def test_another_json_file_is_none_of_our_business(run: Run, cache: Path, text: str) -> None:
    (cache / "softmax.json").write_text(text)
    ran = run("launch", "softmax.ptx", "--grid", "24", *SOFTMAX, "null", "null", "--dry-run")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "softmax  grid 24 × block 128 = 3072 threads"


def test_in_a_spec(run: Run, cache: Path) -> None:
    (cache / "cases.toml").write_text(
        '[[launch]]\nname = "softmax"\nimage = "softmax.ptx"\ngrid = 24\n'
        f"args = {json.dumps(SOFTMAX)}\ncheck = {json.dumps(HOLDS[1])}\n"
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert ran.code == 0, ran.out + ran.err
