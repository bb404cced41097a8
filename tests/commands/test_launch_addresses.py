"""Memory that is not a parameter in ``cudarun launch``: ``--buffer``, and pointers in arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import Run

SOURCE = """
struct Batch { const float* x; float* y; int n; };
__device__ float table[4];
__device__ int a_variable;
extern "C" __global__ void sum(const float* const* in, int count, float* out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int k = 0; k < count; k++) s += in[k][i];
    out[i] = s;
}
extern "C" __global__ void scale(const Batch* batches, int count) {
    const Batch& one = batches[blockIdx.x];
    for (int i = threadIdx.x; i < one.n; i += blockDim.x) one.y[i] = 2 * one.x[i];
}
extern "C" __global__ void one(Batch b) {
    for (int i = threadIdx.x; i < b.n; i += blockDim.x) b.y[i] = 2 * b.x[i];
}
extern "C" __global__ void span(const float* first, const float* last, float* out) {
    float s = 0;
    while (first != last) s += *first++;
    *out = s;
}
"""
SUM = ("-k", "sum", "--threads", "8", "count=2", "out=f32[n]", "n=8")
SPAN = ("-k", "span", "--threads", "1", "out=f32[1]")


@pytest.fixture(autouse=True)
def image(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)


def launch(*words: str) -> tuple[str, ...]:
    return ("launch", "k.cu", "-d", "cpu", *words)


def test_a_table_of_pointers(run: Run) -> None:
    ran = run(
        *launch(*SUM, "--buffer", "a=f32[n]:iota", "--buffer", "b=f32[2*n]:ones"),
        *("in=ptr[2]:[&a, &b[n]]", "--check", "out == a + 1", "--print", "b[:2]"),
    )
    assert ran.code == 0, ran.err
    assert "b[:2] = [1. 1.]" in ran.out


def test_buffers_within_a_table(run: Run) -> None:
    ran = run(*launch(*SUM, "in=ptr[2]:[f32[n]:iota, f32[n]:2]", "--check", "out == in.0 + in.1"))
    assert ran.code == 0, ran.err


def test_structs_of_pointers_in_a_buffer(run: Run) -> None:
    ran = run(
        *launch("-k", "scale", "--grid", "2", "--block", "32", "--buffer", "a=f32[64]:iota"),
        "batches={x=ptr,y=ptr,n=i32}[2]:[{&a, f32[10], 10}, {&a[32], f32[20], 20}]",
        *("count=2", "--check", "batches.0.y == 2*a[:10]", "--check", "batches.1.y == 2*a[32:52]"),
        *("--check", 'batches["n"] == [10, 20]'),
    )
    assert ran.code == 0, ran.err


def test_a_struct_by_value_with_an_address(run: Run) -> None:
    ran = run(
        *launch("-k", "one", "--threads", "8", "--buffer", "a=f32[16]:iota"),
        *("b={x=&a[8], y=f32[8], n=i32:8}", "--check", "b.y == 2*a[8:]"),
    )
    assert ran.code == 0, ran.err


def test_addresses_of_arguments_and_variables(run: Run) -> None:
    ran = run(*launch(*SPAN, "first=f32[16]:ones", "last=&first[12]", "--check", "out == 12"))
    assert ran.code == 0, ran.err
    table = ("--set", "table=f32[4]:[1,2,3,4]")
    ran = run(*launch(*SPAN, *table, "first=&table[1]", "last=&table[4]", "--check", "out == 9"))
    assert ran.code == 0, ran.err


def test_a_fault_names_the_buffer_behind_an_address(run: Run) -> None:
    ran = run(*launch(*SUM, "--buffer", "short=f32[4]:ones", "in=ptr[2]:[&short, &short]"))
    assert ran.code == 5
    assert "that is element 4 of buffer short, f32[4]" in ran.err


def test_the_plan_lists_buffers(run: Run) -> None:
    words = (*SUM, "--buffer", "a=f32[n]:iota", "in=ptr[2]:[&a, null]", "--dry-run")
    ran = run(*launch(*words))
    assert ran.out.splitlines()[-2:] == [
        "memory  space   size  type    value",
        "a       global  32    f32[8]  iota",
    ]
    [row] = run(*launch(*words, "--json")).document["memory"]
    assert (row["name"], row["symbol"], row["nbytes"]) == ("a", None, 32)


def test_paths_in_lists_are_found_from_a_spec(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(8, np.float32))
    (tmp_path / "deep").mkdir()
    words = (*SUM, "in=ptr[2]:[@x.npy, &b]", "--buffer", "b=@x.npy", "--check", "out == 2")
    ran = run(*launch(*words, "--write-spec", "deep/kept.toml"))
    assert ran.code == 0, ran.err
    text = (tmp_path / "deep" / "kept.toml").read_text()
    assert 'buffer = ["b=@../x.npy"]' in text
    assert '"in=ptr[2]:[@../x.npy, &b]"' in text
    assert run("launch", "--spec", "deep/kept.toml", "-d", "cpu").code == 0


def test_random_buffers_in_a_table_have_a_seed(run: Run) -> None:
    table = "in=ptr[2]:[f32[n]:rand, f32[n]:zeros]"
    ran = run(*launch(*SUM, table, "--check", "out == in.0", "--seed", "5", "--json"))
    assert (ran.code, ran.document["seed"]) == (0, 5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*SPAN, "first=f32[4]:ones", "last=&first[5]"), "&first[5] is out of bounds: first has 4"),
        ((*SPAN, "first=f32[4]:ones", "last=&first[-1]"), "&first[-1] is out of bounds"),
        ((*SPAN, "first=f32[4]:ones", "last=&firs"), "&firs: no buffer or variable has this name"),
        ((*SPAN, "first=&table[1]", "last=&table[2]"), "does not contain the type of table"),
        (
            (*SPAN, "--buffer", "table=f32[4]:ones", "first=&table", "last=&table[1]"),
            "'table' is both a buffer and a variable of the image",
        ),
        ((*SUM, "in=ptr[2]:rand"), "a buffer of addresses requires a list"),
        ((*SUM, "in=ptr[2]:[&a, 5]"), "expected an address, found 5"),
        ((*SUM, "in=ptr[2]:[f32:1, null]"), "expected an address, found f32:1"),
        ((*SUM, "in=ptr*4"), "an array of addresses is not passed by value"),
        ((*SUM, "in=ptr[2]:zeros", "--buffer", "f32[4]"), "--buffer: expected NAME=VALUE"),
        ((*SUM, "in=ptr[2]:zeros", "--buffer", "a=f32:4"), "--buffer: f32:4"),
        ((*SUM, "in=ptr[2]:zeros", "--buffer", "out=f32[4]"), "the name 'out' is already in use"),
        (
            (*SUM, "in=ptr[2]:zeros", "--buffer", "t=f32[4]", "--buffer", "t=f32[8]"),
            "the name 't' is already in use",
        ),
    ],
)
def test_refusals(run: Run, words: list[str], message: str) -> None:
    ran = run(*launch(*words))
    assert ran.code == 2, ran.out + ran.err
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]
