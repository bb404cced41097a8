"""CUDA source given to commands: NVRTC compiles it for the device, and says what is wrong."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.toolkit import needs_nvjitlink, needs_nvrtc, without_driver

if TYPE_CHECKING:
    from conftest import Run

pytestmark = needs_nvrtc

CPU = ("-d", "cpu")
ONE = (*CPU, "--threads", "1")


def write(tmp_path: Path, text: str, name: str = "kernel.cu") -> str:
    (tmp_path / name).write_text(text)
    return name


def test_a_launch(run: Run) -> None:
    """The parameters' names and types are the source's, so that bare values have a type."""
    ran = run(
        "launch", "samples/saxpy.cu", *CPU, "--threads", "1000", "--block", "256",
        "a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=1000", "--check", "y == a*x + 1",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "PASS y == a*x + 1" in ran.out


def test_a_kernel_that_launches_kernels(run: Run, tmp_path: Path) -> None:
    """It needs an option of the compiler, which the hint of the refusal is about."""
    text = """__global__ void child(int* y) { y[threadIdx.x] = 3; }
        extern "C" __global__ void parent(int* y) { child<<<1, 8>>>(y); }"""
    words = ("launch", write(tmp_path, text), "-k", "parent", *ONE, "y=i32[8]", "--check", "y == 3")
    ran = run(*words)
    assert ran.code == 4
    hint = "hint: kernels that launch kernels require "
    option = ran.err.partition(hint)[2].split()
    assert run(*words, *option).code == 0


@pytest.mark.parametrize(
    "text",
    [
        "template <typename T> concept Word = sizeof(T) == 4; template <Word T>",
        "template <typename T> requires (sizeof(T) == 4)",
        "struct P { int a; }; __device__ P f() { return P{.a = 1}; } template <typename T>",
    ],
)
def test_the_hint_for_cpp20(run: Run, tmp_path: Path, text: str) -> None:
    """What compiles as C++20 alone has the option for it as hint; with it, errors do not."""
    source = f"{text} __global__ void k(T* y) {{ y[threadIdx.x] = 3; }}"
    source += "template __global__ void k<int>(int*);"
    words = ("launch", write(tmp_path, source), *ONE, "y=i32[1]", "--check", "y == 3")
    words = (*words, "--compiler", "nvrtc")
    ran = run(*words, "--compile-option", "-DNAME=std")
    assert ran.code == 4
    option = ran.err.partition("hint: the source may be C++20: add ")[2].split()
    assert run(*words, *option).code == 0
    broken = write(tmp_path, source.replace("= 3", "= nothing"))
    assert "hint" not in run(words[0], broken, *words[2:], *option).err


@pytest.mark.parametrize(
    "statement",
    [
        "y[0] = nothing;",
        "y[0] = nothing;  // requires a concept",
        'printf("requires", nothing);',
        "const int one;",  # NVRTC: it "requires an initializer"
    ],
)
def test_no_hint_for_cpp20(run: Run, tmp_path: Path, statement: str) -> None:
    path = write(tmp_path, f"__global__ void k(int* y) {{\n{statement}\n}}")
    ran = run("launch", path, *ONE, "y=i32[1]", "--compiler", "nvrtc")
    assert ran.code == 4
    assert "hint" not in ran.err


SAXPY = ("launch", "samples/saxpy.cu", *CPU, "--threads", "1000", "--block", "256")


def test_f64_data_for_a_float_kernel(run: Run, tmp_path: Path) -> None:
    """Numpy's default type is refused, extern "C" or not, and the argument of the hint is right."""
    np.save(tmp_path / "x.npy", np.arange(1000.0))
    plain = (Path(__file__).parents[2] / "samples/saxpy.cu").read_text().replace('extern "C" ', "")
    for image in ("samples/saxpy.cu", write(tmp_path, plain)):
        command = ("launch", image, *SAXPY[2:], "2", "y=f32[n]:ones", "n=1000")
        check = ("--check", "y == a*x + 1", "--check", "sum(x) == 499500")
        for dry_run in ((), ("--dry-run",)):
            ran = run(*command, "x=@x.npy", *check, *dry_run)
            assert (ran.code, ran.out) == (2, "")
            assert "float" in ran.err.splitlines()[0]
            assert ran.err.splitlines()[0].endswith("in the kernel, got f64[1000]")
        [hint] = [line for line in ran.err.splitlines() if line.startswith("hint: pass ")]
        [argument] = shlex.split(hint.removeprefix("hint: pass "))
        assert argument == "x=f32[1000]:cast(@x.npy)"
        ran = run(*command, argument, *check)
        assert (ran.code, ran.err) == (0, "")
        ran = run(*command, "x=@x.npy", "--allow-type-mismatch")
        assert ran.code == 0
        assert "note: x is" in ran.err


