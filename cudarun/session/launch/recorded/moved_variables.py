"""Pointers to variables of the image in recorded bytes: a replay has the variables elsewhere."""

from __future__ import annotations

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.base.records import dataclass

_POINTER = 8  # bytes; pointers are aligned to them


@dataclass(frozen=True, slots=True)
class MovedVariables:
    """The variables of a recording at other addresses than the recorded ones.

    Attributes:
        moves: The recorded address, the size and the new address of each.
    """

    moves: tuple[tuple[int, int, int], ...] = ()

    def apply(self, data: Array, address: int) -> None:
        """Change the pointers to the variables in bytes.

        Args:
            data: The bytes, which are changed in place.
            address: The recorded address of the first one.
        """
        if not self.moves:
            return
        start = -address % _POINTER
        words = data[start : start + (data.size - start) // _POINTER * _POINTER].view(np.uint64)
        recorded = words.copy()
        for old, size, new in self.moves:
            inside = recorded - np.uint64(old) < np.uint64(size)  # wraps around below
            words[inside] = recorded[inside] - np.uint64(old) + np.uint64(new)

    def applied(self, data: bytes) -> bytes:
        """Return parameters with changed pointers."""
        changed = np.frombuffer(data, np.uint8).copy()
        self.apply(changed, 0)
        return changed.tobytes()
