"""Handles: numbers given out for objects, and the lookup of every number that is passed back.

A handle is never reused, so one of a destroyed object is recognized as such.
"""

from __future__ import annotations

from typing import SupportsInt, TypeVar

from cudarun.emulator.host.refusal import Refusal

T = TypeVar("T")

Handle = SupportsInt | None
"""A handle as the bindings take one: an object of theirs, its number, or ``None`` (0)."""

_FIRST = 0x5CDA_0000_0100  # unlikely as a small constant or an address
_STEP = 0x40


class HandleTable:
    """All live objects that a program has a handle of."""

    def __init__(self) -> None:
        self._objects: dict[int, object] = {}
        self._next = _FIRST

    def add(self, item: object) -> int:
        """Give out a handle for ``item``."""
        handle = self._next
        self._next += _STEP
        self._objects[handle] = item
        return handle

    def remove(self, handle: int) -> None:
        """Invalidate a handle; an invalid one stays so."""
        self._objects.pop(handle, None)

    def is_spent(self, handle: int) -> bool:
        """Return whether a handle belonged to an object that has been destroyed."""
        given_out = _FIRST <= handle < self._next and (handle - _FIRST) % _STEP == 0
        return given_out and handle not in self._objects

    def find(self, handle: int, kind: type[T]) -> T | None:
        """Return the object behind a handle if it is a live ``kind``, else ``None``."""
        item = self._objects.get(handle)
        return item if isinstance(item, kind) else None

    def every(self, kind: type[T]) -> list[T]:
        """Return all live objects of a kind."""
        return [each for each in [*self._objects.values()] if isinstance(each, kind)]

    def get(self, handle: int, kind: type[T], refusal: str = "INVALID_HANDLE") -> T:
        """Return the object behind a handle.

        Raises:
            Refusal: With ``refusal``, where the handle is not one of a live ``kind``.
        """
        item = self.find(handle, kind)
        if item is None:
            raise Refusal(refusal, f"{handle:#x} is not a valid {kind.__name__.lower()} handle")
        return item


def handle_value(handle: Handle) -> int:
    """Return the number in a handle object, an int, or ``None`` (0), as the bindings take them.

    Raises:
        TypeError: It has another type.
    """
    if handle is None:
        return 0
    if isinstance(handle, str | bytes | bytearray | float):
        raise TypeError("an integer is required")
    return int(handle)