def test_arguments_bind_by_name(run: Run) -> None:
    given = ("n=1000", "y=f32[n]:ones", "x=f32[n]:iota", "a=2")
    ran = run(*SAXPY, *given, "--check", "y == 2*x + 1")
    assert (ran.code, ran.err) == (0, "")
    ran = run(*SAXPY, *given[:3], "alpha=2")
    assert ran.code == 2
    assert ran.err.startswith("error: saxpy has no parameter 'alpha'\n")
    assert "hint: its parameters are a, x, y, n\n" in ran.err
    ran = run(*SAXPY, "2", "f32[1000]:iota", "f32[n]:ones", "1000", "-q", "--print", "y[999]")
    assert (ran.code, ran.out, ran.err) == (0, "y[999] = 1999.0\n", "")


def test_a_spec_binds_by_name_and_allows_other_types(run: Run, tmp_path: Path) -> None:
    case = '[[launch]]\nname = "{}"\nimage = "samples/saxpy.cu"\nblock = 8\n{}args = {}\n'
    args = ["n=8", "y=f64[n]:ones", "x=f32[n]:ones", "a=2"]
    (tmp_path / "cases.toml").write_text(
        case.format("allowed", "allow-type-mismatch = true\n", args)
        + case.format("refused", 'expect_error = "RequestError"\n', args)
    )
    ran = run("launch", "--spec", "cases.toml", *CPU)
    assert (ran.code, ran.err) == (0, "")
    assert "note y is float* in the kernel, got f64[8]  (allowed on cpu)" in ran.out


def test_recognised_by_its_content(run: Run, tmp_path: Path) -> None:
    name = write(tmp_path, 'extern "C" __global__ void seven(int *x) { *x = 7; }', "kernel")
    ran = run("launch", name, *ONE, "x=i32[1]", "--check", "x == 7")
    assert ran.code == 0, ran.err


def test_from_stdin(run: Run) -> None:
    source = b'extern "C" __global__ void seven(int *x) { *x = 7; }'
    assert run("launch", "-", *ONE, "x=i32[1]", "--check", "x == 7", stdin=source).code == 0


def test_a_dry_run(run: Run) -> None:
    ran = run(
        "launch",
        "samples/saxpy.cu",
        "--dry-run",
        "2",
        "null",
        "null",
        "n=5",
        "-d",
        "0",
        "--threads",
        "n",
    )
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1] == "parameter buffer: 28 bytes"


def test_names_are_demangled(run: Run, tmp_path: Path) -> None:
    text = "namespace ns { template <class T> __global__ void fill(T *x, T v) { *x = v; } }\n"
    text += "template __global__ void ns::fill<float>(float *, float);\n"
    ran = run(
        "launch",
        write(tmp_path, text),
        *ONE,
        "-k",
        "fill",
        "x=f32[1]",
        "2.5",
        "--check",
        "x == 2.5",
    )
    assert ran.code == 0, ran.err
    assert ran.out.startswith(
        "void ns::fill<float>(float*, float)  grid 1 × block 1 = 1 thread  on "
    )


