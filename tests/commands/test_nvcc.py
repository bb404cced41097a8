"""CUDA source with host code: nvcc compiles it, and says what is wrong.

The tests marked `real` need nvcc and its host compiler. tests/session/compile/test_nvcc.py tests
the arguments and the cache without it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.base.bindings import installed_version
from cudarun.images.reader import read_image
from cudarun.images.versions import Architecture
from cudarun.session.compile.source import compile_source
from cudarun.session.compile.toolkit import find_program
from cudarun.session.image.image import CompileOptions, Image
from tests.commands.limits import LIMITS
from tests.support.processes import PATIENCE, PYTHON_PATH, wait_for_end, wait_until
from tests.support.toolkit import needs_nvjitlink, needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

real = pytest.mark.skipif(
    find_program("nvcc") is None or shutil.which("g++") is None, reason="needs nvcc and g++"
)

CPU = ("-d", "cpu")
ONE = (*CPU, "--threads", "1")

PROGRAM = """\
#include <cstdio>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#ifndef OFFSET
#define OFFSET 1
#endif

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + OFFSET - 1;
}

namespace ns {
using real = double;
template <class T, int N> __global__ void scale(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= N;
}
}

int main()
{
    std::vector<float> data(1000, 1.0f);
    float *x;
    cudaMalloc(&x, sizeof(float) * data.size());
    ns::scale<float, 2><<<4, 256>>>(x, int(data.size()));
    std::cout << cudaGetErrorString(cudaDeviceSynchronize()) << std::endl;
}
"""

NOTE = "note: program.cu is compiled by nvcc "
ARGUMENTS = ("a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=1000")
SAXPY = ("launch", "program.cu", *CPU, "-k", "saxpy", "--threads", "n", *ARGUMENTS)


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "cache"))
    monkeypatch.delenv("CUDA_CACHE_DISABLE", raising=False)
    path = tmp_path / "program.cu"
    path.write_text(PROGRAM)
    return path


def entries(tmp_path: Path) -> list[str]:
    """The names of the cache's entries."""
    return sorted(os.listdir(tmp_path / "cache/cudarun/nvcc"))


# --- launches ------------------------------------------------------------------------------------


@real
@needs_nvrtc
def test_a_program_with_main_and_vector(run: Run, tmp_path: Path) -> None:
    """Parameters have the names and types of the source; the second launch is from the cache."""
    for _ in range(2):
        ran = run(*SAXPY, "--check", "y == 2*x + 1")
        assert ran.code == 0, ran.err
        assert "PASS y == 2*x + 1" in ran.out
        assert ran.err.startswith(NOTE)
        assert ran.err.endswith("is a host header\n")
        assert len(ran.err.splitlines()) == 1
        assert len(entries(tmp_path)) == 1


@real
@needs_nvrtc
def test_functions_of_the_host_alone(run: Run, tmp_path: Path, program: Path) -> None:
    program.write_text('extern "C" __global__ void k(int *x) { *x = 3; }\nint main() {}\n')
    ran = run("launch", "program.cu", *ONE, "x=i32[1]", "--check", "x == 3")
    assert ran.code == 0, ran.err
    assert ran.err.endswith(": it contains host functions\n")


@needs_nvrtc
def test_files_without_host_code_are_for_nvrtc(run: Run, tmp_path: Path, program: Path) -> None:
    program.write_text('#include <cstdio>\nextern "C" __global__ void k(int *x) { *x = 3; }\n')
    ran = run("launch", "program.cu", *ONE, "x=i32[1]", "--check", "x == 3")
    assert (ran.code, ran.err) == (0, "")
    assert not (tmp_path / "cache/cudarun/nvcc").exists()


@needs_nvrtc
def test_nvrtc_alone(run: Run) -> None:
    ran = run(*SAXPY, "--compiler", "nvrtc")
    assert ran.code == 4
    assert "NVRTC compiles device code only" in ran.err
    assert "hint: compile it with nvcc (--compiler nvcc)" in ran.err


