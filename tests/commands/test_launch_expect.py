"""``--expect``: buffers compared with files and with the results of Python functions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cudarun.base.errors import RequestError
from cudarun.commands.python_functions import check_function
from tests.commands.limits import at_a_limit
from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Ran, Run

SAXPY = (
    *("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "5"),
    *("a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:5", "-q"),
)
FUNCTIONS = """
import os
import time

import numpy as np


def saxpy(a, x, y):
    assert (type(a), x.dtype, y.tolist()) == (np.float32, np.float32, [1] * 5)
    x[:] = a * x + y  # a copy
    return x


def both(a, x, y, **others):
    print("called with", *others)
    return {"x": x, "y": a * x + y}


def with_default(y, scale=3):
    return y * scale


def of_nothing(z):
    return z


def early(out):
    return out


def broken(x):
    raise ValueError("no such thing")


def objects(x):
    return [None] * 5


def slow(x):
    time.sleep(600)


def dies(x):
    os._exit(7)


def two(x):
    return x[:2]
"""
PASSED = "  (rtol 1e-05, atol 1e-06)\n"


@pytest.fixture(autouse=True)
def functions(tmp_path: Path) -> Path:
    path = tmp_path / "ref.py"
    path.write_text(FUNCTIONS)
    return path


def test_a_file(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", 2.0 * np.arange(5) + 1)
    ran = run(*SAXPY, "--expect", "y=@y.npy")
    assert (ran.code, ran.out, ran.err) == (0, f"PASS y == @y.npy{PASSED}", "")
    ran = run(*SAXPY, "--expect", "x=@y.npy", "--atol", "2")
    assert ran.code == 1
    assert ran.out.splitlines()[:3] == [
        "FAIL x == @y.npy  (rtol 1e-05, atol 2)",
        "  3 of 5 elements mismatched, the last 3; largest absolute error 5; "
        "largest relative error 1",
        "  [2]: got 2.0, expected 5.0",
    ]


def test_a_function(run: Run) -> None:
    ran = run(*SAXPY, "--expect", "y=ref.py:saxpy")
    assert (ran.code, ran.out, ran.err) == (0, f"PASS y == ref.py:saxpy{PASSED}", "")


def test_a_function_of_two_buffers_is_called_once(run: Run) -> None:
    ran = run(*SAXPY, "--expect", "y=ref.py:both", "--expect", "x=ref.py:both", "--check", "n == 5")
    assert ran.code == 0
    assert ran.out == (
        f"called with n\nPASS n == 5\nPASS y == ref.py:both{PASSED}PASS x == ref.py:both{PASSED}"
    )


def test_a_function_that_differs(run: Run) -> None:
    ran = run(*SAXPY, "--expect", "y=ref.py:with_default", "--json")
    [check] = ran.document["outcomes"][0]["result"]["checks"]
    assert (ran.code, check["passed"], check["mismatches"]) == (1, False, 4)
    assert check["expression"] == "y == ref.py:with_default"
    assert check["first"][0] == {"index": [0], "got": "1.0", "expected": "3.0", "operator": "=="}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("of_nothing", "TypeError: no argument is named 'z'; the names are a, n, x, y\n"),
        ("broken", "ValueError: no such thing\n"),
        ("objects", "TypeError: y: the function returned Python objects\n"),
        ("np.missing", "AttributeError: module 'numpy' has no attribute 'missing'\n"),
        ("dies", f"{sys.executable} ended with status 7 and no result\n"),
    ],
)
def test_a_function_without_a_result(run: Run, function: str, message: str) -> None:
    ran = run(*SAXPY, "--expect", f"y=ref.py:{function}", "--check", "y[0] == 1")
    assert ran.code == 2
    assert ran.err.startswith(f"error: --expect: ref.py:{function}: {message}")
    assert ran.out.splitlines()[-1] == f"not evaluated y == ref.py:{function}"
    assert "PASS y[0] == 1" in ran.out
    assert ('ref.py", line' in ran.err) == (function == "broken")


def test_a_misspelled_function_is_refused_before_the_launch(run: Run) -> None:
    ran = run(*SAXPY, "--expect", "y=ref.py:sapxy")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "error: --expect: ref.py does not define 'sapxy'\nhint: did you mean saxpy?\n"
    )


@pytest.mark.parametrize(
    ("text", "is_certain"),
    [
        ("def g(): pass", True),
        ("def f(): pass", False),
        ("if True:\n  f = len", False),
        ("from numpy import add as f", False),
        ("import f.g", False),
        ("from os import *", False),
        ("def g():\n  global f", False),
        ("globals()['f'] = len", False),
        ("import sys\nsys.modules[__name__].g = len", False),
        ("def __getattr__(name): return len", False),
        ("for f in (len,): pass", False),
        ("with open('x') as f: pass", False),
        ("print 'f'", False),
        ("x = '\\d'", True),
        ("match [len]:\n  case [*f]: pass", False),
    ],
)
def test_only_certain_misspellings_are_refused(tmp_path: Path, text: str, is_certain: bool) -> None:
    path = tmp_path / "ref.py"
    path.write_text(text)
    try:
        check_function(str(path), "f.member")
        assert not is_certain
    except RequestError:
        assert is_certain


def test_another_shape(run: Run) -> None:
    ran = run(*SAXPY, "--expect", "y=ref.py:two")
    assert ran.code == 2
    assert "y: the expected array has shape (2,); the buffer has (5,)\n" in ran.err


def test_a_value_that_there_is_not_yet(run: Run) -> None:
    args = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "5", "a=2", "x=f32[n]:iota")
    ran = run(*args, "out=f32[n]", "n=i32:5", "--expect", "out=ref.py:early")
    assert ran.code == 2
    assert "TypeError: 'out' has no value before the launch\n" in ran.err


def test_the_time_limit_is_the_function_s(run: Run) -> None:
    ran = run(*SAXPY, "--expect", "y=ref.py:slow", "--expect-timeout", "0.5", "--json")
    error = ran.document["outcomes"][0]["error"]
    assert (ran.code, error["kind"], error["exit_code"]) == (2, "ExpectationFailed", 2)
    assert error["message"] == (
        "--expect: ref.py:slow: the function timed out after 0.5 s (--expect-timeout 0.5)"
    )


def test_a_slow_function_is_not_the_kernel_s_fault(run: Run, tmp_path: Path) -> None:
    """The call takes longer than the limit of the launch, however slow the machine is."""

    def attempt(limit: float) -> Ran:
        text = FUNCTIONS.replace("time.sleep(600)", f"time.sleep({limit} + 0.5)\n    return x")
        (tmp_path / "ref.py").write_text(text)
        return run(*SAXPY, "--expect", "x=ref.py:slow", "--timeout", str(limit))

    ran, _ = at_a_limit(attempt, lambda ran: ran.code != 6)
    assert (ran.code, ran.out) == (0, f"PASS x == ref.py:slow{PASSED}")


def test_an_endless_kernel_after_a_function_has_its_own_limit(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(
        f"""[[launch]]
