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


# --- tensor descriptors of the host, names and constants ------------------------------------------

ATTENTION = str(DATA.parents[2] / "samples" / "triton" / "attention.ptx")
TENSORS = [f"{name}=f16[2*length,D]" for name in "qkvo"]


def plan(run: Run, *arguments: str) -> dict[str, tuple[str, str]]:
    """The type and the value of each parameter of the attention kernel."""
    ran = run("launch", ATTENTION, "--grid", "1,2", *arguments, "--dry-run", "--json")
    assert (ran.code, ran.err) == (0, "")
    return {row["name"]: (row["type"], row["value"]) for row in ran.document["parameters"]}


def test_a_descriptor_is_a_tensor_map_with_dimensions_and_strides(run: Run) -> None:
    rows = plan(run, *reversed(TENSORS), "scale=0.5", "length=64", "BM=64")
    assert len(rows) == 24
    assert rows["q"] == (
        "CUtensorMap",
        "tensormap(f16[128,64], box=64x64, swizzle=128B, l2=128B)",
    )
    assert [rows[f"o_{name}"] for name in ("shape_0", "shape_1", "stride_0", "stride_1")] == [
        ("i32", "128"),
        ("i32", "64"),
        ("i64", "64"),
        ("i64", "1"),
    ]
    assert rows["length"] == ("u32", "64")
    assert rows["profile_scratch"][1] == "null"


def test_a_descriptor_of_a_buffer_by_its_name(run: Run) -> None:
    rows = plan(
        run, "--buffer", "kv=f16[3,128,64]", "q=f16[128,64]", "k=tensormap(&kv[8192], box=64x64, "
        "shape=128x64, swizzle=128B)", "v=&q", "o=f16[128,D]", "length=64", "scale=0.5",
    )  # fmt: skip
    assert rows["k"][1] == "tensormap(kv + 16384 B, f16[128,64], box=64x64, swizzle=128B)"
    assert rows["v"][1] == "tensormap(q, f16[128,64], box=64x64, swizzle=128B, l2=128B)"


def test_attention_with_descriptors(run: Run) -> None:
    ran = run(
        "launch", ATTENTION, "-d", "cpu", "--grid", "1,2", "q=f16[2*length,D]:randn",
        "k=f16[2*length,D]:zeros", "v=f16[2*length,D]:randn", "o=f16[2*length,D]", "length=64",
        "scale=0.18", "--let", "w=mean(reshape(f32(v), (2, 64, 64)), axis=1, keepdims=true)",
        "--check", "reshape(o, (2, 64, 64)) == w + zeros((2, 64, 64)), rtol=1e-2, atol=1e-3",
    )  # fmt: skip
    assert ran.code == 0, ran.err
