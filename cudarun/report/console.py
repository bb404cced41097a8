"""The console, and the parts of tables. Only this package imports rich."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from cudarun.report.terminal import shown

_SPACES_BEFORE_NEWLINE = re.compile(r" +(?=\n)")
_PIPED_WIDTH = 200  # a pipe has no width; wide enough that no row is folded


class _Console(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        """Print, with the control characters of others as escapes on a terminal."""
        super().print(*map(_shown, objects), **options)

    def on_broken_pipe(self) -> None:
        """Raise for `cli.main`, which decides the exit code; rich would exit with 1."""
        raise BrokenPipeError


class _Piped(_Console):
    """A console without the trailing spaces that rich adds to the lines of tables."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Yield the segments of rich without spaces at the ends of lines.

        Spaces with a background are part of a picture.
        """
        spaces: list[Segment] = []  # that end the line, unless more comes
        for segment in super().render(renderable, options):
            if segment.style is not None and segment.style.bgcolor is not None:
                yield from (*spaces, segment)
                spaces = []
                continue
            text = _SPACES_BEFORE_NEWLINE.sub("", segment.text)
            shown = text.rstrip(" ")
            if shown:
                if not shown.startswith("\n"):
                    yield from spaces
                yield Segment(shown, segment.style, segment.control)
                spaces = []
            if shown != text:
                spaces.append(Segment(text[len(shown) :], segment.style))
        yield from spaces


def console(color: bool | None) -> Console:
    """Return a console on stdout; ``None``: colored if it is a terminal."""
    is_terminal = sys.stdout.isatty()
    return (_Console if is_terminal else _Piped)(
        width=None if is_terminal else _PIPED_WIDTH,
        force_terminal=True if color else None,
        no_color=None if color is None else not color,
        highlight=False,
        soft_wrap=False,
    )


class _Table(Table):
    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row, with the control characters of others as escapes on a terminal."""
        super().add_row(*map(_shown, cells), **options)


def _shown(part: Any) -> Any:
    """Return a text as it is shown on stdout; anything else unchanged."""
    if isinstance(part, str):
        return shown(part, sys.stdout)
    if isinstance(part, Text) and (plain := shown(part.plain, sys.stdout)) != part.plain:
        return Text(plain, style=part.style)
    return part


def table(*columns: str) -> Table:
    """Return a table without lines, whose columns are folded rather than cut."""
    rows = _Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        rows.add_column(column, overflow="fold")
    return rows


def extent_text(extent: tuple[int, int, int]) -> str:
    """Return ``256×1×1`` without the trailing ones: ``256``."""
    numbers = [*extent]
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return "×".join(map(str, numbers))
