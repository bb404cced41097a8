"""Advice on managed memory, and requests to prefetch it: driver API, section 6.17.

It has no effect here, but a program can ask for it.
"""

from __future__ import annotations

from collections.abc import Hashable


class Advice:
    """The advice on an allocation, each on a range of it."""

    def __init__(self) -> None:
        self._given: list[tuple[int, int, Hashable, Hashable]] = []

    def give(self, address: int, size: int, topic: Hashable, value: Hashable) -> None:
        """Note a value for a range; it replaces earlier ones."""
        end = address + size
        self._given = [
            each for each in self._given if each[2] != topic or each[0] < address or each[1] > end
        ]
        self._given.append((address, end, topic, value))

    def of(self, address: int, size: int, topic: Hashable) -> set[Hashable]:
        """Return the values within a range; ``None`` where there is none."""
        given = [each for each in self._given if each[2] == topic]
        edges = {edge for start, end, *_ in given for edge in (start, end)}
        starts = [address, *(edge for edge in edges if address < edge < address + size)]
        return {
            next((value for a, b, _, value in reversed(given) if a <= start < b), None)
            for start in starts
        }