@real
@pytest.mark.parametrize(
    ("options", "adds"),
    [
        (("-D", "OFFSET=3"), 3),
        (("-I", "headers", "-D", "HEADER"), 7),
        (("--compile-option", "-DOFFSET=5"), 5),
        (("--std", "c++20", "-D", "OFFSET=(__cplusplus>=202002L?9:0)"), 9),
    ],
)
def test_options(
    run: Run, tmp_path: Path, program: Path, options: tuple[str, ...], adds: int
) -> None:
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers/offset.h").write_text("#define OFFSET 7\n")
    program.write_text(f'#ifdef HEADER\n#include "offset.h"\n#endif\n{PROGRAM}')
    ran = run(*SAXPY, "--compiler", "nvcc", *options, "--check", f"y == 2*x + {adds}")
    assert (ran.code, ran.err) == (0, "")


@real
@pytest.mark.parametrize(
    ("wanted", "element"),
    [
        ("ns::scale<float, 2>", "f32"),  # main launches it
        ("ns::scale<double, 2>", "f64"),
        ("ns::scale<ns::real, 1 + 1>", "f64"),
        ("scale<float,2>", "f32"),  # not a name in the scope of the file
    ],
)
def test_templates(run: Run, wanted: str, element: str) -> None:
    ran = run(
        *("launch", "program.cu", "--compiler", "nvcc", *CPU, "--threads", "n", "-k", wanted),
        *(f"x={element}[n]:iota", "n=100", "--check", "x[7] == 14", "--check", "sum(x) == 9900"),
    )
    assert (ran.code, ran.err) == (0, "")
    name = "double*" if element == "f64" else "float*"
    assert f"({name}, int)  grid 1 × block 100 = 100 threads" in ran.out


@real
def test_a_name_that_nvcc_refuses(run: Run) -> None:
    command = ("launch", "program.cu", "--compiler", "nvcc", *ONE, "null", "0")
    ran = run(*command, "-k", "ns::scale<none, 2>")
    assert ran.code == 2
    assert ran.err.startswith("error: program.cu: nvcc refuses 'ns::scale<none, 2>': identifier")
    ran = run(*command, "-k", "ns::scale<int*, 2>")
    assert ran.code == 4
    assert "nvcc: the source does not compile with 'ns::scale<int*, 2>'" in ran.err
    assert "program.cu:21:16: error: expression must have arithmetic" in ran.err


@real
@needs_nvrtc
def test_a_dry_run(run: Run) -> None:
    ran = run(*SAXPY, "--dry-run")
    assert ran.code == 0, ran.err
    assert ran.err.startswith(NOTE)
    assert ran.out.splitlines()[-1] == "parameter buffer: 28 bytes"


@real
def test_findings_have_the_lines_of_the_source(run: Run, program: Path) -> None:
    program.write_text(PROGRAM.replace("if (i < n) y", "y"))
    ran = run(*SAXPY, "--compiler", "nvcc")
    assert ran.code == 5
    assert "program.cu:13" in ran.err
    assert os.fspath(program) not in ran.err


@real
@needs_nvrtc
def test_a_spec(run: Run, tmp_path: Path) -> None:
    """The note is shown once for all cases of auto."""
    ran = run(*SAXPY, "--check", "y == 2*x + 1", "--compiler", "auto", "--write-spec", "s.toml")
    assert ran.code == 0, ran.err
    spec = (tmp_path / "s.toml").read_text()
    assert 'compiler = "auto"\n' in spec
    again = spec.replace('name = "saxpy"', 'name = "again"')
    own = spec.replace('name = "saxpy"', 'name = "own"').replace('"auto"', '"nvcc"')
    (tmp_path / "s.toml").write_text(spec + again + own)
    ran = run("launch", "--spec", "s.toml", *CPU)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("program.cu is compiled by nvcc") == 1


