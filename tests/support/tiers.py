"""Tiers that compile at once, or never."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from cudarun.emulator.tiers import Thresholds, Tiers

_FREE = Thresholds(least=1, per_operation=0, interval=0, batch=1, detectors=1)


def eager(**thresholds: Any) -> Tiers:
    """Tiers that compile at the first decision, and wait for the compiler.

    Args:
        thresholds: Other thresholds, by their names in `Thresholds`.
    """
    return Tiers(replace(_FREE, **thresholds), waits=True)


def patient() -> Tiers:
    """Tiers that never compile."""
    return Tiers(Thresholds(least=inf))
