"""Scratch arrays, which are reused instead of being allocated."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudarun.emulator.numerics.arrays import Array


class Scratch:
    """Numbered arrays per type, for ``lanes`` lanes each.

    Allocating a large array takes a hundred times as long as an operation on it, because the system
    has to find and clear its pages.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._arrays: dict[tuple[np.dtype[Any], int], Array] = {}

    def take(self, dtype: np.dtype[Any], index: int, count: int, elements: int = 1) -> Array:
        """Return ``count`` items of one array; two-dimensional for several ``elements``."""
        key = (dtype, index)
        array = self._arrays.get(key)
        if array is None or len(array) < count * elements:
            array = np.empty(max(self._lanes, count) * elements, dtype=dtype)
            self._arrays[key] = array
        found = array[: count * elements]
        return found if elements == 1 else found.reshape(count, elements)
