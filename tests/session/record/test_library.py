"""The library in the recorded program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.record.control import ControlPage, RecordMode
from cudarun.session.record.parent import build_library, recorder_environment
from cudarun.session.workers import c_library
from tests.support.shared_folders import made_once
from tests.support.stub_driver import PTX, build_stub


def test_it_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("CUDA_CACHE_DISABLE", "CUDARUN_CACHE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "first").mkdir()
    built = build_library(tmp_path / "first", ("-O0",))
    assert built.parent == tmp_path / "first"

    def refuse(*command: object, **environment: str) -> None:
        raise AssertionError("it is in the cache")

    (tmp_path / "second").mkdir()
    with monkeypatch.context() as without:
        without.setattr(c_library, "run_compiler", refuse)
        cached = build_library(tmp_path / "second", ("-O0",))
    assert cached.parent == tmp_path / "second"
    assert cached.read_bytes() == built.read_bytes()
    (tmp_path / "cache/cudarun/record").chmod(0o777)  # another user may have planted it
    (tmp_path / "third").mkdir()
    monkeypatch.setattr(c_library, "run_compiler", refuse)
    with pytest.raises(AssertionError):
        build_library(tmp_path / "third", ("-O0",))


@pytest.mark.skipif(not os.statvfs("/proc").f_flag & os.ST_NOEXEC, reason="needs noexec")
def test_a_folder_without_executable_files() -> None:
    with pytest.raises(RequestError, match="no library can be loaded from /proc"):
        build_library(Path("/proc"))


@pytest.mark.parametrize(
    ("task", "wrong"), [("scale", 80), ("packed", 80), ("config", 80), ("graph", 88)]
)
def test_kernels_are_skipped(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, task: str, wrong: int
) -> None:
    stub = made_once(tmp_path_factory, "record-stub", build_stub)
    page = ControlPage(tmp_path / "control", RecordMode.LIST)
    environment = os.environ | recorder_environment(tmp_path) | {"LD_LIBRARY_PATH": str(stub)}
    program = [stub / "program", task, PTX]
    assert subprocess.run(program, env=environment).returncode == 0
    page.skip()
    assert subprocess.run(program, env=environment).returncode == wrong
