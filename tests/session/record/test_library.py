"""The library in the recorded program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.record.parent import build_library
from cudarun.session.workers import c_library


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
