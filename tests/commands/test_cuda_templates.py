"""Template kernels in CUDA source: NVRTC instantiates what is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.test_cuda_source import BROKEN, COMPLAINTS, CPU, ONE, write
from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

pytestmark = needs_nvrtc


TEMPLATES = """\
namespace ns { template <class T, int N> __global__ void fill(T *x) { *x = N; } }
struct Pair { int a, b; };
template <class T> __global__ void second(T *x) { int unused; x->b = 7; }
"""
OF_TEMPLATES = """\
the source must instantiate a template: \
template __global__ void f<float>(…);
for a .cu, launch -k 'ns::f<float>' instantiates it (full name, all template arguments)
"""


@pytest.mark.parametrize(
    ("wanted", "x", "is_called"),
    [
        ("ns::fill<float, 7>", "f32[1]", "void ns::fill<float, 7>(float*)"),
        ("ns::fill<unsigned char,6+1>", "u8[1]", "void ns::fill<unsigned char, 7>(unsigned char*)"),
        ("ns::fill<decltype(1u), 'a' - 90>", "u32[1]", "void ns::fill<unsigned int, 7>("),
    ],
)
def test_a_template_that_nobody_instantiates(
    run: Run, tmp_path: Path, wanted: str, x: str, is_called: str
) -> None:
    name = write(tmp_path, TEMPLATES)
    ran = run("launch", name, *ONE, "-k", wanted, f"x={x}", "--check", "x == 7")
    assert ran.code == 0, ran.err
    assert ran.out.startswith(is_called)
    ran = run("launch", name, "--dry-run", "--threads", "1", "-k", wanted, f"x={x}")
    assert ran.code == 0, ran.err
    assert ran.out.startswith(is_called)


def test_a_template_of_a_type_of_the_source(run: Run, tmp_path: Path) -> None:
    ran = run(
        "launch", write(tmp_path, TEMPLATES), *ONE, "-k", "second<Pair>", "x=i32[2]:zeros",
        "--check", "x == [0, 7]",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert 'warning: variable "unused"' in ran.err


@pytest.mark.parametrize("wanted", ["anonymous<int>", "own<int>"])
def test_a_template_of_the_file_alone(run: Run, tmp_path: Path, wanted: str) -> None:
    text = "namespace { template <class T> __global__ void anonymous(T *x) { *x = 7; } }\n"
    text += "template <class T> static __global__ void own(T *x) { *x = 7; }\n"
    args = ("launch", write(tmp_path, text), *ONE, "x=i32[1]", "--check", "x == 7")
    ran = run(*args, "-k", wanted)
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("wanted", "because"),
    [
        ("fill<float, 7>", 'identifier "fill" is undefined'),
        ("ns::fill<Nothing, 7>", 'identifier "Nothing" is undefined'),
        ("ns::fill<float>", 'cannot determine which instance of function template "ns::fill"'),
        ("ns::fill<float", 'expected a ">"'),
    ],
)
def test_a_name_that_nvrtc_refuses(run: Run, tmp_path: Path, wanted: str, because: str) -> None:
    """Its warnings of the source are not the reason."""
    text = TEMPLATES + "template <> __global__ void second<float>(float *x) { int unused; }\n"
    ran = run("launch", write(tmp_path, text), *ONE, "-k", wanted, "x=f32[1]")
    assert ran.code == 2
    assert ran.err.startswith(f"error: kernel.cu: NVRTC refuses '{wanted}': {because}")
    assert ran.err.endswith(OF_TEMPLATES)


def test_template_arguments_that_do_not_compile(run: Run, tmp_path: Path) -> None:
    ran = run("launch", write(tmp_path, TEMPLATES), *ONE, "-k", "second<float4[2]>", "x=f32[8]")
    assert ran.code == 4
    message, _, complaint, *_ = ran.err.splitlines()
    assert (
        message == "error: kernel.cu: NVRTC: the source does not compile with 'second<float4[2]>'"
    )
    assert complaint.startswith("kernel.cu:3:")
    assert "__nv_name_map" not in ran.err


def test_a_broken_source_is_not_the_names_fault(run: Run, tmp_path: Path) -> None:
    ran = run("launch", write(tmp_path, BROKEN), *CPU, "-k", "k<float>")
    assert ran.code == 4
    assert ran.err == (
        "error: kernel.cu: NVRTC: the source does not compile\n  in device cpu\n" + COMPLAINTS
    )


@pytest.mark.parametrize("wanted", ["fill<int,3>", "void ns::fill<int, 3>(int*)"])
def test_spellings_that_are_no_name_expressions(run: Run, tmp_path: Path, wanted: str) -> None:
    text = TEMPLATES + "template __global__ void ns::fill<int, 3>(int *);\n"
    text += "template __global__ void ns::fill<int, 4>(int *);\n"
    name = write(tmp_path, text)
    ran = run("launch", name, *ONE, "-k", wanted, "x=i32[1]", "--check", "x == 3")
    assert ran.code == 0, ran.err


def test_a_template_in_a_case_of_a_spec(run: Run, tmp_path: Path) -> None:
    name = write(tmp_path, TEMPLATES)
    (tmp_path / "cases.toml").write_text(f"""\
