"""What the tests of the compiled engine share; without llvmlite they are skipped."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CACHE", "off")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile at the first decision, and wait for the compiler at the next one."""
    from cudarun.emulator import tiers
    from cudarun.emulator.compiled import engine
    from cudarun.emulator.compiled.engine import KernelCompilation

    monkeypatch.setattr(tiers, "_LOADING", 1e-9)
    costs = [name for name in vars(tiers) if name.startswith("_PER_")]
    for name in ("_COMPILING", "_LARGE", "_INTERVAL", *costs):
        monkeypatch.setattr(tiers, name, 0)
    monkeypatch.setattr(tiers, "_tiers", {})
    monkeypatch.setattr(engine, "_compilations", {})
    is_loaded = KernelCompilation.is_loaded

    def wait(compilation: KernelCompilation) -> bool:
        if compilation._process is not None:
            compilation._process._process.wait()
        return is_loaded(compilation)

    monkeypatch.setattr(KernelCompilation, "is_loaded", wait)
