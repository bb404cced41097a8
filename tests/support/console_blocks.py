"""Shell commands as documents show them: in fenced ``console`` blocks, a ``$`` before each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^\s*```\s*(?P<language>\S*)")


@dataclass(frozen=True, slots=True)
class Command:
    """One command and the output shown under it.

    Attributes:
        line: Line of the document the command starts on, from 1.
        text: The command as a shell takes it, continuation lines joined, without the ``$``.
        output: The lines under it, as shown.
        after: The first line of text after the block; empty at the end of the document.
    """

    line: int
    text: str
    output: tuple[str, ...]
    after: str


def commands(document: str) -> Iterator[Command]:
    """Every command of every ``console`` block in a Markdown document, in order.

    A line that ends in a backslash goes on in the next. A line without ``$`` is output, except
    that the first line of a block may leave the ``$`` out.
    """
    lines = document.splitlines()
    for start, end in _console_blocks(lines):
        after = next((line for line in lines[end + 1 :] if line.strip()), "")
        yield from _commands_of_block(lines[start:end], start + 1, after)


def _console_blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First line within and closing line of each ``console`` block, as indices."""
    opened: tuple[int, str] | None = None
    for index, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if opened is None:
            opened = index, fence["language"]
        else:
            start, language = opened
            opened = None
            if language == "console":
                yield start + 1, index


def _commands_of_block(block: list[str], first_line: int, after: str) -> Iterator[Command]:
    index = 0
    while index < len(block):
        start = index
        text = block[index].strip().removeprefix("$ ")
        while text.endswith("\\") and index + 1 < len(block):
            index += 1
            text = f"{text[:-1].rstrip()} {block[index].strip()}"
        index += 1
        output = []
        while index < len(block) and not block[index].lstrip().startswith("$ "):
            output.append(block[index])
            index += 1
        yield Command(first_line + start, text, tuple(output), after)
