"""The location of mismatches: where they lie when they cluster."""

from __future__ import annotations

import math

import numpy as np

from cudarun.arguments.dtypes import Array

_FEW = 3
"""The most rows, or indices of another axis, that are named one by one; the fewest mismatches
whose surroundings mean something."""


class MismatchLocation:
    """A summary of the indices of mismatches, collected chunk by chunk.

    Args:
        shape: The shape of the compared arrays.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._count = 0
        self._first = self._last = 0
        self._step = 0  # the greatest common divisor of the distances
        self._low = [*shape]
        self._high = [-1] * len(shape)
        self._indices: list[set[int]] = [set() for _ in shape]

    def add(self, flat: Array) -> None:
        """Add the flat indices of a chunk's mismatches, in order and at least one."""
        if not self._shape:  # a scalar
            return
        if not self._count:
            self._first = self._last = int(flat[0])
        self._step = math.gcd(self._step, int(np.gcd.reduce(np.diff(flat, prepend=self._last))))
        self._count += len(flat)
        self._last = int(flat[-1])
        for axis, index in enumerate(np.unravel_index(flat, self._shape)):
            self._low[axis] = min(self._low[axis], int(index.min()))
            self._high[axis] = max(self._high[axis], int(index.max()))
            if len(self._indices[axis]) <= _FEW:
                self._indices[axis].update(np.unique(index).tolist())

    def describe(self) -> str | None:
        """Return where all mismatches lie; ``None`` for a single one, or where they are spread."""
        total = math.prod(self._shape)
        if not 1 < self._count < total:
            return None
        if len(self._shape) == 1 and self._last - self._first + 1 == self._count:
            return self._range()
        return self._on_axis() or self._box(total) or self._regular()

    def _range(self) -> str:
        if self._last == self._shape[0] - 1:
            return f"the last {self._count}"
        return "the first " + str(self._count) if not self._first else self._from_to()

    def _from_to(self) -> str:
        return f"[{self._first}] to [{self._last}]"

    def _on_axis(self) -> str | None:
        """Return the few indices of one axis that all mismatches have."""
        if len(self._shape) == 1:
            return None
        for axis, found in enumerate(self._indices):
            if len(found) <= min(_FEW, self._shape[axis] - 1):
                named = ", ".join(map(str, sorted(found)))
                if len(self._shape) == 2:
                    return f"all in {('row', 'column')[axis]}{'s' * (len(found) > 1)} {named}"
                which = "index" if len(found) == 1 else "indices"
                return f"all at {which} {named} of axis {axis}"
        return None

    def _box(self, total: int) -> str | None:
        """Return the smallest box around several mismatches, if it is small, or half and dense."""
        ends = [high + 1 for high in self._high]
        volume = math.prod(end - low for low, end in zip(self._low, ends, strict=True))
        is_dense = 2 * volume <= total and 2 * self._count >= volume
        if self._count < _FEW or not (4 * volume <= total or is_dense):
            return None
        axes = (
            ":" if end - low == size else f"{low}:{end}"
            for low, end, size in zip(self._low, ends, self._shape, strict=True)
        )
        return f"all within [{', '.join(axes)}]"

    def _regular(self) -> str | None:
        """Return the distance between the mismatches, if it is always the same."""
        if self._count < 3 or (self._last - self._first) // self._step + 1 != self._count:
            return None
        index = ", ".join(map(str, np.unravel_index(self._first, self._shape)))
        return f"one in {self._step} from [{index}] on"
