"""Tiers whose decisions depend neither on the machine's speed nor on its load."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import count
from typing import Any

from cudarun.emulator.costs import Clock, Costs
from cudarun.emulator.tiers import Tiers

_NOTHING = dict.fromkeys((field.name for field in fields(Costs)), 0.0)
_FREE = Costs(**{**_NOTHING, "loading": 1e-9, "per_work": 1.0, "batch": 1.0})


def eager(clock: Clock | None = None, **costs: Any) -> Tiers:
    """Tiers that compile at the first decision, and wait for the compiler.

    Args:
        clock: Measures times; by default, a second passes before each look at it.
        costs: The costs that are not 0, by their names in `Costs`.
    """
    return Tiers(replace(_FREE, **costs), clock or count().__next__, waits=True)


def patient() -> Tiers:
    """Tiers that never compile: no time passes."""
    return Tiers(clock=lambda: 0.0)
