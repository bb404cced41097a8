"""The console, and the parts of tables. Only this package imports rich."""

from __future__ import annotations

import os
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any, TypeAlias

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from cudarun.base.terminal import one_line
from cudarun.report.terminal import shown

_SPACES_BEFORE_NEWLINE = re.compile(r" +(?=\n)")
_INDENT = 4
_MOST_DIGITS = 5  # of the width of a terminal
_PIPED_WIDTH = 200  # a pipe has no width; wide enough that no row is folded


class _Console(Console):
    """A console whose long lines are folded between words, as those of its tables are."""

    def print(self, *objects: Any, soft_wrap: bool | None = None, **options: Any) -> None:
        """Print, with the control characters of others as escapes on a terminal.

        With ``soft_wrap`` it is one line, whatever names are in it. It is folded only on a
        terminal, and no word is cut.
        """
        if soft_wrap:
            objects = tuple(_replaced(each, one_line) for each in objects)
        if soft_wrap and self.is_terminal:
            soft_wrap = False
        out = sys.stderr if self.stderr else sys.stdout
        objects = tuple(_replaced(each, lambda text: shown(text, out)) for each in objects)
        super().print(*objects, soft_wrap=soft_wrap, **options)

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


def console(color: bool | None, *, stderr: bool = False) -> Console:
    """Return a console on stdout or stderr; ``None``: colored if it is a terminal."""
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    # Python converts no number of 5,000 digits.
    ignored = [n for n in ("COLUMNS", "LINES") if len(os.environ.get(n, "")) > _MOST_DIGITS]
    return (_Console if is_terminal else _Piped)(
        stderr=stderr,
        width=None if is_terminal else _PIPED_WIDTH,
        force_terminal=True if color else None,
        no_color=None if color is None else not color,
        highlight=False,
        soft_wrap=False,
        _environ=ChainMap(dict.fromkeys(ignored, ""), os.environ) if ignored else os.environ,
    )


def _replaced(part: object, replace: Callable[[str], str]) -> Any:
    """Return a text with other characters; anything else unchanged."""
    if isinstance(part, str):
        return replace(part)
    if isinstance(part, Text) and (plain := replace(part.plain)) != part.plain:
        return Text(plain, style=part.style)
    return part


Part: TypeAlias = str | Text | tuple[str, str]
"""A part of a line: a text, which can be beside its style."""

PASSED: Part = ("PASS ", "green")  # the word that begins the line of something that passed
FAILED: Part = ("FAIL ", "red bold")  # the word that begins the line of something that failed
NOTE: Part = ("note ", "yellow")  # the word that begins a note


def print_line(out: Console, *parts: Part) -> None:
    """Print parts as one line, which is folded between words on a terminal only."""
    texts = (part[0] if isinstance(part, tuple) else str(part) for part in parts)
    if not out.is_terminal and (line := "".join(texts)).isprintable():
        print_plain(out, [line])
    else:
        out.print(Text.assemble(*parts), soft_wrap=True)


def print_unfolded(out: Console, text: Text, end: str = "\n") -> None:
    """Print a text as it is: a picture, a command, or what a kernel printed."""
    out.print(text, no_wrap=True, overflow="ignore", crop=False, end=end)


def print_plain(out: Console, lines: Iterable[str]) -> None:
    """Write lines to a pipe, which has neither styles nor a width; rich takes 0.1 ms for each."""
    out.file.write("".join(f"{shown(line, sys.stdout).rstrip(' ')}\n" for line in lines))


class FittingTable(Table):
    """A table without lines whose columns are folded between words only.

    Where the longest words of a row do not fit beside each other, each row is a list of its columns
    with their names.
    """

    def __init__(self, *columns: str, numbers: bool = False, show_header: bool = True) -> None:
        super().__init__(box=None, pad_edge=False, header_style="bold", show_header=show_header)
        for index, column in enumerate(columns):
            self.add_column(column, justify="right" if index and numbers else "left")

    def add_row(self, *cells: object, **options: Any) -> None:
        """Add a row; a string in it has no markup, and control characters are shown."""
        texts = (_replaced(each, lambda text: shown(text, sys.stdout)) for each in cells)
        super().add_row(*("" if each is None else _text(each) for each in texts), **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose the widths of the columns, or lists instead."""
        gap = self.padding[1] + self.padding[3]
        needed = [_widths(column) for column in self.columns]
        free = options.max_width - gap * (len(needed) - 1) - sum(least for least, _ in needed)
        if free < 0:
            # The rows as lists: the first column is the head, the others stand below it.
            headers = [_text(column.header) for column in self.columns]
            names = max(map(len, headers[1:]), default=0)
            for row in zip(*(map(_text, column.cells) for column in self.columns), strict=True):
                for number, (header, cell) in enumerate(zip(headers, row, strict=True)):
                    if number and not cell.plain:
                        continue
                    label = Text(f"  {header.plain:{names}}  " if number else f"{header} ".lstrip())
                    label.stylize("bold")
                    yield from hanging(label, cell, console, options.max_width)
            return
        for column, (least, most) in zip(self.columns, needed, strict=True):
            column.width = min(most, least + free)
            free -= column.width - least
        yield from super().__rich_console__(console, options)

    def plain_lines(self, width: int) -> Iterator[str] | None:
        """Return the lines without styles; ``None`` if a cell has to be folded."""
        gap = " " * (self.padding[1] + self.padding[3])
        widths = [most for _, most in map(_widths, self.columns)]
        if sum(widths) + len(gap) * (len(widths) - 1) > width:
            return None
        rows = zip(*(map(_text, column.cells) for column in self.columns), strict=True)
        headers = [[_text(column.header) for column in self.columns]] if self.show_header else []
        return (
            gap.join(
                " " * (most - cell_len(part)) + part
                if column.justify == "right"
                else part + " " * (most - cell_len(part))
                for column, part, most in zip(self.columns, parts, widths, strict=True)
            )
            for row in (*headers, *rows)
            for parts in zip_longest(*(cell.plain.split("\n") for cell in row), fillvalue="")
        )


def hanging(label: Text, cell: Text, out: Console, width: int) -> Iterator[Text]:
    """Yield the lines of a text beside its label; below the label if a word does not fit there."""
    room = width - len(label)
    if _longest_word(cell) > room:
        yield label
        indent = min(_INDENT, max(0, width - _longest_word(cell)))
        label, room = Text(" " * indent), width - indent
    for line in cell.wrap(out, room):
        yield label + line
        label = Text(" " * len(label))


def _widths(column: Column) -> tuple[int, int]:
    """Return the width of the longest word of a column, and that of its longest cell."""
    texts = [_text(each) for each in (column.header, *column.cells)]
    lines = [line for text in texts for line in text.plain.split("\n")]
    return max(map(_longest_word, texts)), max(map(cell_len, lines))


def _longest_word(text: Text) -> int:
    """Return the width of the longest word; the first one has its indentation."""
    indent = len(text.plain) - len(text.plain.lstrip())
    words = text.plain.split()
    return max((cell_len(word) + indent * (not n) for n, word in enumerate(words)), default=0)


def _text(cell: object) -> Text:
    return cell.copy() if isinstance(cell, Text) else Text(str(cell))


def extent_text(extent: tuple[int, int, int]) -> str:
    """Return ``256×1×1`` without the trailing ones: ``256``."""
    numbers = [*extent]
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return "×".join(map(str, numbers))