def test_headers_macros_and_standard(run: Run, tmp_path: Path) -> None:
    (tmp_path / "headers").mkdir()
    write(tmp_path, "constexpr int base = 40;\n", "headers/base.h")
    text = """\
#include "base.h"
static_assert(__cplusplus >= 202002L);
extern "C" __global__ void k(int *x) { *x = base + MORE; }
"""
    ran = run(
        "launch", write(tmp_path, text), *ONE, "-I", "headers", "-D", "MORE=2", "--std", "c++20",
        "x=i32[1]", "--check", "x == 42",
    )  # fmt: skip
    assert ran.code == 0, ran.err


def test_a_header_beside_the_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    write(tmp_path, "constexpr int base = 42;\n", "part/base.h")
    text = '#include "base.h"\nextern "C" __global__ void k(int *x) { *x = base; }\n'
    name = write(tmp_path, text, "part/kernel.cu")
    assert run("launch", name, *ONE, "x=i32[1]", "--check", "x == 42").code == 0


def test_options_of_nvrtc_itself(run: Run, tmp_path: Path) -> None:
    text = 'extern "C" __global__ void k(int *x) { *x = BASE; }\n'
    ran = run(
        "launch", write(tmp_path, text), *ONE, "--compile-option=-DBASE=42",
        "x=i32[1]", "--check", "x == 42",
    )  # fmt: skip
    assert ran.code == 0, ran.err


BROKEN = """\
extern "C" __global__ void k(float *out) {
    int unused;
    out[0] = x;
}
"""
COMPLAINTS = """\
kernel.cu:3:14: error: identifier "x" is undefined
     3 |     out[0] = x;
       |              ^
kernel.cu:2:9: warning: variable "unused" was declared but never referenced
     2 |     int unused;
       |         ^
"""


@pytest.mark.parametrize("command", ["launch", "load"])
def test_errors_as_a_compiler_shows_them(run: Run, tmp_path: Path, command: str) -> None:
    ran = run(command, write(tmp_path, BROKEN), *CPU)
    assert ran.code == 4
    assert ran.err == (
        "error: kernel.cu: NVRTC: the source does not compile\n  in device cpu\n" + COMPLAINTS
    )


@needs_nvjitlink
@without_driver  # which would be named
def test_errors_of_a_link(run: Run, tmp_path: Path) -> None:
    ran = run("link", write(tmp_path, BROKEN), "-o", "out", "--arch", "sm_90")
    assert ran.code == 4
    assert ran.err == "error: kernel.cu: NVRTC: the source does not compile\n" + COMPLAINTS


def test_errors_in_the_document(run: Run, tmp_path: Path) -> None:
    [outcome] = run("load", write(tmp_path, BROKEN), *CPU, "--json").document["outcomes"]
    first, second = outcome["error"]["diagnostics"]
    assert (first["severity"], first["line"], first["column"]) == ("error", 3, 14)
    assert second["severity"] == "warning"
    assert outcome["error"]["log"].startswith('kernel.cu(3): error: identifier "x" is undefined')


def test_warnings_of_a_good_source(run: Run, tmp_path: Path) -> None:
    text = 'extern "C" __global__ void k(float *out) {\n    int unused;\n    *out = 1;\n}\n'
    ran = run("load", write(tmp_path, text), *CPU, "-q")
    assert ran.code == 0
    assert ran.err.startswith('kernel.cu:2:9: warning: variable "unused" was declared')


UNUSED = """\
extern "C" __global__ void k(float *out) {
    int unused;
    out[threadIdx.x] = 1;
}
"""
WARNING = """\
kernel.cu:2:9: warning: variable "unused" was declared but never referenced
     2 |     int unused;
       |         ^
"""


