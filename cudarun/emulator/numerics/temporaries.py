"""Functions over lanes, and their scratch arrays: declared, so that hot loops allocate nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from cudarun.emulator.numerics.arrays import Array, DType
from cudarun.emulator.numerics.types import TYPES

Function = Callable[..., Any]
T = TypeVar("T", bound=Function)


def result_of(compute: Callable[..., Array]) -> Function:
    """Return the function of a table that writes what ``compute`` returns for the sources."""

    def operate(*arguments: Array) -> None:
        *sources, d = arguments
        np.copyto(d, compute(*sources), casting="unsafe")

    return operate


def temporaries(*names: str) -> Callable[[T], T]:
    """Request scratch arrays of these types, shaped like the destination, as last arguments."""
    dtypes = tuple(TYPES[name].dtype for name in names)

    def mark(function: T) -> T:
        return with_temporaries(function, dtypes)

    return mark


def with_temporaries(function: T, dtypes: tuple[DType, ...]) -> T:
    """Attach the types of the requested scratch arrays to a function."""
    function.temporaries = dtypes  # type: ignore[attr-defined]
    return function


def temporaries_of(function: Function) -> tuple[DType, ...]:
    """Return the types of the scratch arrays that a function requests."""
    return getattr(function, "temporaries", ())
