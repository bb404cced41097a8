"""Sets of lanes: a slice if they are contiguous, else a sorted array of indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cudarun.emulator.numerics.arrays import Array

Indices = npt.NDArray[np.intp]
Lanes = slice | Indices


def count(lanes: Lanes) -> int:
    """Return the number of lanes."""
    if isinstance(lanes, slice):
        return int(lanes.stop - lanes.start)
    return len(lanes)


def first(lanes: Lanes) -> int:
    """Return the lowest lane."""
    return int(lanes.start if isinstance(lanes, slice) else lanes[0])


def last(lanes: Lanes) -> int:
    """Return the highest lane."""
    return int(lanes.stop - 1 if isinstance(lanes, slice) else lanes[-1])


def contains(lanes: Lanes, lane: int) -> bool:
    """Return whether a lane is among some."""
    if isinstance(lanes, slice):
        return bool(lanes.start <= lane < lanes.stop)
    position = int(np.searchsorted(lanes, lane))
    return position < len(lanes) and int(lanes[position]) == lane


def indices(lanes: Lanes) -> Indices:
    """Return the lanes as an array."""
    if isinstance(lanes, slice):
        return np.arange(lanes.start, lanes.stop, dtype=np.intp)
    return lanes


def pick(lanes: Lanes, positions: Indices) -> Indices:
    """Return the lanes at some positions of a set."""
    return positions + lanes.start if isinstance(lanes, slice) else lanes[positions]


def of(positions: Indices) -> Lanes:
    """Return a set from sorted indices."""
    length = len(positions)
    if length and positions[-1] - positions[0] == length - 1:
        return slice(int(positions[0]), int(positions[0]) + length)
    return positions


def union(parts: Sequence[Lanes]) -> Lanes:
    """Return the union of disjoint sets."""
    if len(parts) == 1:
        return parts[0]
    lowest = min(map(first, parts))
    highest = max(map(last, parts))
    if sum(map(count, parts)) == highest - lowest + 1:
        return slice(lowest, highest + 1)
    together = np.concatenate([indices(part) for part in parts])
    together.sort(kind="stable")  # sorted runs: merges
    return together


def select(lanes: Lanes, chosen: npt.NDArray[np.bool_]) -> Lanes:
    """Return the lanes for which ``chosen``, one value per lane of the set, is true."""
    positions = np.flatnonzero(chosen)
    if isinstance(lanes, slice):
        positions += lanes.start
        return of(positions)
    return of(lanes.take(positions))


def values(array: Array, lanes: Lanes) -> Array:
    """Return the items of an array over all lanes; an array of one item is broadcast."""
    if len(array) == 1:
        return np.broadcast_to(array, (count(lanes), *array.shape[1:]))
    return array[lanes]


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
