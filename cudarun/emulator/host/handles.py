"""Handles: numbers given out for objects, and the check of every number that comes back.

A handle is never used again, so one of a destroyed object is recognised as such.
"""

from __future__ import annotations

from typing import SupportsInt, TypeVar

from cudarun.emulator.host.refusal import Refusal

T = TypeVar("T")

Handle = SupportsInt | None
"""A handle as the bindings take one: an object of theirs, its number, or ``None`` (0)."""

_FIRST = 0x5CDA_0000_0100  # nothing that a program would use as a small constant or an address
_STEP = 0x40


class HandleTable:
    """All live objects that a program holds a handle of."""

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
        """Make a handle invalid; one that is invalid already stays so."""
        self._objects.pop(handle, None)

    def is_spent(self, handle: int) -> bool:
        """Whether it was the handle of an object that is no more."""
        given_out = _FIRST <= handle < self._next and (handle - _FIRST) % _STEP == 0
        return given_out and handle not in self._objects

    def find(self, handle: int, kind: type[T]) -> T | None:
        """The object behind a handle, where there is one and it is a ``kind``."""
        item = self._objects.get(handle)
        return item if isinstance(item, kind) else None

    def get(self, handle: int, kind: type[T], refusal: str = "INVALID_HANDLE") -> T:
        """The object behind a handle.

        Raises:
            Refusal: With ``refusal``, where the handle is not one of a live ``kind``.
        """
        item = self.find(handle, kind)
        if item is None:
            raise Refusal(refusal, f"{handle:#x} is not a valid {kind.__name__.lower()} handle")
        return item


def handle_value(handle: Handle) -> int:
    """The number in a handle object, an int, or ``None`` (0), as the bindings take them.

    Raises:
        TypeError: It is none of these.
    """
    if handle is None:
        return 0
    if isinstance(handle, str | bytes | bytearray | float):
        raise TypeError("an integer is required")
    return int(handle)
