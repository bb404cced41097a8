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
from cudarun.emulator.compiled.jit import MachineCode, object_file
from cudarun.emulator.compiled.lanes.operators import gathered
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


def answer(cache: ResultCache) -> tuple[int, float]:
    made = module()
    code = MachineCode(made.symbols, object_file(made.text(), cache))
    values = np.full(32, 3)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(code.address("answer"))
    return call(values.ctypes.data), float(values.view(np.float64)[31])


def test_a_module_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ResultCache(tmp_path)
    first = answer(cache)
    assert first == (42, 0.75)
    assert len([*tmp_path.iterdir()]) == 1

    def refuse(*given: object) -> bytes:
        raise AssertionError("it is in the cache")

    monkeypatch.setattr(jit, "_compiled", refuse)
    assert answer(cache) == first


def test_a_damaged_entry_is_compiled_again(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    first = answer(cache)
    (entry,) = tmp_path.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[: len(whole) // 2])
    assert cache.load(entry.name) is None
    assert answer(cache) == first
    assert cache.load(entry.name) is not None


def test_processes_share_a_cache(tmp_path: Path) -> None:
    program = (
        "from tests.emulator.compiled.test_cache import answer;"
        "from cudarun.base.cache import ResultCache; from pathlib import Path; import sys;"
        "print(answer(ResultCache(Path(sys.argv[1])))[0])"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate()[0] for process in running] == [b"42\n"] * 2
    assert len([*tmp_path.iterdir()]) == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert answer(ResultCache(file / "kernels"))[0] == 42


def test_without_a_cache() -> None:
    assert answer(ResultCache(None))[0] == 42


def test_the_target_is_part_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ResultCache(tmp_path)
    monkeypatch.delenv("CUDARUN_CPU_TARGET", raising=False)
    first = answer(cache)
    monkeypatch.setenv("CUDARUN_CPU_TARGET", "x86-64-v3")
    assert jit.missing_feature() is None
    assert answer(cache) == first
    assert len([*tmp_path.iterdir()]) == 2


def test_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in TARGETS:
        monkeypatch.setenv("CUDARUN_CPU_TARGET", name)
        assert Engines.invalid_variable() is None
        missing = jit.missing_feature()
        assert missing is None or f"-{missing}" in jit._host()[2]
    monkeypatch.setenv("CUDARUN_CPU_TARGET", "avx")
    assert Engines.invalid_variable() == ("CUDARUN_CPU_TARGET", "native, x86-64-v3, x86-64-v4")
