"""Options of compiling in nvcc's spelling, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.commands.help import own_words
from cudarun.images.versions import Architecture
from cudarun.session.compile.nvrtc import _options
from cudarun.session.compile.source import _for_named_target
from cudarun.session.compile.task import CompileTask, Form
from cudarun.session.image.image import CompileOptions, Image
from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

KNOWN = {"--compile-option", "--std", "-I", "-D", "-d", "-k"}


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("-std=c++20", "--std=c++20"),
        ("-std c++20 --std c++17", "--std=c++20 --std c++17"),
        ("-O3", "--compile-option=-O3"),
        ("-arch=sm_80", "--compile-option=-arch=sm_80"),
        ("-arch sm_80", "--compile-option=-arch=sm_80"),
        ("-gencode arch=a,code=b", "--compile-option=-gencode=arch=a,code=b"),
        (
            "-Xptxas -v --use_fast_math",
            "--compile-option=-Xptxas=-v --compile-option=--use_fast_math",
        ),
        ("-DX=1 -Iinc -I inc -d cpu", "-DX=1 -Iinc -I inc -d cpu"),
        ("--compile-option -O3 -k -G", "--compile-option -O3 -k --compile-option=-G"),
        ("-diag-suppress 177 -d 0", "--compile-option=-diag-suppress=177 -d 0"),
        ("-Wno-deprecated-gpu-targets", "--compile-option=-Wno-deprecated-gpu-targets"),
        ("k.cu -- -O3 -std=1", "k.cu -- -O3 -std=1"),
        ("--compile-option", "--compile-option"),
        ("--chekc y", "--chekc y"),
    ],
)
def test_words(words: str, own: str) -> None:
    assert " ".join(own_words(words.split(), KNOWN)) == own


def test_options_of_the_command_have_precedence() -> None:
    known = KNOWN | {"-O", "-g", "--arch"}
    words = ["-O3", "-g", "-arch=sm_80", "-G"]
    assert [*own_words(words, known)] == ["-O3", "-g", "--arch=sm_80", "--compile-option=-G"]


@pytest.mark.parametrize(
    ("options", "form", "target", "made"),
    [
        ((), "CUBIN", "sm_90", "CUBIN"),
        (("-arch=native",), "CUBIN", "sm_90", "CUBIN"),
        (("-arch=sm_90",), "CUBIN", "sm_90", "CUBIN"),
        (("-arch=sm_80",), "CUBIN", "compute_80", "PTX"),  # which the driver compiles for 9.0
        (("--gpu-architecture=sm_90a",), "CUBIN", "sm_90a", "CUBIN"),
        (("-arch=sm_80",), "PTX", "compute_80", "PTX"),
        (("-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_86,code=sm_86"), "PTX",
         "compute_86", "PTX"),
        (("-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_100,code=sm_100"), "PTX",
         "compute_75", "PTX"),
        (("-arch=compute_100",), "PTX", "compute_100", "PTX"),
    ],
)  # fmt: skip
def test_the_architecture(options: tuple[str, ...], form: Form, target: str, made: str) -> None:
    source = Image("k.cu", b"", compilation=CompileOptions(options=(*options, "-G")))
    task = _for_named_target(CompileTask(source, Architecture(form == "PTX", 90), form))
    assert (str(task.target), task.form, task.options.options) == (target, made, ("-G",))


def test_options_of_the_host_are_not_for_nvrtc() -> None:
    given = ["-O3", "-g", "--expt-relaxed-constexpr", "--extended-lambda", "-G", "-Xcompiler=-O3"]
    source = Image("k.cu", b"", compilation=CompileOptions(options=tuple(given)))
    options = list(_options(CompileTask(source, Architecture(False, 90), "PTX")))
    assert [each for each in options if each in given] == ["-G", "-Xcompiler=-O3"]


@needs_nvrtc
def test_a_launch_as_pasted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(int *x) { x[0] = __CUDA_ARCH__; x[1] = __cplusplus > 201703; "
        "x[2] = X; }\n"
    )
    ran = run(
        *("launch", "k.cu", "-std=c++20", "-O3", "-arch=sm_75", "-DX=5", "-I.", "-lineinfo"),
        *("-d", "cpu", "--threads", "1", "x=i32[3]", "--check", "x == [750, 1, 5]"),
    )
    assert (ran.code, ran.err) == (0, "")
    ran = run("load", "k.cu", "-arch=sm_75", "-DX=1", "-d", "cpu")
    assert "of compute_75" in ran.out
