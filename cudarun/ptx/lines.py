"""The lines of a text, which only a line feed ends: positions of offsets, and lines by number."""

from __future__ import annotations

from cudarun.ptx.tree import Position


class Lines:
    """The lines of a text, to convert an offset to a position.

    Offsets are looked up in ascending order at little cost: the search continues at the last one.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._line = 1
        self._start = 0  # the offset of that line

    def position(self, offset: int) -> Position:
        """Return the line and column, both from 1, of the character at ``offset``."""
        if offset < self._start:
            self._offset, self._line, self._start = 0, 1, 0
        ended = self._text.count("\n", self._offset, offset)
        if ended:
            self._line += ended
            self._start = self._text.rfind("\n", self._offset, offset) + 1
        if offset > self._offset or ended:
            self._offset = offset
        return Position(self._line, offset - self._start + 1)


class SourceLines:
    """The lines of a text by number, without their ends.

    The text is not split: the next line is found from the last one that was asked for.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._first()

    def _first(self) -> None:
        self._number = 1
        self._start, self._end = 0, self._text.find("\n")  # of that line; -1 of the last one

    def __getitem__(self, number: int) -> str:
        """Return a line by its number, from 1.

        Raises:
            IndexError: The text has fewer lines.
        """
        if number < self._number:
            self._first()
        while self._number < number:
            if self._end < 0:
                raise IndexError(number)
            self._number, self._start = self._number + 1, self._end + 1
            self._end = self._text.find("\n", self._start)
        line = self._text[self._start : self._end if self._end >= 0 else None]
        return line.removesuffix("\r")