image = "samples/saxpy.ptx"
threads = 5
args = {[*SAXPY[6:10]]}
expect = "y=ref.py:saxpy"

[[launch]]
image = "samples/endless.ptx"
threads = 1
args = ["flag=i32[1]:zeros"]
timeout = 1
"""
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--allow-python", "--json")
    assert [case["exit_code"] for case in ran.document["cases"]] == [0, 6]


CASES = """
[defaults]
image = "samples/saxpy.ptx"
threads = 5
args = ["a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:5"]
expect = "y=ref.py:counted"
"""
COUNTED = """
import os

print("imported", flush=True)
calls = 0


def counted(a, x, y):
    global calls
    calls += 1
    print("call", calls, flush=True)
    if calls == 2:
        os._exit(3)
    if os.fork() == 0:
        return x  # of a child, which is no answer
    os.wait()
    return a * x + y
"""


def test_a_process_lives_through_cases(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ref.py").write_text(COUNTED)
    (tmp_path / "cases.toml").write_text(CASES + "[[launch]]\n" * 4)
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--allow-python", "--json")
    cases = ran.document["cases"]
    assert [case["output"] for case in cases] == ["imported\ncall 1\n", "call 2\n"] * 2
    assert [case["exit_code"] for case in cases] == [0, 2, 0, 2]
    assert "ended with status 3 and no result" in cases[1]["error"]["message"]


def test_a_confined_spec_calls_functions_where_the_user_allows_it(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "saxpy.ptx").write_bytes((tmp_path / "samples/saxpy.ptx").read_bytes())
    (folder / "ref.py").write_text(FUNCTIONS)
    text = CASES.replace("samples/", "").replace("counted", "saxpy") + "[[launch]]\n"
    (folder / "cases.toml").write_text(text)
    words = ("launch", "--spec", "in/cases.toml", "-d", "cpu", "--confine", "in")
    assert run(*words).code == 2
    assert run(*words, "--allow-python").code == 0
    (folder / "cases.toml").write_text(text.replace("ref.py", "../ref.py"))
    ran = run(*words, "--allow-python")
    assert (ran.code, "is outside in" in ran.err) == (2, True)


@needs_nvrtc
def test_small_floats_and_structs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "more.py").write_text(
        "def same(x, n):\n    assert x.dtype.name == 'bfloat16'\n    return 3 * x\n"
        "def member(x):\n    assert x.dtype.names == ('f0', 'f1')\n    return x\n"
    )
    (tmp_path / "k.cu").write_text(
        "#include <cuda_bf16.h>\n"
        'extern "C" __global__ void twice(__nv_bfloat16* x, int n) { x[threadIdx.x] *= n; }\n'
        "struct P { int a; float b; };\n"
        'extern "C" __global__ void bump(P* x) { x[threadIdx.x].a++; }\n'
    )
    launch = ("launch", "k.cu", "-d", "cpu", "--block", "4", "-q")
    ran = run(*launch, "-k", "twice", "x=bf16[4]:iota", "n=3", "--expect", "x=more.py:same")
    assert (ran.code, ran.err) == (0, "")
    ran = run(*launch, "-k", "bump", "x={i32,f32}[4]:zeros", "--expect", "x=more.py:member")
    assert ran.code == 1
    assert [line[:4] for line in ran.out.splitlines() if "more.py" in line] == ["FAIL", "PASS"]


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("y=y.npy", "'y=y.npy' is not NAME=@FILE.npy or NAME=FILE.py:FUNCTION\nhint: did you mean"),
        ("y", "'y' is not NAME=@FILE.npy or NAME=FILE.py:FUNCTION\n"),
        ("y=@none.npy", "none.npy: no such file\n"),
        ("y=none.py:f", "none.py: no such file\n"),
        ("q=ref.py:saxpy", "unknown buffer 'q'\n"),
    ],
)
def test_refused(run: Run, expect: str, message: str) -> None:
    ran = run(*SAXPY, "--expect", expect)
    assert ran.code == 2
    assert ran.err.startswith(f"error: --expect: {message}")


def test_another_python(run: Run, tmp_path: Path) -> None:
    ran = run(*SAXPY, "--expect", "y=ref.py:saxpy", "--python", "/none")
    assert ran.code == 2
    assert ran.err.startswith("error: --expect: --python: /none: No such file or directory\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho called >&2\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    ran = run(*SAXPY, "--expect", "y=ref.py:saxpy", "--python", str(python))
    assert (ran.code, ran.err) == (0, "called\n")


def test_in_a_spec_functions_need_permission(run: Run, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    np.save(tmp_path / "y.npy", 2.0 * np.arange(5) + 1)
    both = ("--expect", "y=ref.py:saxpy", "--expect", "y=@y.npy")
    assert run(*SAXPY, *both, "--write-spec", "specs/one.toml").code == 0
    text = (tmp_path / "specs/one.toml").read_text()
    assert 'expect = ["y=../ref.py:saxpy", "y=@../y.npy"]' in text
    ran = run("launch", "--spec", "specs/one.toml", "-d", "cpu")
    assert ran.code == 2
    assert "../ref.py:saxpy requires running Python code\n" in ran.err
    assert "hint: allow the functions of a spec with --allow-python\n" in ran.err
    ran = run("launch", "--spec", "specs/one.toml", "-d", "cpu", "--list", "-q")
    assert (ran.code, ran.out) == (0, "saxpy\n")  # a list runs nothing
    ran = run("launch", "--spec", "specs/one.toml", "-d", "cpu", "--allow-python")
    assert ran.code == 0, ran.out
    assert run(*SAXPY, "--allow-python").err.startswith("error: --allow-python requires --spec\n")