@real
def test_an_unknown_compiler_in_a_spec(run: Run, tmp_path: Path) -> None:
    case = '[[launch]]\nimage = "program.cu"\nthreads = 1\ncompiler = "gcc"\n'
    (tmp_path / "s.toml").write_text(case)
    ran = run("launch", "--spec", "s.toml", *CPU)
    assert ran.code == 2
    assert ran.err.startswith("error: s.toml:4: ")


@real
def test_the_architecture_of_a_gpu(program: Path) -> None:
    options = CompileOptions(compiler="nvcc", kernels=("ns::scale<double, 3>",))
    image = Image(os.fspath(program), program.read_bytes(), compilation=options)
    made = compile_source(image, Architecture(False, 89), "CUBIN")
    mangled = "_ZN2ns5scaleIdLi3EEEvPT_i"
    assert made.lowered == {"ns::scale<double, 3>": mangled}
    facts = read_image(made.data, made.origin)
    assert facts.targets == ("sm_89",)
    assert {kernel.name for kernel in facts.kernels} == {
        *("saxpy", "_ZN2ns5scaleIfLi2EEEvPT_i", mangled)
    }
    assert facts.variables == ()
    assert made.facts is not None
    [saxpy] = [kernel for kernel in made.facts.kernels if kernel.name == "saxpy"]
    assert [each.name for each in saxpy.parameters] == ["a", "x", "y", "n"]


# --- load, link, managed -------------------------------------------------------------------------


@real
@needs_nvrtc
def test_load(run: Run) -> None:
    ran = run("load", "program.cu", *CPU)
    assert ran.code == 0, ran.err
    assert ran.err.startswith(NOTE)
    assert "parameters   0:4 float a, 8:8 const float* x, 16:8 float* y, 24:4 int n" in ran.out


@real
@needs_nvrtc
@pytest.mark.parametrize(
    "linker",
    [
        CPU,
        pytest.param(("--linker", "nvjitlink", "--arch", "sm_90"), marks=needs_nvjitlink),
        pytest.param(
            ("--linker", "nvjitlink", "--arch", "sm_90", "--lto"),
            marks=[
                needs_nvjitlink,
                pytest.mark.skipif(
                    installed_version() < (13, 0), reason="nvJitLink may be older than nvcc"
                ),
            ],
        ),
    ],
)
def test_link(run: Run, tmp_path: Path, linker: tuple[str, ...]) -> None:
    (tmp_path / "part.cu").write_text("__device__ float part(float x) { return x + 1; }\n")
    (tmp_path / "program.cu").write_text(
        "#include <vector>\n__device__ float part(float x);\n"
        'extern "C" __global__ void k(float *x) { *x = part(*x); }\nint main() {}\n'
    )
    ran = run("link", "program.cu", "part.cu", "-o", "out", *linker)
    assert ran.code == 0, ran.err
    assert ran.err.startswith(NOTE)
    assert "part.cu is compiled" not in ran.err
    if linker == CPU:
        ran = run("launch", "out", *ONE, "x=f32[1]:ones", "--check", "x == 2")
        assert ran.code == 0, ran.err


@real
def test_managed(run: Run, program: Path) -> None:
    program.write_text(
        "#include <vector>\n__managed__ int counter = 4;\n"
        "__global__ void k() { ++counter; }\nint main() {}\n"
    )
    ran = run("managed", "program.cu", *CPU, "--compiler", "nvcc", "--launch", "k", "--json")
    assert ran.code == 0, ran.err
    [counter] = ran.document["variables"]
    assert [seen["host"]["value"] for seen in counter["observations"]] == [4, 5]


# --- errors --------------------------------------------------------------------------------------


@real
@needs_nvrtc
def test_an_error_in_the_source(run: Run, program: Path) -> None:
    program.write_text(PROGRAM.replace("float *x;", "float *x = missing;"))
    ran = run(*SAXPY)
    assert ran.code == 4
    assert ran.err.startswith("error: program.cu: nvcc: the source does not compile\n")
    assert 'program.cu:28:16: error: identifier "missing" is undefined\n' in ran.err
    assert "    28 |     float *x = missing;\n       |                ^" in ran.err