def test_warnings_of_a_launch(run: Run, tmp_path: Path) -> None:
    """Once, although every device compiles; also when the kernel fails."""
    launch = ("launch", write(tmp_path, UNUSED), "-d", "cpu:all", "--grid", "1")
    two = {"CUDARUN_CPU_DEVICES": "2"}
    ran = run(*launch, "--block", "4", "out=f32[4]", "--check", "out == 1", env=two)
    assert (ran.code, ran.err) == (0, WARNING)
    ran = run(*launch, "--block", "5", "out=f32[4]", env=two)
    assert ran.code == 5
    assert ran.err.startswith(WARNING + "error: ")
    assert ran.err.count("warning: ") == 1


@pytest.mark.parametrize(("block", "where"), [("4", "result"), ("5", "error")])
def test_warnings_of_a_launch_in_the_document(
    run: Run, tmp_path: Path, block: str, where: str
) -> None:
    ran = run(
        "launch", write(tmp_path, UNUSED), *CPU, "--grid", "1", "--block", block,
        "out=f32[4]", "--json",
    )  # fmt: skip
    [outcome] = ran.document["outcomes"]
    key = {"result": "diagnostics", "error": "warnings"}[where]
    [warning] = outcome[where][key]
    assert (warning["file"], warning["line"], warning["severity"]) == ("kernel.cu", 2, "warning")
    assert ran.err == ""


def test_lines_of_the_ptx_are_not_lines_of_the_source(run: Run, tmp_path: Path) -> None:
    text = 'extern "C" __global__ void k() { asm volatile("bar.sync %nothing;"); }'
    ran = run("load", write(tmp_path, text), *CPU, "-q")
    assert ran.code == 4
    assert "kernel.cu as PTX:" in ran.err
    assert "error: Unknown symbol '%nothing'" in ran.err


def test_a_header_that_is_nowhere(run: Run, tmp_path: Path) -> None:
    text = '#include "none.h"\n__global__ void k() {}\n'
    ran = run("load", write(tmp_path, text), *CPU)
    assert ran.code == 4
    assert "NVRTC did not find none.h in any include directory." in ran.err


def test_macros_and_headers_of_managed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine", "#define START MINE\n", "start.h")
    text = (
        '#include "start.h"\n__managed__ int counter = START; __global__ void k() { ++counter; }\n'
    )
    args = ("managed", write(tmp_path, text), *CPU, "-I", "mine", "--launch", "k", "--json")
    ran = run(*args, "-D", "MINE=41")
    assert ran.code == 0, ran.err
    [counter] = ran.document["variables"]
    assert [seen["host"]["value"] for seen in counter["observations"]] == [41, 42]


def test_a_stack_that_is_too_small(run: Run, tmp_path: Path) -> None:
    text = """
        __device__ __noinline__ int deep(int n) {
            int kept[99];
            for (int i = 0; i < 99; ++i) kept[i] = n;
            return n == 0 ? 0 : deep(n - 1) + kept[clock() % 99];
        }
        __global__ void k(int *x, int n) { *x = deep(n); }
    """
    args = ("launch", write(tmp_path, text), *ONE, "x=i32[1]", "9", "--check", "x == 45")
    ran = run(*args)
    assert ran.code == 5
    assert ran.err.splitlines()[-1] == "hint: raise the stack size: --limit stack=SIZE"
    assert run(*args, "--limit", "stack=8Ki").code == 0


