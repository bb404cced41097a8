"""The types of arrays, and the values in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]  # an array of any type

DType = np.dtype[Any]  # the type of the elements of any array

Arrays = tuple[Array, ...]  # the registers of several operands, for example

Mask = npt.NDArray[np.bool_]  # an array of truth values


def distinct(values: Array) -> Array:
    """Return the values of an array in order; `numpy.unique` imports `numpy.ma` for that."""
    ordered = np.sort(values, axis=None)
    is_new = np.ones(ordered.shape, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
