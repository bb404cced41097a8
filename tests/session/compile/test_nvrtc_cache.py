"""The cache of NVRTC's results: what a result depends on, and that nothing else compiles again."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudarun.diagnostics.entries import Diagnosed
from cudarun.images.versions import Architecture
from cudarun.session.compile import nvrtc
from cudarun.session.compile.source import compile_source
from cudarun.session.image.image import CompileOptions, Image
from tests.support.processes import wait_until
from tests.support.toolkit import needs_nvrtc

pytestmark = needs_nvrtc

KERNEL = b'#include "value.h"\n__global__ void k(int *x) { *x = VALUE; }\n'

Compile = Callable[..., tuple[Image, bool]]
"""Compiles; also returns whether NVRTC did so."""


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compile:
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "cache"))
    for name in ("CUDA_CACHE_DISABLE", "CUDARUN_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nvrtc, "_QUICK", 0)  # every new source is preprocessed
    runs: list[object] = []
    really = nvrtc.NvrtcCompiler._compiled

    def counted(*arguments: Any) -> dict[str, bytes]:
        runs.append(arguments)
        return really(*arguments)

    monkeypatch.setattr(nvrtc.NvrtcCompiler, "_compiled", counted)

    def compile_it(data: bytes = KERNEL, **options: Any) -> tuple[Image, bool]:
        before = len(runs)
        given = CompileOptions(compiler="nvrtc", **options)
        source = Image("my kernel.cu", data, compilation=given)
        image = compile_source(source, Architecture(True, 80), "PTX")
        return image, len(runs) > before

    return compile_it


@pytest.fixture
def preprocessed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return a list that gets the sources that are preprocessed."""
    texts: list[bytes] = []
    really = nvrtc.NvrtcCompiler._preprocessed

    def noted(compiler: nvrtc.NvrtcCompiler) -> tuple[bytes, bytes]:
        texts.append(compiler._task.text)
        return really(compiler)

    monkeypatch.setattr(nvrtc.NvrtcCompiler, "_preprocessed", noted)
    return texts


def header(folder: str, value: int) -> None:
    Path(folder).mkdir(exist_ok=True)
    path = Path(folder) / "value.h"
    path.write_text(f"#define VALUE {value}\n")
    wait_until(lambda: path.stat().st_ctime < time.time() - nvrtc._TICK, "a later time")


def test_a_result_is_reused(compiled: Compile) -> None:
    header("in clude", 7)
    text = KERNEL + b"template <int N> __global__ void t(int *x) { int unused; *x = N; }\n"
    options = {"include": ("in clude",), "kernels": ("t<3>",)}
    first, ran = compiled(text, **options)
    assert ran
    assert first.warnings
    assert compiled(text, **options) == (first, False)
    assert first.lowered == {"t<3>": "_Z1tILi3EEvPi"}


def test_a_changed_header(compiled: Compile) -> None:
    header("a", 7)
    first, _ = compiled(include=("a", "b"))
    header("a", 8)
    second, ran = compiled(include=("a", "b"))
    assert ran
    assert first.data != second.data


def test_a_header_that_appears_in_an_earlier_folder(compiled: Compile) -> None:
    header("b", 7)
    first, _ = compiled(include=("a", "b"))
    header("a", 8)
    assert compiled(include=("a", "b"))[0].data != first.data
    os.unlink("a/value.h")
    assert compiled(include=("a", "b")) == (first, False)


def test_a_header_by_a_macro(compiled: Compile) -> None:
    header("a", 7)
    text = KERNEL.replace(b'"value.h"', b"NAME")
    options = {"include": ("a",), "defines": ('NAME="value.h"',)}
    first, _ = compiled(text, **options)
    assert compiled(text, **options) == (first, False)
    header("a", 8)
    assert compiled(text, **options)[0].data != first.data


@pytest.mark.parametrize("question", [b"__has_include", b"HAS"])
def test_a_question_for_a_header(compiled: Compile, question: bytes) -> None:
    text = (
        b"#define HAS __has_include\n#if %s(<a/value.h>)\n#define VALUE 1\n#else\n#define VALUE 2\n"
        b"#endif\n__global__ void k(int *x) { *x = VALUE; }\n" % question
    )
    first, _ = compiled(text)
    header("a", 0)
    assert compiled(text)[0].data != first.data


@pytest.mark.parametrize(
    "other",
    [
        {"defines": ("OTHER",)},
        {"standard": "c++20"},
        {"options": ("--use_fast_math",)},
        {"kernels": ("t<1>",)},
    ],
)
def test_the_options(compiled: Compile, other: dict[str, object]) -> None:
    text = b"template <int N> __global__ void t(int *x) { *x = N; }\n"
    compiled(text)
    assert compiled(text, **other)[1]


def test_a_folder_of_the_compilers_own_option(compiled: Compile) -> None:
    text = (
        b"#if __has_include(<value.h>)\n#define VALUE 1\n#else\n#define VALUE 2\n#endif\n"
        b"__global__ void k(int *x) { *x = VALUE; }\n"
    )
    first, _ = compiled(text, options=("-Ia",))
    header("a", 0)
    assert compiled(text, options=("-Ia",))[0].data != first.data


def test_a_message_of_the_preprocessor(compiled: Compile) -> None:
    for said in ("old", "new"):
        Path("value.h").write_text(f"#define VALUE 1\n#warning {said}\n")
        assert said in compiled()[0].warnings[0].message


def test_a_refusal(compiled: Compile) -> None:
    """It is stored, too, until what it depends on changes."""
    header("a", 7)
    with pytest.raises(Diagnosed) as first:
        compiled(KERNEL.replace(b"VALUE", b"VALUE missing"), include=("a",))
    with pytest.raises(Diagnosed) as second:
        compiled(KERNEL.replace(b"VALUE", b"VALUE missing"), include=("a",))
    assert first.value.diagnostics == second.value.diagnostics
    with pytest.raises(Diagnosed):
        compiled()
    header(".", 8)
    assert compiled()[1]


def test_a_new_source_is_compiled_once(
    compiled: Compile, preprocessed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvrtc, "_QUICK", math.inf)
    header(".", 7)
    results = []
    for expected in ((True, 0), (True, 1), (False, 2)):
        image, ran = compiled()
        assert (ran, preprocessed.count(KERNEL)) == expected
        results.append(image)
    assert results[0] == results[1] == results[2]
    header(".", 8)
    assert compiled()[0].data != results[0].data


def test_a_header_that_changes_during_the_compilation(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    header(".", 7)
    really = nvrtc.NvrtcCompiler._compiled

    def changing(*arguments: Any) -> dict[str, bytes]:
        try:
            return really(*arguments)
        finally:
            header(".", 8)

    monkeypatch.setattr(nvrtc.NvrtcCompiler, "_compiled", changing)
    first, _ = compiled()
    assert compiled()[0].data != first.data


def test_the_cache_is_off(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUDARUN_CACHE", "off")
    header(".", 7)
    assert [compiled()[1] for _ in range(2)] == [True, True]
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"#include <cstdint>",
        b'%:incl\\\nude "value.h"',
        b"// __TIME__",
        b"#define A(x) x##x",
        b"%:define A(x) x%:%:x",
    ],
)
def test_a_source_that_depends_on_nothing_else_is_not_preprocessed(
    compiled: Compile, preprocessed: list[bytes], line: bytes
) -> None:
    header(".", 7)
    text = line + b"\n__global__ void k(int *x) { *x = 1; }\n"
    assert compiled(text)[1]
    assert preprocessed.count(text) == bool(line)
    assert not compiled(text)[1]
