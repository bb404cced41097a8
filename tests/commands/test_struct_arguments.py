"""Structs by value: bound and checked member by member, with the members of the source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import cudarun

if TYPE_CHECKING:
    from conftest import Run

SOURCE = """
struct Origin { int row; float weight; };
struct alignas(32) Lane { float v[3]; };
template <class T> struct Filter : Origin {
    T gain;
    float4 bias;
    Origin taps[2];
    float kernel[2][2];
    const float* in;
    T* out;
    Lane lane;
    bool on;
};
struct Packed { unsigned low : 3; unsigned high : 5; int n; };
__global__ void apply(const __grid_constant__ Filter<float> f, int n) {
    int i = threadIdx.x;
    if (i < n)
        f.out[i] = f.gain * f.in[i] + f.bias.y + f.taps[1].weight + f.kernel[1][0] + f.lane.v[2]
            + f.row + f.on;
}
extern "C" __global__ void fields(Packed p, int* out) { out[0] = p.high + p.n; }
"""
MEMBERS = {
    "row": "1",
    "weight": "2",
    "gain": "3",
    "bias": "{4,5,6,7}",
    "taps": "{{8,9}, {row=10, weight=11}}",
    "kernel": "{{12,13},{14,15}}",
    "in": "f32[8]:iota",
    "out": "f32[n]",
    "lane": "{v={16,17,18}}",
    "on": "true",
}
CHECK = ("--check", "f.out == 3*f.in + 5 + 11 + 14 + 18 + 1 + 1")


@pytest.fixture(autouse=True)
def source(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)


def filter_argument(**changes: str | None) -> str:
    members = {name: text for name, text in (MEMBERS | changes).items() if text is not None}
    return f"f={{{', '.join(f'{name}={text}' for name, text in members.items())}}}"


def launched(run: Run, argument: str, *words: str):
    return run(
        "launch", "k.cu", "-k", "apply", "-d", "cpu", "--threads", "8", argument, "n=8", *words
    )


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_members_have_names_and_types_in_the_source(run: Run, engine: str) -> None:
    reversed_members = f"f={{{', '.join(f'{n}={t}' for n, t in reversed(MEMBERS.items()))}}}"
    for argument in (filter_argument(), reversed_members):
        ran = launched(run, argument, *CHECK, "--cpu-engine", engine)
        assert (ran.code, ran.err) == (0, ""), ran.err
    in_order = f"f={{{', '.join(MEMBERS.values())}}}"
    ran = launched(run, in_order, "--check", "f.7 == 3*f.6 + 50")
    assert (ran.code, ran.err) == (0, ""), ran.err


def test_members_by_position_have_the_types_of_the_source(run: Run) -> None:
    swapped = dict(MEMBERS) | {"row": "f32:1", "weight": "i32:2"}
    ran = launched(run, f"f={{{', '.join(swapped.values())}}}")
    assert ran.code == 2
    assert "^ it is i32, not f32" in ran.err
    assert "^ it is f32, not i32" in ran.err


def test_the_suggested_command_runs(run: Run) -> None:
    ran = launched(run, "x=1")
    assert ran.code == 2
    ran = run("launch", "k.cu", "-k", "apply", "-d", "cpu", "--threads", "8")
    assert "f={row=i32:" in ran.err
    assert "bias=float4:1,1,1,1, taps={{row=i32:" in ran.err


def test_names_that_the_image_does_not_have_are_noted(run: Run) -> None:
    words = ("launch", "k.cu", "-k", "fields", "-d", "cpu", "--threads", "1", "out=i32[1]")
    ran = run(*words, "p={low=u32:13, n=i32:6}", "--check", "out[0] == 1 + 6")
    note = "note: members of p bound by order: the image does not name them all\n"
    assert (ran.code, ran.err) == (0, note)
    ran = run(*words, "p={low=13, n=6}")
    assert ran.code == 2
    assert "the types of its members are unknown: write them (f32:1)\n" in ran.err


def test_a_struct_in_python(tmp_path: Path) -> None:
    values = np.arange(8, dtype=np.float32)
    origin = np.dtype([("row", np.int32), ("weight", np.float32)], align=True)
    members = {
        "out": "f32[8]", "in": values, "row": 1, "weight": 2.0, "gain": 3, "bias": [4, 5, 6, 7],
        "taps": [np.array((8, 9), origin)[()], {"weight": 11, "row": 10}],
        "kernel": [[12, 13], [14, 15]], "lane": {"v": [16, 17, 18]}, "on": True,
    }  # fmt: skip
    options = {"kernel": "apply", "device": "cpu", "threads": 8}
    outputs = cudarun.launch(tmp_path / "k.cu", args={"f": members, "n": 8}, **options)
    assert (outputs["f.out"] == 3 * values + 50).all()
    with pytest.raises(cudarun.InvalidRequest, match="f has no member 'gian'"):
        cudarun.launch(tmp_path / "k.cu", args={"f": members | {"gian": 1}, "n": 8}, **options)


def test_a_struct_in_a_spec(run: Run, tmp_path: Path) -> None:
    spec = """
[defaults]
image = "k.cu"
kernel = "apply"
threads = "n"
[[launch]]
matrix = {{n = [3, 8]}}
args = ["{right}", "n=${{n}}"]
check = "f.out == 3*f.in[:n] + 50"
[[launch]]
args = ["{wrong}", "n=8"]
"""
    text = spec.format(right=filter_argument(), wrong=filter_argument(on=None, off="true"))
    (tmp_path / "k.toml").write_text(text)
    ran = run("launch", "--spec", "k.toml", "-d", "cpu")
    assert ran.code == 2
    assert "2 passed, 1 failed" in ran.out
    assert "f has no member 'off'" in ran.out