[[launch]]
name = "five"
image = "{name}"
kernel = "ns::fill<short, 5>"
threads = 1
args = ["x=i16[1]"]
check = ["x == 5"]

[[launch]]
name = "six"
image = "{name}"
kernel = "ns::fill<short, 6>"
threads = 1
args = ["x=i16[1]"]
check = ["x == 6"]
""")
    ran = run("launch", "--spec", "cases.toml", *CPU)
    assert ran.code == 0, ran.out + ran.err


COUNTING = """\
__managed__ int counter;
namespace ns { template <class T, int N> __global__ void bump(T k) { counter += k * N; } }
template <int N> __global__ void own() { counter += N; }
template __global__ void own<3>();
"""


def test_templates_of_managed(run: Run, tmp_path: Path) -> None:
    """Also several, some of them only spelled as what the source instantiates."""
    launches = ("ns::bump<int,2> k=i32:5", "'ns::bump<short, 4>' 5", "'void own<3>()'")
    options = [word for text in launches for word in ("--launch", text)]
    ran = run("managed", write(tmp_path, COUNTING), *CPU, *options, "-q")
    assert ran.code == 0, ran.err
    values = [line.split()[-1] for line in ran.out.splitlines()[2:]]
    assert values == ["0", "10", "30", "33"]


def test_a_template_of_managed_that_nvrtc_refuses(run: Run, tmp_path: Path) -> None:
    source = write(tmp_path, COUNTING)
    ran = run("managed", source, *CPU, "--launch", "own<3>", "--launch", "bump<int,2> 5")
    assert ran.code == 2
    because = "error: kernel.cu: NVRTC refuses 'bump<int,2>': identifier \"bump\" is undefined"
    assert ran.err.startswith(because)


def test_a_template_for_a_gpu(tmp_path: Path) -> None:
    """Machine code has the kernel under the name that is asked for."""
    from cudarun.images.reader import read_image
    from cudarun.images.versions import Architecture
    from cudarun.session.compile.source import compile_source
    from cudarun.session.image.image import CompileOptions, Image

    options = CompileOptions(kernels=("ns::fill<float, 7>",))
    source = Image("kernel.cu", TEMPLATES.encode(), compilation=options)
    made = compile_source(source, Architecture(False, 90), "CUBIN")
    mangled = "_ZN2ns4fillIfLi7EEEvPT_"
    assert made.lowered == {"ns::fill<float, 7>": mangled}
    assert [kernel.name for kernel in read_image(made.data, "made").kernels] == [mangled]


def test_names_that_are_no_utf8(run: Run, tmp_path: Path) -> None:
    """Of the file, of a macro, of a kernel."""
    name = os.fsdecode(b"kernel\xff.cu")
    (tmp_path / name).write_text(TEMPLATES)
    args = ("launch", name, *ONE, "x=i32[1]", "--check", "x == 7", "-D", os.fsdecode(b'A="\xff"'))
    assert run(*args, "-k", "ns::fill<int, 7>").code == 0
    ran = run(*args, "-k", os.fsdecode(b"ns::fill<\xff>"))
    assert (ran.code, "NVRTC refuses 'ns::fill<" in ran.err) == (2, True)
