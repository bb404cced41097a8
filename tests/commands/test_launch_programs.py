"""Programs of several steps in ``cudarun launch``: ``--then``, ``--swap``, ``--graph``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import Run

SOURCE = """
__device__ int calls = 5;
__constant__ float scale = 1;
extern "C" __global__ void fill(float* x, int n, float v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = v * i;
    if (i == 0) atomicAdd(&calls, 1);
}
extern "C" __global__ void add(const float* a, float* b, int n) {
    int i = threadIdx.x;
    if (i < n) b[i] = scale * a[i] + 1;
}
extern "C" __global__ void total(const float* in, float* out, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += in[i];
    *out = sum;
}
template <class T> __global__ void twice(T* x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] *= 2;
    if (threadIdx.x == 0) calls++;
}
"""
FILL = ("-k", "fill", "--threads", "n", "x=f32[n]", "n=10", "v=2")
TOTAL = ("--then", "-k", "total", "--block", "1", "in=x", "out=f32[1]", "n")
ADD = ("-k", "add", "--block", "32", "a=f32[32]:zeros", "b=f32[32]", "n=32")


@pytest.fixture(autouse=True)
def image(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)


def launch(*words: str) -> tuple[str, ...]:
    return ("launch", "k.cu", "-d", "cpu", *words)


def test_a_step_uses_buffers_and_values_of_those_before(run: Run) -> None:
    ran = run(
        *launch(*FILL, "--check", "x[3] == 6", *TOTAL),
        *("--check", "out[0] == 90", "--check", "in[3] == 6", "--print", "in[:2]", "--json"),
    )
    assert ran.code == 0, ran.err
    [outcome] = json.loads(ran.out)["outcomes"]
    result = outcome["result"]
    assert [(check["step"], check["passed"]) for check in result["checks"]] == [
        (1, True), (None, True), (None, True),
    ]  # fmt: skip
    assert [(step["kernel"], step["times"]) for step in result["steps"]] == [
        ("fill", 1), ("total", 1),
    ]  # fmt: skip
    assert [row["value"] for row in result["steps"][1]["parameters"]] == ["&x", "f32[1]", "10"]
    assert {buffer["name"] for buffer in result["buffers"]} == {"x", "out"}


@pytest.mark.parametrize("how", [(), ("--graph",)], ids=["launches", "graph"])
@pytest.mark.parametrize("times", [1, 4, 5])
def test_swapped_names_follow_the_pointers(run: Run, times: int, how: tuple[str, ...]) -> None:
    ran = run(
        *launch(*ADD, "--times", str(times), "--swap", "a,b", *how),
        *("--then", "-k", "total", "--block", "1", "in=a", "out=f32[1]", "n"),
        *("--check", f"a == {times}", "--check", f"b == {times - 1}"),
        *("--check", f"out[0] == {32 * times}"),
    )
    assert ran.code == 0, ran.err + ran.out


def test_three_names_in_rotation(run: Run) -> None:
    ran = run(
        *launch(*ADD, "--buffer", "c=f32[32]:zeros", "--times", "5"),
        *("--swap", "a,b", "--swap", "b,c", "--check", "a == 5", "--check", "c == 4"),
        *("--check", "b == 3"),
    )
    # After each launch: a is the output, b the third buffer, c the input.
    assert ran.code == 0, ran.err + ran.out


def test_time_of_the_program_and_of_each_step(run: Run) -> None:
    ran = run(*launch(*FILL, *TOTAL, "--check", "out[0] == 90", "--repeat", "3", "--json"))
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)["outcomes"][0]["result"]
    assert len(result["timing"]["samples"]) == 3
    assert [len(step["timing"]["samples"]) for step in result["steps"]] == [3, 3]


def test_variables_are_shared_and_written_before_their_step(run: Run) -> None:
    ran = run(
        *launch(*FILL, "--check", "calls == 6"),
        *("--then", "-k", "twice<float>", "--block", "32", "x", "n", "--check", "calls == 7"),
        *("--then", "-k", "twice<float>", "--block", "32", "--set", "calls=20", "x", "n"),
        *("--check", "calls == 21", "--check", "x[1] == 8"),
    )
    assert ran.code == 0, ran.err + ran.out


def test_two_images(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other.cu").write_text(SOURCE)
    ran = run(
        *launch(*FILL, "--then", "--image", "other.cu", "-k", "fill", "--threads", "n"),
        *("x", "n", "v=3", "--check", "calls == 6", "--check", "x == 3*arange(10)"),
    )
    assert ran.code == 0, ran.err + ran.out


def test_options_of_the_program_in_any_step(run: Run, tmp_path: Path) -> None:
    ran = run("launch", "k.cu", *FILL, *TOTAL, "-d", "cpu", "--save", "x=x.npy", "--json")
    assert ran.code == 0, ran.err
    assert np.array_equal(np.load(tmp_path / "x.npy"), 2 * np.arange(10, dtype=np.float32))


def test_colours_are_asked_for_in_any_step(run: Run) -> None:
    failing = (*FILL, "--check", "x == 0")
    assert "\x1b[" in run(*launch(*failing, *TOTAL, "--color")).out
    assert "\x1b[" not in run(*launch(*failing, "--color", *TOTAL, "--no-color")).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*FILL, "--then", "-k", "total", "--block", "1", "in=y", "out=f32[1]", "n"),
         "step 2: unknown name 'y'"),
        ((*FILL, "--then", "-k", "fill", "--block", "1", "x=f32[9]", "n", "v=1"),
         "step 2: an earlier step has a buffer 'x', too"),
        ((*FILL, "--then", "-k", "total", "--block", "1", "in=v", "out=f32[1]", "n"),
         "step 2: total: argument 0 does not match its parameter"),
        ((*FILL, "--swap", "x,y"), "--swap: unknown buffer 'y'"),
        ((*FILL, "--swap", "x"), "--swap: 'x' is not A,B with the names of two buffers"),
        ((*FILL, "--image", "k.cu"), "--image: the image of the first step is the first argument"),
        ((*FILL, *TOTAL, "-d", "0"),
         "--device applies to the whole program and is given with two values"),
        ((*FILL, "--check", "x == 1", *TOTAL, "--graph"),
         "--graph: with --graph, buffers are read after the last step only"),
        (("-k", "fill", "x=f32[9]", "n=m", "v=1"), "unknown name 'm'"),
    ],
)  # fmt: skip
def test_refusals(run: Run, words: tuple[str, ...], message: str) -> None:
    ran = run(*launch(*words))
    assert ran.code == 2
    assert message in ran.err


def test_a_fault_names_its_step(run: Run) -> None:
    ran = run(*launch(*FILL, *TOTAL[:-1], "n=11", "--json"))
    error = json.loads(ran.out)["error"]
    assert (ran.code, error["step"], error["kernel"]) == (5, "2 of 2", "total")
    assert "element 10 of buffer x" in error["log"]


def test_a_fault_while_timing_names_its_step(run: Run) -> None:
    later = ("--then", "-k", "fill", "--threads", "n", "x", "n=10", "v=1")
    ran = run(*launch(*FILL, *TOTAL[:-1], "n=11", *later, "--repeat", "2", "--json"))
    error = json.loads(ran.out)["error"]
    assert (ran.code, error["step"], error["kernel"]) == (5, "2 of 3", "total")


def test_a_fault_in_a_graph_names_no_other_kernel(run: Run) -> None:
    later = ("--then", "-k", "fill", "--threads", "n", "x", "n=10", "v=1")
    ran = run(*launch(*FILL, *TOTAL[:-1], "n=11", *later, "--graph", "--json"))
    error = json.loads(ran.out)["error"]
    assert (ran.code, "kernel" in error, "step" in error) == (5, False, False)
    assert error["hint"] == "to find the step, run without --graph, --repeat and --pdl"
    assert "kernel total" in error["log"]


def test_a_fault_before_an_overlapping_step_names_no_other_kernel(run: Run) -> None:
    later = ("--then", "-k", "fill", "--threads", "n", "x", "n=10", "v=1", "--pdl")
    ran = run(*launch(*FILL, *TOTAL[:-1], "n=11", *later, "--json"))
    error = json.loads(ran.out)["error"]
    assert (ran.code, "kernel" in error, "step" in error) == (5, False, False)
    assert error["hint"] == "to find the step, run without --graph, --repeat and --pdl"
    assert "kernel total" in error["log"]


def test_variables_are_written_in_each_timed_run(run: Run) -> None:
    ran = run(*launch("--set", "calls=5", *FILL, *TOTAL, "--repeat", "3", "--check", "calls == 6"))
    assert ran.code == 0, ran.err + ran.out


def test_a_plan_of_all_steps(run: Run) -> None:
    ran = run(*launch(*FILL, *TOTAL, "--dry-run", "--json"))
    assert ran.code == 0, ran.err
    steps = json.loads(ran.out)["steps"]
    assert [(step["kernel"], step["grid"]) for step in steps] == [
        ("fill", [1, 1, 1]), ("total", [1, 1, 1]),
    ]  # fmt: skip


SPEC = """
[[launch]]
name = "program"
image = "k.cu"
device = "cpu"
matrix = {n = [10, 20]}
check = "out[0] == ${n} * (${n} - 1)"

