"""An expression's value as it is shown: rounded, as text, and as Python numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudarun.arguments.dtypes import Array, NumpyValue
from cudarun.arguments.types import SCALARS, ScalarType
from cudarun.model.checks import NEVER_WRITTEN


def presented(value: NumpyValue, precision: ScalarType | None) -> NumpyValue:
    """Round a computed value to ``precision``, the precision of its operands."""
    if value.dtype == np.float64 and precision and precision != SCALARS["f64"]:
        return value.astype(np.float32)
    return value


def without_unwritten(value: NumpyValue, unwritten: Array | None) -> tuple[str, object]:
    """Return the text of a value, and the value as Python numbers in nested lists.

    Args:
        unwritten: Which of its elements were never written: they have no value, and are ``None``
            in lists.
    """
    if unwritten is None or not unwritten.any():
        return str(value), value.tolist()
    unwritten = np.broadcast_to(unwritten, np.shape(value))
    if not np.ndim(value):
        return NEVER_WRITTEN, None
    shown = np.empty(value.shape, object)
    for index, each in np.ndenumerate(value):
        shown[index] = NEVER_WRITTEN if unwritten[index] else str(each)
    return np.array2string(shown, formatter={"object": str}), _listed(value, unwritten)


def _listed(value: Any, unwritten: Array) -> object:
    if np.ndim(value):
        return [_listed(*each) for each in zip(value, unwritten, strict=True)]
    return None if unwritten else value.tolist()
