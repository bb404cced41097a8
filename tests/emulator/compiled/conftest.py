"""What the tests of the compiled engine share; without llvmlite they are skipped."""

from __future__ import annotations

import os

import pytest

from tests.support.shared_folders import made_once

pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")


@pytest.fixture(autouse=True)
def kernel_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """LLVM compiles a module once for all tests; launches find no cache, and wait for it."""
    from cudarun.emulator.compiled import engine

    soon, shared = engine.soon_object_files, made_once(tmp_path_factory, "kernels")

    def soon_without_cache(text: str, most: int) -> list[bytes] | None:
        with monkeypatch.context() as without:
            if os.environ.get("XDG_CACHE_HOME") == str(shared):
                without.setenv("CUDARUN_CACHE", "off")
            return soon(text, most)

    for name in ("CUDARUN_CACHE", "CUDA_CACHE_DISABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    monkeypatch.setattr(engine, "soon_object_files", soon_without_cache)
    monkeypatch.setattr(engine, "_compilations", {})
