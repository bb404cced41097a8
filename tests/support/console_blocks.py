"""Shell commands as documents show them: in fenced ``console`` blocks, a ``$`` before each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^\s*```\s*(?P<info>.*?)\s*$")
_FILE = re.compile(r"`(?P<name>[\w./-]+)`:$")


@dataclass(frozen=True, slots=True)
class Command:
    """One command and the output shown under it.

    Attributes:
        line: Line of the document the command starts on, from 1.
        text: The command as a shell takes it, continuation lines joined, without the ``$``.
        output: The lines under it, as shown.
        block: The line of the document that the command's block starts on.
        is_run: The block is not marked ``console not-run``, for example for want of a GPU.
        after: The first line of text after the block; empty at the end of the document.
    """

    line: int
    text: str
    output: tuple[str, ...]
    after: str
    block: int
    is_run: bool


def commands(document: str) -> Iterator[Command]:
    """Every command of every ``console`` block in a Markdown document, in order.

    A line that ends in a backslash goes on in the next. A line without ``$`` is output, except
    that the first line of a block may leave the ``$`` out.
    """
    lines = document.splitlines()
    for start, end, info in _blocks(lines):
        if info.partition(" ")[0] == "console":
            after = next((line for line in lines[end + 1 :] if line.strip()), "")
            is_run = info != "console not-run"
            yield from _commands_of_block(lines[start:end], start + 1, after, is_run)


def files(document: str) -> dict[str, str]:
    """Return the files that a document shows: each block below a line that ends in ```NAME`:``."""
    lines = document.splitlines()
    found = {}
    for start, end, _ in _blocks(lines):
        title = next((line for line in reversed(lines[: start - 1]) if line.strip()), "")
        if name := _FILE.search(title):
            found[name["name"]] = "".join(f"{line}\n" for line in lines[start:end])
    return found


def _blocks(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """First line within, closing line and info string of each fenced block, as indices."""
    opened: tuple[int, str] | None = None
    for index, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if opened is None:
            opened = index, fence["info"]
        else:
            start, info = opened
            opened = None
            yield start + 1, index, info


def _commands_of_block(
    block: list[str], first_line: int, after: str, is_run: bool
) -> Iterator[Command]:
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
        yield Command(first_line + start, text, tuple(output), after, first_line, is_run)