@real
def test_a_header_that_is_nowhere(run: Run, program: Path) -> None:
    program.write_text('#include "none.h"\n' + PROGRAM)
    ran = run(*SAXPY, "--compiler", "nvcc", "-I", "more")
    assert ran.code == 4
    assert "program.cu:1:10: fatal: none.h: No such file or directory" in ran.err
    assert (
        "nvcc did not find none.h in any include directory.\n"
        "hint: add its directory: -I DIR; searched: more, ., the headers of CUDA\n"
    ) in ran.err


@real
@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--std=c++99", "nvcc: Value 'c++99' is not defined for option 'std'"),
        ("--compile-option=--foo", "nvcc: Unknown option '--foo'"),
    ],
)
def test_options_that_nvcc_does_not_have(run: Run, option: str, says: str) -> None:
    ran = run(*SAXPY, "--compiler", "nvcc", option)
    assert ran.code == 2
    assert ran.err.startswith(f"error: program.cu: {says}\n")


@real
@needs_nvjitlink
def test_an_architecture_that_nvcc_does_not_have(run: Run) -> None:
    ran = run(
        *("link", "program.cu", "--compiler", "nvcc", "-o", "out.cubin"),
        *("--linker", "nvjitlink", "--arch", "sm_20"),
    )
    assert ran.code == 2
    assert "nvcc: Unsupported gpu architecture 'sm_20'" in ran.err
    assert "hint: list the supported architectures: nvcc --list-gpu-arch\n" in ran.err


# --- processes -----------------------------------------------------------------------------------


HANGS = """\
#!{python}
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("{pids}.part", "w") as file:
    print(os.getpid(), child.pid, file=file)
os.rename("{pids}.part", "{pids}")
time.sleep(600)
"""


def hanging(tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    """Start a launch whose nvcc hangs, and writes its process and its child's to ``pids``."""
    program = tmp_path / "bin/nvcc"
    program.parent.mkdir(exist_ok=True)
    program.write_text(HANGS.format(python=sys.executable, pids=tmp_path / "pids"))
    program.chmod(0o755)
    (tmp_path / "tmp").mkdir(exist_ok=True)
    environment = os.environ | {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": PYTHON_PATH,
        "TMPDIR": os.fspath(tmp_path / "tmp"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "cudarun", *SAXPY, "--compiler", "nvcc", *options],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_end_of_nvcc(tmp_path: Path) -> None:
    """Wait for the end of nvcc and its child, which leave no files."""
    for pid in (tmp_path / "pids").read_text().split():
        wait_for_end(int(pid))
    wait_until(lambda: [*(tmp_path / "tmp").iterdir()] == [], "end of the folder")


def test_ctrl_c_ends_nvcc_with_its_processes(tmp_path: Path) -> None:
    with hanging(tmp_path) as process:
        wait_until((tmp_path / "pids").exists, "start of nvcc")
        assert [*(tmp_path / "tmp").iterdir()] != []
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    wait_for_end_of_nvcc(tmp_path)


def test_sigkill_leaves_no_files(tmp_path: Path) -> None:
    with hanging(tmp_path) as process:
        wait_until((tmp_path / "pids").exists, "start of nvcc")
        process.kill()
    try:
        wait_until(lambda: [*(tmp_path / "tmp").iterdir()] == [], "end of the folder")
    finally:  # nvcc's own children are not cudarun's to end once it is killed
        os.kill(int((tmp_path / "pids").read_text().split()[1]), signal.SIGKILL)


def test_a_time_limit_ends_nvcc_with_its_processes(tmp_path: Path) -> None:
    for limit in LIMITS:
        with hanging(tmp_path, "--timeout", str(limit)) as process:
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 6
        assert f"{limit} s" in err
        if (tmp_path / "pids").exists():
            break
    wait_for_end_of_nvcc(tmp_path)
