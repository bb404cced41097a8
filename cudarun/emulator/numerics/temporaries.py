"""Scratch arrays: how a function over lanes asks for them, so that hot loops allocate nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from cudarun.emulator.numerics.types import TYPES

Function = Callable[..., Any]
T = TypeVar("T", bound=Function)


def temporaries(*names: str) -> Callable[[T], T]:
    """Ask for scratch arrays of these types, shaped like the destination, as last arguments."""
    dtypes = tuple(TYPES[name].dtype for name in names)

    def mark(function: T) -> T:
        return with_temporaries(function, dtypes)

    return mark


def with_temporaries(function: T, dtypes: tuple[np.dtype[Any], ...]) -> T:
    """Let a function ask for scratch arrays."""
    function.temporaries = dtypes  # type: ignore[attr-defined]
    return function


def temporaries_of(function: Function) -> tuple[np.dtype[Any], ...]:
    """The scratch arrays that a function asked for."""
    found: tuple[np.dtype[Any], ...] = getattr(function, "temporaries", ())
    return found
