"""Groups of equal numbers in arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.machine.lanes import Indices


def groups(numbers: Array) -> Iterator[tuple[int, Indices]]:
    """Yield each number, in ascending order, and the positions at which it is."""
    if len(numbers) == 0:
        return
    if (numbers == numbers[0]).all():
        yield int(numbers[0]), np.arange(len(numbers))
        return
    order = numbers.argsort(kind="stable")
    sorted_numbers = numbers[order]
    ends = (sorted_numbers[1:] != sorted_numbers[:-1]).nonzero()[0] + 1
    start = 0
    for end in [*ends.tolist(), len(order)]:
        yield int(sorted_numbers[start]), order[start:end]
        start = end


def distinct(numbers: Array) -> list[int]:
    """Return the different numbers in ascending order."""
    if len(numbers) and (numbers == numbers[0]).all():
        return [int(numbers[0])]
    return sorted(set(numbers.tolist()))