[[launch.step]]
kernel = "fill"
threads = "n"
args = ["x=f32[n]", "n=${n}", "v=2"]
check = "x[1] == 2"

[[launch.step]]
kernel = "total"
block = 1
args = ["in=x", "out=f32[1]", "n"]
"""


SWAP = """
[[launch]]
image = "k.cu"
device = "cpu"
kernel = "add"
block = 32
times = 3
swap = {}
args = ["a=f32[32]:zeros", "b=f32[32]", "n=32"]
check = "a == 3"
"""


@pytest.mark.parametrize("swap", ['["a", "b"]', '"a,b"', '["a,b"]'])
def test_a_swap_in_a_spec(run: Run, tmp_path: Path, swap: str) -> None:
    (tmp_path / "p.toml").write_text(SWAP.format(swap))
    ran = run("launch", "--spec", "p.toml")
    assert (ran.code, "1 passed" in ran.out) == (0, True), ran.err


def test_steps_in_a_spec(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(SPEC)
    ran = run("launch", "--spec", "p.toml", "--json")
    cases = json.loads(ran.out)["cases"]
    assert [case["verdict"] for case in cases] == ["passed", "passed"], ran.out
    assert [len(case["result"]["checks"]) for case in cases] == [2, 2]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("block = 1", "blok = 1", "p.toml:17: case 'program': unknown key 'blok'"),
        ("block = 1", "seed = 1", "p.toml:17: seed is a key of the whole case, not of a step"),
        ("in=x", "in=f31[1]", "p.toml:18: case 'program': unknown type 'f31'"),
        ("check = \"x[1] == 2\"", "matrix = {}", "p.toml:13: matrix is a key of the whole case"),
    ],
)  # fmt: skip
def test_places_in_steps(run: Run, tmp_path: Path, old: str, new: str, place: str) -> None:
    (tmp_path / "p.toml").write_text(SPEC.replace(old, new))
    ran = run("launch", "--spec", "p.toml")
    assert ran.code == 2
    assert place in ran.err


def test_a_program_is_written_to_a_spec(run: Run, tmp_path: Path) -> None:
    words = launch(*FILL, *TOTAL, "--check", "out[0] == 90")
    assert run(*words, "--write-spec", "w.toml").code == 0
    text = (tmp_path / "w.toml").read_text()
    assert text.count("[[launch.step]]") == 2
    ran = run("launch", "--spec", "w.toml")
    assert (ran.code, "1 passed" in ran.out) == (0, True), ran.err
