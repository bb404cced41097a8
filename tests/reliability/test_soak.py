"""Many cases in one spec, with a fault every tenth; on hardware it is done a thousand times."""

from __future__ import annotations

import pytest

from tests.support.soak import GROWTH, soak


def test_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    soaked = soak(30, "cpu:all")
    assert soaked.problems == ()
    assert len(soaked.memory) == 60
    assert soaked.growth < GROWTH