@pytest.mark.parametrize("smem", [0, 256])
def test_shared_memory_that_was_forgotten(run: Run, tmp_path: Path, smem: int) -> None:
    text = "extern __shared__ int s[]; __global__ void k(int *x) { s[x[0]] = 7; x[0] = s[x[0]]; }"
    args = ("launch", write(tmp_path, text), *ONE, "x=i32[1]:[3]", "--check", "x == 7")
    ran = run(*args, "--smem", str(smem))
    assert (ran.code, "but --smem is 0" in ran.err) == ((0, False) if smem else (5, True))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("#include <vector>\n", "and <vector> is a host header."),
        ("int main() { return 0; }\n", "and the file contains host functions."),
    ],
)
def test_what_is_for_the_host(run: Run, tmp_path: Path, text: str, reason: str) -> None:
    kernel = "__global__ void k() {}\n"
    ran = run("load", write(tmp_path, text + kernel), *CPU, "--compiler", "nvrtc")
    assert ran.code == 4
    assert f"NVRTC compiles device code only, {reason}" in ran.err
    assert "hint: compile it with nvcc (--compiler nvcc), or enclose host code in" in ran.err
    hidden = f"#ifndef __CUDACC_RTC__\n{text}#endif\n{kernel}"
    ran = run("load", write(tmp_path, hidden), *CPU)
    assert ran.code == 0
    assert "nvcc" not in ran.err


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--std=c++99", "error: kernel.cu: NVRTC: invalid value for --std"),
        (
            "--compile-option=--foo",
            "error: kernel.cu: NVRTC: unrecognized option --foo",
        ),
    ],
)
def test_options_that_nvrtc_does_not_have(run: Run, tmp_path: Path, option: str, says: str) -> None:
    ran = run(
        "load", write(tmp_path, "__global__ void k() {}\n"), *CPU, option, "--compiler", "nvrtc"
    )
    assert ran.err.startswith(says)
    assert ran.code == 2


def test_ptx_no_newer_than_the_device_takes(run: Run, tmp_path: Path) -> None:
    """NVRTC writes its own toolkit's version, which may be newer than the emulated driver's."""
    text = 'extern "C" __global__ void k(int *x) { *x = 1; }'
    name = write(tmp_path, text)
    assert run("link", name, "-o", "out.ptx", *CPU, env={"CUDARUN_CPU_PTX": "9.0"}).code == 0
    [file] = run("load", "--offline", "out.ptx", "--json").document["files"]
    assert file["ptx_version"] <= [9, 0]


ODD = """\
__managed__ int counter;
__global__ void bump(float *x) { int unused; ++counter; }
"""


@pytest.mark.parametrize("address", ["null", "i32[4]"])
def test_managed_shows_warnings_and_notes_once(run: Run, tmp_path: Path, address: str) -> None:
    args = ("managed", write(tmp_path, ODD), "-d", "cpu:all", "--launch", f"bump {address}")
    if address != "null":
        assert run(*args).code == 2
        args = (*args, "--allow-type-mismatch")
    ran = run(*args, env={"CUDARUN_CPU_DEVICES": "2"})
    warning, note = (
        'variable "unused" was declared but never referenced',
        "x is float* in the kernel",
    )
    is_odd = address != "null"
    assert ran.code == 0
    assert ran.err.startswith(f"kernel.cu:2:38: warning: {warning}\n")
    assert (ran.err.count(warning), ran.err.count(note)) == (1, is_odd)
    told = [each["message"] for each in run(*args, "--json").document["diagnostics"]]
    assert (told[0], len(told)) == (warning, 1 + is_odd)


def test_managed_shows_warnings_beside_a_fault(run: Run, tmp_path: Path) -> None:
    source = write(tmp_path, ODD.replace("++counter", "*x = ++counter"))
    ran = run("managed", source, *CPU, "--launch", "bump null")
    assert ran.code == 5
    assert 'variable "unused" was declared but never referenced' in ran.err


def test_a_report_names_files_below_the_working_directory_as_a_user_does(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "include").mkdir()
    write(tmp_path, "__device__ void put(int *x) {\n    x[1] = 7;\n}\n", "include/put.cuh")
    source = write(tmp_path, '#include "include/put.cuh"\n__global__ void k(int *x) { put(x); }')
    for image in (source, str(tmp_path / source)):
        ran = run("launch", image, *ONE, "x=i32[1]")
        assert (ran.code, "from include/put.cuh:2" in ran.err) == (5, True), ran.err
