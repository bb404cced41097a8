"""``cudarun.launch``: arrays in and out, and an exception for each exit code."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cudarun
from cudarun.arguments.dtypes import Array
from tests.support.processes import PATIENCE, PYTHON_PATH, ROOT

SAMPLES = ROOT / "samples"
SAXPY = SAMPLES / "saxpy.cu"


def saxpy(**changes: Any) -> cudarun.LaunchOutputs:
    """Launch saxpy on eight elements."""
    x = np.arange(8, dtype=np.float32)
    args = {"a": 2, "x": x, "y": np.ones(8, np.float32), "n": 8} | changes.pop("args", {})
    options: dict[str, Any] = {"device": "cpu", "threads": "n"} | changes
    return cudarun.launch(SAXPY, args=args, **options)


def test_arrays_go_in_and_come_out() -> None:
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    outputs = saxpy(args={"x": x, "y": y})
    assert list(outputs) == ["x", "y"]
    np.testing.assert_array_equal(outputs["y"], 2 * x + 1)
    np.testing.assert_array_equal(y, 1)  # the program's own array
    outputs["y"][0] = 5  # which can be written
    assert outputs.milliseconds is not None
    assert outputs.milliseconds > 0
    assert outputs.report.startswith("saxpy  grid 1 × block 8 = 8 threads  on cpu")
    assert outputs.document["schema"] == "cudarun/launch/1"
    assert [each["label"] for each in outputs.document["machine"]["devices"]] == ["cpu"]
    assert outputs.document["outcomes"][0]["result"]["parameters"][1]["value"] == "f32[8]:@array"


def test_arguments_in_order_and_texts() -> None:
    x = np.arange(4, dtype=np.float32)
    outputs = cudarun.launch(
        SAMPLES / "saxpy.ptx", "saxpy", device="cpu", grid=(1, 1), block=[4],
        args=[np.float32(0.5), x, "f32[4]:ones", np.int32(4)],
    )  # fmt: skip
    [_, y] = outputs.values()
    np.testing.assert_array_equal(y, 0.5 * x + 1)


TYPES = b"""
#include <cuda_bf16.h>
struct P { int a; float b; };
extern "C" __global__ void types(P p, __nv_bfloat16* x, float2* c, P* q, short* m,
                                 unsigned char flag, double d, int* nothing) {
    int i = threadIdx.x;
    x[i] = x[i] * (__nv_bfloat16)2.f;
    c[i].x += p.a;
    c[i].y += p.b;
    q[i].a += flag;
    q[i].b += (float)d;
    m[i] = -m[i];
    if (nothing) *nothing = 1;
}
"""
P = np.dtype([("a", "i4"), ("b", "f4")])

ARRAYS_IN_A_STRUCT = b"""
#include <cuda_bf16.h>
struct S { int a[2][2]; float2 b; __nv_bfloat16 c[3]; const float *d; };
extern "C" __global__ void sums(S s, float *y) {
    y[0] = s.a[0][0] + 10 * s.a[0][1] + 100 * s.a[1][0] + 1000 * s.a[1][1];
    y[1] = s.b.x + 10 * s.b.y;
    y[2] = (float)s.c[0] + 10 * (float)s.c[1] + 100 * (float)s.c[2];
    y[3] = s.d[2];
}
"""


def test_arrays_that_are_members_of_a_struct() -> None:
    bfloat16 = ml_dtypes.bfloat16
    arrays = {"a": np.arange(4, dtype="i4").reshape(2, 2), "b": np.array([5, 6], "f4")}
    members = {**arrays, "c": np.array([7, 8, 9], bfloat16), "d": np.arange(3, dtype="f4")}
    given = {"s": members, "y": "f32[4]"}
    outputs = cudarun.launch(ARRAYS_IN_A_STRUCT, device="cpu", threads=1, args=given)
    assert outputs["y"].tolist() == [3210, 65, 987, 2]
    given = {"s": {**members, "a": np.zeros((2, 2))}, "y": "f32[4]"}
    with pytest.raises(cudarun.InvalidRequest, match=r"contains float64; the buffer is i32\[4\]"):
        cudarun.launch(ARRAYS_IN_A_STRUCT, device="cpu", threads=1, args=given)


def test_types_of_arrays_and_numbers() -> None:
    given = {
        "p": np.array((3, 0.5), P),
        "x": np.arange(4).astype(ml_dtypes.bfloat16),
        "c": np.arange(4).astype(np.complex64),
        "q": np.zeros(4, P),
        "m": np.arange(4, dtype=">i2").reshape(2, 2).T,
        "flag": True,
        "d": -1.5,
        "nothing": None,
    }
    halves = np.array([0, 2, 4, 6], ml_dtypes.bfloat16)
    outputs = cudarun.launch(TYPES, device="cpu", threads=4, args=given, expect={"x": halves})
    assert "PASS x" in outputs.report
    assert [(name, array.dtype, array.shape) for name, array in outputs.items()] == [
        ("x", ml_dtypes.bfloat16, (4,)),
        ("c", np.complex64, (4,)),
        ("q", P, (4,)),
        ("m", np.int16, (2, 2)),
    ]
    assert outputs["x"].tolist() == [0, 2, 4, 6]
    assert outputs["c"].tolist() == [3 + 0.5j, 4 + 0.5j, 5 + 0.5j, 6 + 0.5j]
    assert outputs["q"].tolist() == [(1, -1.5)] * 4
    assert outputs["m"].tolist() == [[0, -2], [-1, -3]]


@pytest.mark.parametrize("value", [object(), [1, 2], np.array([None]), np.array("text"), 1j])
def test_value_that_is_no_argument(value: object) -> None:
    with pytest.raises(TypeError, match=r"^x: "):
        saxpy(args={"x": value})


@pytest.mark.parametrize("args", ["a=2", b"a", np.zeros(3)])
def test_arguments_that_are_no_list(args: Any) -> None:
    with pytest.raises(TypeError, match="args is a mapping"):
        cudarun.launch(SAXPY, args=args)


def test_object_with_an_array() -> None:
    class Tensor:
        def __array__(self, dtype: object = None, copy: object = None) -> Array:
            return np.full(8, 3, np.float32)

    assert saxpy(args={"x": Tensor()})["y"].tolist() == [7] * 8


def test_expected_array() -> None:
    x = np.arange(8, dtype=np.float32)
    saxpy(expect={"y": 2 * x + 1})
    with pytest.raises(cudarun.WrongResult, match=r"FAIL y == @array") as caught:
        saxpy(expect={"y": x})
    assert caught.value.outputs is not None
    assert caught.value.outputs["y"].tolist() == (2 * x + 1).tolist()


def test_options_of_every_form() -> None:
    outputs = cudarun.launch(
        b'extern "C" __constant__ float c[2];\n'
        b'extern "C" __global__ void f(float* y) { y[threadIdx.x] = c[1] * K; }',
        device="cpu", block=(2,), args={"y": "f32[2]"}, define=["K=3", "L=1"],
        set={"c": np.array([1, 2], np.float32)}, let={"six": "2*3"},
        check=["y == six", "y[0] == 6"], detect=["race", "uninit"], seed=3, prove=False,
    )  # fmt: skip
    assert outputs["y"].tolist() == [6, 6]
    assert outputs.report.count("PASS y") == 2


def test_buffers_of_several_seeds_are_those_of_the_first() -> None:
    first, second = (saxpy(args={"x": "f32[8]:rand"}, seed=5, seeds=n)["x"] for n in (1, 2))
    np.testing.assert_array_equal(first, second)


def test_program_of_times_and_swaps() -> None:
    outputs = cudarun.launch(
        b'extern "C" __global__ void f(int* y, int* x) { y[threadIdx.x] = x[threadIdx.x] + 1; }',
        device="cpu", threads=2, args={"y": "i32[2]", "x": "i32[2]:zeros"}, times=3,
        swap=("y", "x"),
    )  # fmt: skip
    assert outputs["x"].tolist() == [3, 3]


def test_printed_text() -> None:
    outputs = cudarun.launch(SAMPLES / "hello.cu", device="cpu", threads=1, args=[2026, 1.5])
    assert outputs.printed.startswith("hello from block 0, thread 0")
    assert outputs.report.startswith("hello  grid 1")
    with pytest.raises(cudarun.WrongResult, match=r"\Ahello  grid 1") as caught:
        cudarun.launch(
            SAMPLES / "hello.cu", device="cpu", threads=1, args=[2026, 1.5], check="year == 2"
        )
    assert caught.value.printed == outputs.printed


def test_timing_and_dry_run() -> None:
    outputs = saxpy(repeat=3, warmup=0)
    assert outputs.timing is not None
    assert len(outputs.timing["samples"]) == 3
    plan = saxpy(dry_run=True)
    assert (dict(plan), plan.milliseconds, plan.timing) == ({}, None, None)
    assert plan.document["parameter_bytes"] == 28


RACE = SAMPLES / "detect" / "race.cu"

FAILURES = {
    "check": (cudarun.WrongResult, {"check": "y == x"}, "FAIL y == x"),
    "argument": (cudarun.InvalidRequest, {"args": {"x": np.zeros(8)}}, "x is const float* in the"),
    "syntax": (cudarun.InvalidRequest, {"args": {"x": "f32["}}, "x=f32["),
    "true": (cudarun.InvalidRequest, {"check": True}, "'True' compares nothing"),
    "nested": (cudarun.InvalidRequest, {"check": [["y == 1"]]}, "check: expected a list of texts"),
    "geometry": (cudarun.InvalidRequest, {"block": (1, 2, 3, 4)}, "4 dimensions"),
    "several devices": (cudarun.InvalidRequest, {"device": "cpu,cpu:1"}, "one device at a time"),
    "no device": (cudarun.DeviceNotFound, {"device": "cpu:7"}, "cpu:7"),
    "compiler": (cudarun.InvalidImage, {"define": "float=nothing"}, "saxpy.cu:"),
    "fault": (cudarun.ExecutionFailed, {"args": {"n": 9}, "threads": 9}, "element 8 of buffer x"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_and_the_next_launch(name: str) -> None:
    kind, changes, text = FAILURES[name]
    with pytest.raises(kind) as caught:
        saxpy(**changes)
    error = caught.value
    assert type(error) is kind
    assert text in str(error)
    assert error.document["exit_code"] == error.exit_code == kind.exit_code
    assert (error.outputs is not None) == (kind is cudarun.WrongResult)
    assert saxpy(check="y == a*x + 1")["y"][0] == 1


def test_race_is_a_failure() -> None:
    x = np.arange(256, dtype=np.int32)
    with pytest.raises(cudarun.WrongResult, match=r"race\.cu:\d+") as caught:
        cudarun.launch(
            RACE, "reverse_racy", device="cpu", block=256, args={"x": x, "y": np.zeros_like(x)},
            detect="race",
        )  # fmt: skip
    again = pickle.loads(pickle.dumps(caught.value))  # as xdist and multiprocessing do
    assert (str(again), again.document) == (str(caught.value), caught.value.document)
    assert again.outputs["y"].shape == (256,)


def test_kernel_that_never_ends() -> None:
    with pytest.raises(cudarun.TimedOut, match=r"timed out after 0\.5 s "):
        cudarun.launch(
            SAMPLES / "endless.ptx", device="cpu", threads=1, args=[np.zeros(1, np.int32)],
            timeout=0.5,
        )  # fmt: skip


def test_image_that_does_not_exist() -> None:
    with pytest.raises(cudarun.InvalidRequest, match=r"nothing\.cu: No such file") as caught:
        cudarun.launch("nothing.cu", device="cpu", threads=1)
    assert caught.value.document["error"]["kind"] == "RequestError"
    with pytest.raises(cudarun.InvalidRequest, match=r"\./-: No such file"):
        cudarun.launch("-", device="cpu", threads=1)  # not stdin


def test_directory_and_environment_are_those_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "k.cu").write_bytes(SAXPY.read_bytes())
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDARUN_DEVICE", "cpu")
    outputs = cudarun.launch("k.cu", threads="n", args=[2, "@x.npy", "f32[n]:zeros", 2])
    assert outputs["y"].tolist() == [2, 2]
    assert "on cpu" in outputs.report
    monkeypatch.chdir(ROOT)
    again = cudarun.launch(
        "k.cu", threads=1, args=[2, "@x.npy", "f32[2]:zeros", 2], directory=tmp_path
    )
    assert again["y"].tolist() == [2, 0]
    with pytest.raises(cudarun.InvalidRequest, match=r"working directory: No such file .*nowhere"):
        cudarun.load("k.cu", directory="nowhere")


def test_unknown_keyword() -> None:
    with pytest.raises(TypeError, match=r"launch\(\) got .* 'treads'; did you mean 'threads'\?"):
        saxpy(treads=3)


def test_load() -> None:
    loaded = cudarun.load(SAXPY, b"__global__ void f(int* p) {}", device="cpu")
    assert loaded.kernels == ("saxpy", "f(int*)")
    assert "f(int*)" in loaded.report
    with pytest.raises(cudarun.InvalidImage, match="undefined"):
        cudarun.load(b"__global__ void f() { g(); }", device="cpu")


def test_public_names() -> None:
    assert [name for name in cudarun.__all__ if not hasattr(cudarun, name)] == []
    assert dir(cudarun) == sorted(cudarun.__all__)
    with pytest.raises(AttributeError, match="no attribute 'lunch'"):
        _ = cudarun.lunch  # type: ignore[attr-defined]
    kinds = cudarun.Failure.__subclasses__()
    assert {kind.exit_code: kind.__name__ in cudarun.__all__ for kind in kinds} == dict.fromkeys(
        range(1, 8), True
    )


def test_nothing_is_imported_before_use() -> None:
    program = "import cudarun, sys; print(*(n for n in sys.modules if n.startswith('cudarun.')))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": PYTHON_PATH},
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.split() == []


def test_complex_numbers_in_a_sequence_of_arguments() -> None:
    """Outputs have the dtypes and shapes of the arrays, whether these are named or in order."""
    source = "__global__ void k(float2 *x, int n, float2 *y)\n{ y[threadIdx.x] = x[threadIdx.x]; }"
    x = np.array([[1 + 2j, 3j]], np.complex64)
    y = np.zeros_like(x)
    for args in ([x, 2, y], {"x": x, "n": 2, "y": y}):
        outputs = cudarun.launch(source, device="cpu", threads=2, args=args)
        np.testing.assert_array_equal(outputs["y"], x, strict=True)


def test_masked_array() -> None:
    masked = np.ma.masked_array([1, 2], [0, 1], dtype=np.int32)
    with pytest.raises(TypeError, match=r"^x: a kernel has no masked elements; pass x\.filled"):
        saxpy(args={"x": masked})
    fine = np.ma.masked_array(np.ones(4, np.float32))
    assert (
        saxpy(args={"a": 2, "x": fine, "y": np.ones(4, np.float32), "n": 4})["y"].tolist()
        == [3] * 4
    )


def test_printed_text_is_in_repr_and_report() -> None:
    source = b'__global__ void k(int *x) { printf("x is %d\\n", *x); x[*x] = 1; }'
    outputs = cudarun.launch(source, device="cpu", threads=1, args=[np.zeros(1, np.int32)])
    assert repr(outputs) == "<LaunchOutputs x, printed 'x is 0\\n'>"
    with pytest.raises(cudarun.ExecutionFailed, match="printed:\nx is 64\n") as caught:
        cudarun.launch(source, device="cpu", threads=1, args=[np.full(1, 64, np.int32)])
    assert repr(caught.value).startswith("ExecutionFailed('error: ")
    assert "x is 64" in repr(pickle.loads(pickle.dumps(caught.value)))


def test_shared_memory_has_two_names() -> None:
    source = b"__global__ void k(int *x) { extern __shared__ int s[]; s[1] = 5; *x = s[1]; }"
    for name in ("shared", "smem"):
        options: Any = {name: 8}
        assert (
            cudarun.launch(source, device="cpu", threads=1, args=["x=i32[1]"], **options)["x"] == 5
        )
        cudarun.load(source, device="cpu", block=32, **options)
    with pytest.raises(TypeError, match="'shared' and 'smem', which are the same"):
        cudarun.launch(source, device="cpu", threads=1, smem=8, shared=8)


def test_hints_are_in_the_words_of_python() -> None:
    with pytest.raises(cudarun.InvalidRequest) as caught:
        saxpy(args={"a": 2, "x": np.ones(4), "y": "f32[4]", "n": 4})
    hint = "pass x.astype(np.float32)\nor pass the data unchanged with allow_type_mismatch=True"
    assert caught.value.document["error"]["hint"] == hint
    assert str(caught.value).endswith(f"hint: {hint}")
