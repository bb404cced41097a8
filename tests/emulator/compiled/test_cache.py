"""The cache of machine code: what is kept, and that damaged entries are compiled again."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cudarun.base.cache import ResultCache
from cudarun.emulator.compiled import jit
from cudarun.emulator.compiled.jit import MachineCode, object_files, soon_object_files
from cudarun.emulator.compiled.lanes.operators import gathered
from cudarun.emulator.compiled.lanes.parts import PART
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, ModuleText
from cudarun.emulator.engines import TARGETS, Engines

TABLE = np.linspace(0, 1, 5)


def module() -> ModuleText:
    """A module with a constant, and a look-up in a table."""
    made = ModuleText()
    code = CodeBuilder(made)
    places = code.vector("load <32 x i64>, ptr %at, align 8", "i64")
    found: LaneVector = gathered(code, TABLE, places)
    code.line(f"store {found.typed}, ptr %at, align 8")
    code.line("ret i32 42")
    made.define("answer", "\n".join(["define i32 @answer(ptr %at) {", *code.lines, "}"]))
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache that is on."""
    for name in ("CUDARUN_CACHE", "CUDA_CACHE_DISABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "cudarun" / "kernels"


def answer() -> tuple[int, float]:
    made = module()
    code = MachineCode(made.symbols, object_files(made.text()))
    values = np.full(32, 3)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(code.address("answer"))
    return call(values.ctypes.data), float(values.view(np.float64)[31])


def test_a_module_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answer()
    assert first == (42, 0.75)
    assert len([*folder.iterdir()]) == 1

    def refuse(*given: object) -> bytes:
        raise AssertionError("it is in the cache")

    monkeypatch.setattr(jit, "_compiled", refuse)
    assert answer() == first


def test_a_damaged_entry_is_compiled_again(folder: Path) -> None:
    cache = ResultCache(folder)
    first = answer()
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[: len(whole) // 2])
    assert cache.load(entry.name) is None
    assert answer() == first
    assert cache.load(entry.name) is not None


def test_processes_share_a_cache(folder: Path) -> None:
    program = "from tests.emulator.compiled.test_cache import answer; print(answer()[0])"
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate()[0] for process in running] == [b"42\n"] * 2
    assert len([*folder.iterdir()]) == 1


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    folder.parent.touch()
    assert answer()[0] == 42


def test_without_a_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CACHE", "off")
    assert answer()[0] == 42
    assert not folder.exists()


def test_a_function_without_the_kernel_is_compiled_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    compile_ = jit._compiled

    def noted(text: str, machine: object) -> bytes:
        compiled.append(text)
        return compile_(text, machine)

    monkeypatch.setattr(jit, "_compiled", noted)
    for number in (1, 2):
        made = ModuleText()
        calls = "  %a = call i32 @seven()\n  %b = call i32 @fact()\n  %found = mul i32 %a, %b"
        made.define("kernel", f"@kernel = internal constant [1 x i32] [i32 {number}]")
        for linkage, name, line in (
            ("hidden", "seven", "  %found = add i32 3, 4"),
            ("hidden", "fact", "  %found = load i32, ptr @kernel"),
            ("", "both", calls),
        ):
            code = CodeBuilder(made)
            code.lines = [line, "  ret i32 %found"]
            code.define(f"i32 @{name}()", f"{linkage} noinline")
        machine_code = MachineCode(made.symbols, object_files(made.text()))
        call = ctypes.CFUNCTYPE(ctypes.c_int)(machine_code.address("both"))
        assert call() == 7 * number
    assert len(compiled) == len({*compiled}) == len([*folder.iterdir()]) == 3


def test_what_is_compiled_soon(folder: Path) -> None:
    """The first part, unless it is long; what others have is in the cache."""
    made = module()
    code = CodeBuilder(made)
    code.lines = ["  ret i32 7"]
    code.define("i32 @seven()", "hidden noinline")
    text = made.text()
    own, seven = text.split(PART)
    assert soon_object_files(text, len(own)) is None
    (stored,) = object_files(seven)
    assert soon_object_files(text, len(own) - 1) is None
    found = soon_object_files(text, len(own))
    assert found is not None
    assert found[1] == stored
    assert found == soon_object_files(text, 0)


def test_the_target_is_part_of_the_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDARUN_CPU_TARGET", raising=False)
    first = answer()
    monkeypatch.setenv("CUDARUN_CPU_TARGET", "x86-64-v3")
    assert jit.missing_feature() is None
    assert answer() == first
    assert len([*folder.iterdir()]) == 2


def test_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in TARGETS:
        monkeypatch.setenv("CUDARUN_CPU_TARGET", name)
        assert Engines.invalid_variable() is None
        missing = jit.missing_feature()
        assert missing is None or f"-{missing}" in jit._host()[2]
    monkeypatch.setenv("CUDARUN_CPU_TARGET", "avx")
    assert Engines.invalid_variable() == ("CUDARUN_CPU_TARGET", "native, x86-64-v3, x86-64-v4")
