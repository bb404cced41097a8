"""What the tests of the compiled engine share; without llvmlite they are skipped."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    from cudarun.emulator.compiled import engine

    monkeypatch.setenv("CUDARUN_CACHE", "off")
    monkeypatch.setattr(engine, "_compilations", {})
