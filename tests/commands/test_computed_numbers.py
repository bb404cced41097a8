"""Numbers that follow from others, the units of sizes and times, and the names of variables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cudarun
from cudarun.arguments.dimensions import evaluate_size, parse_size
from cudarun.base.errors import RequestError

if TYPE_CHECKING:
    from conftest import Run

SOURCE = """
namespace stats {
    __device__ int calls;
    __device__ float bias[2];
    template <class T> __device__ T scale = T(1);
}
namespace other { __device__ int count = 7; }
__device__ int count;
namespace { __device__ int hidden; }
template <class T, int N> __global__ void shift(T* y, int n, int blocks, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = stats::scale<T> * blocks + step + N + stats::bias[i % 2];
    if (i == 0) { stats::calls++; atomicAdd(&other::count, atomicAdd(&count, 1)); hidden = 3; }
}
template __global__ void shift<float, 2>(float*, int, int, float);
template __global__ void shift<double, 2>(double*, int, int, float);
"""
WORDS = ("launch", "k.cu", "-d", "cpu", "-k", "shift<float,2>", "--threads", "n")
ARGUMENTS = ("y=f32[n]", "blocks=(n+255)//256", "n=300")


@pytest.fixture(autouse=True)
def source(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("blocks=(n+255)//256", "n=300", "step=1/sqrt(blocks+2)"), "y == 2 + 0.5 + 2"),
        (("blocks=n", "step=blocks/4", "n=i32:2*4"), "y == 8 + 2 + 2"),
        (("300", "blocks=ceil(n/256)", "step=pi"), "y == 2 + pi + 2"),
        (("n=2**5", "blocks=n>>2", "step=f32:n%5"), "y == 8 + 2 + 2"),
    ],
)
def test_a_number_is_an_expression(run: Run, given: tuple[str, ...], expected: str) -> None:
    ran = run(*WORDS, "y=f32[n]", *given, "--check", expected)
    assert (ran.code, ran.err) == (0, ""), ran.err


def test_expressions_in_python_and_specs(run: Run, tmp_path: Path) -> None:
    arguments = {"n": 300, "y": "f32[n]", "blocks": "(n+255)//256", "step": "n/600"}
    found = cudarun.launch(
        tmp_path / "k.cu", kernel="shift<float,2>", device="cpu", threads=300, args=arguments
    )
    assert set(found["y"]) == {4.5}
    case = 'image = "k.cu"\nkernel = "shift<float,2>"\nthreads = "n"\nmatrix = {n = [3, 300]}\n'
    for text, code in (("n=${n}", 0), ("n=$n", 2), ("n={n}", 2)):
        words = f'args = ["y=f32[n]", "{text}", "blocks=n+1", "step=0"]\ncheck = "y == n + 3"\n'
        (tmp_path / "k.toml").write_text(f"[[launch]]\n{case}{words}")
        ran = run("launch", "--spec", "k.toml", "-d", "cpu")
        assert ran.code == code, ran.err
        assert code == 0 or "hint: write ${n}" in ran.err


@pytest.mark.parametrize("text", ["n={m}", "{blocks}"])
def test_a_name_in_braces_is_no_number(run: Run, text: str) -> None:
    ran = run(*WORDS, "y=f32[8]", text, "blocks=1", "step=0")
    name = text[text.index("{") + 1 : -1]
    assert ran.code == 2
    assert "error: n is int, not a struct\n" in ran.err
    assert f"hint: write {name}; in a spec, a value of the matrix is ${{{name}}}\n" in ran.err


# --- sizes and times -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["40K", "40KB", "40KiB", "40Ki", "40k", "8*5K", "40960B"])
def test_units_of_sizes(size: str) -> None:
    assert evaluate_size(parse_size(size), {}) == 40 << 10


@pytest.mark.parametrize("size", ["0.5K", "40Kx"])
def test_no_sizes(size: str) -> None:
    with pytest.raises(RequestError):
        parse_size(size)


def test_units_of_counts_and_options(run: Run) -> None:
    units = ("--max-image", "1MB", "--limit", "stack=2K", "--timeout", "90s", "--smem", "1K")
    check = ("--check", "y[999] == 1026")
    ran = run(*WORDS, "y=f32[1K]", "blocks=1Ki", "step=0", "n=1K", *check, *units)
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("option", ["--max-image", "--limit", "--timeout"])
def test_unknown_units_of_options(run: Run, option: str) -> None:
    wrong = {"--max-image": "1MBit", "--limit": "stack=2Kx", "--timeout": "90 d"}
    assert run(*WORDS, *ARGUMENTS, "step=0", option, wrong[option]).code == 2


# --- variables -----------------------------------------------------------------------------------


def test_variables_by_their_shortest_names(run: Run) -> None:
    ran = run(
        *WORDS, "y=f32[n]", "blocks=1", "step=0", "n=4", "--set", "bias=f32[2]:[10,20]",
        *("--set", "scale<float>=2*3", "--set", "other::count=n*2"),
        *("--check", "y == [18, 28, 18, 28]", "--check", "calls == 1"),
        *("--check", "stats::calls == 1", "--check", "other::count == 8", "--check", "hidden == 3"),
        *("--check", 'symbol("scale<float>") == 6', "--check", "y[1::2] == 28"),
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, ""), ran.err


NAMES = "count, calls, bias, scale<float>, scale<double>, other::count, hidden"


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (("--print", "cals"), ["unknown name 'cals'; known names: y, ", NAMES, "mean calls"]),
        (("--print", "stats::cals"), ["unknown name 'stats::cals'", NAMES]),
        (("--set", "cals=1"), ["k.cu does not contain this variable", "mean calls", NAMES]),
        (("--print", "scale"), ["'scale' matches 2 variables", 'symbol("scale<double>")']),
    ],
)
def test_unknown_variables(run: Run, words: tuple[str, ...], messages: list[str]) -> None:
    ran = run(*WORDS, *ARGUMENTS, "step=0", *words)
    assert ran.code == 2
    assert all(each in ran.err for each in messages), ran.err
