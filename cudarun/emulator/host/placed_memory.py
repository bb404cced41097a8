"""Device memory at given addresses, for launches that were recorded on another device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cudarun.emulator.memory import Allocation, Memory, OutOfMemory

_NEAR = 1 << 30  # allocations with smaller gaps share an arena, whose unused pages take no memory
_ALIGNMENT = 4096


class PlacedMemory(Memory):
    """Allocations at given addresses that are near each other.

    Args:
        ranges: Their addresses and sizes, by address.
    """

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        first, (last, last_size) = ranges[0][0], ranges[-1]
        base = first // _ALIGNMENT * _ALIGNMENT
        super().__init__(base, last + last_size - base)
        self._reserve()
        for address, size in ranges:
            view = self._arena[address - base : address - base + size]
            self._live.append(Allocation(address, size, "recorded memory", view))
            self.used += size


def place(ranges: Sequence[tuple[int, int]]) -> list[PlacedMemory]:
    """Allocate memory at given addresses; each range is an allocation of its own."""
    groups: list[list[tuple[int, int]]] = []
    for address, size in sorted(ranges):
        if not groups or address - sum(groups[-1][-1]) > _NEAR:
            groups.append([])
        groups[-1].append((address, size))
    return [*map(PlacedMemory, groups)]


@contextmanager
def limits_of_host() -> Iterator[None]:
    """Raise `MemoryError` where the host has no addresses left: no call answers here."""
    try:
        yield
    except OutOfMemory as error:
        raise MemoryError(str(error)) from None
