"""Text on a terminal: control characters shown or passed on, and lines folded to its width.

Without rich, for errors too.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import TextIO

import click

from cudarun.base.terminal import visible, without_commands

_KEY = "cudarun.raw-output"
_WORKFLOW_KEY = "cudarun.workflow"


def pass_on() -> None:
    """Pass control characters on to terminals, for the rest of the command: ``--raw-output``."""
    click.get_current_context().meta[_KEY] = True


def note_workflow() -> None:
    """Show no workflow commands of others, for the rest of the command: ``--format github``."""
    if context := click.get_current_context(silent=True):
        context.meta[_WORKFLOW_KEY] = True


def shows_controls(stream: TextIO) -> bool:
    """Return whether control characters are shown as escapes on a stream."""
    context = click.get_current_context(silent=True)
    return stream.isatty() and not (context is not None and context.meta.get(_KEY, False))


def shown(text: str, stream: TextIO) -> str:
    """Return a text of others as it is written to a stream."""
    text = visible(text) if shows_controls(stream) else text
    context = click.get_current_context(silent=True)
    is_workflow = context is not None and context.meta.get(_WORKFLOW_KEY, False)
    is_workflow = is_workflow or os.environ.get("GITHUB_ACTIONS") == "true"
    return without_commands(text) if is_workflow else text


# --- folding between words -----------------------------------------------------------------------


_DEFAULT_COLUMNS = 80
_INDENT = "    "
_COLUMN = r" *\S+(?: \S+)* {2,}(?=\S)"  # a term, up to its description


def terminal_width(stream: TextIO) -> int | None:
    """Return the columns of the terminal that a stream writes to; ``None`` if it is no terminal."""
    return columns(stream) if stream.isatty() else None


def columns(stream: TextIO) -> int:
    """Return the columns of a stream: of ``COLUMNS``, else of its terminal, else 80.

    ``shutil.get_terminal_size`` measures stdout, which may be redirected.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_COLUMNS
    except OSError:  # no terminal; io.UnsupportedOperation, of a stream without a file, is one
        return _DEFAULT_COLUMNS


def folded(text: str, width: int | None) -> str:
    """Return a text whose lines are folded between words; a command stays one that can be pasted.

    Words longer than the width stay whole, for a terminal to fold. ``None`` folds nothing.
    """
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _parts(line, width))


def fold_command(command: str, width: int, indent: str = "") -> Iterator[str]:
    r"""Yield the lines of a shell command, with ``\`` where it continues."""
    words = [shlex.quote(word) for word in shlex.split(command)]
    line = indent + words[0]
    for number, word in enumerate(words[1:], start=2):
        room = width if number == len(words) else width - 2
        if len(line) + 1 + len(word) > room:
            yield f"{line} \\"
            line = f"{indent}{_INDENT}"
            if len(line) + len(word) > room:  # a struct, in which line breaks are spaces
                *lines, word = fold_words(word.split(" "), room - len(line))
                yield from (line + each for each in lines)
            line += word
        else:
            line += f" {word}"
    yield line


def fold_words(words: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines of words that are joined by single spaces."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def ranges(numbers: Sequence[int], separator: str = ",") -> str:
    """Return ascending numbers as text: ``0-15,17``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return separator.join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


def _parts(line: str, width: int) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip())]
    if len(line) > width and line.lstrip().startswith("cudarun "):
        yield from fold_command(line, width, indent)
        return
    if len(line) > width:  # what stands in a column stays in it, where there is room
        column = re.match(_COLUMN, line)
        room = width * 3 // 5
        indent = indent[:room]
        line = indent + line.lstrip()
        indent = " " * column.end() if column and column.end() <= room else f"{indent}  "
    rest = line
    while len(rest) > width:
        start = len(rest) - len(rest.lstrip())
        cut = rest.rfind(" ", start + 1, width + 1)
        if cut == -1:
            cut = rest.find(" ", width)
        if cut == -1 or not rest[cut:].strip():
            break
        yield rest[:cut].rstrip()
        rest = f"{indent}{rest[cut:].lstrip()}"
    yield rest
