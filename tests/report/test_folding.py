"""Lines folded between words, and commands that stay commands."""

from __future__ import annotations

import shlex

import pytest

from cudarun.report.folding import fold_command, folded

COMMAND = "cudarun launch k.ptx -d cpu --threads n 'x=f32[n]:iota' 'y={f32:1, i32:2, u8*4:0,0,0,0}'"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_a_folded_command_is_the_same_command(width: int) -> None:
    lines = [*fold_command(COMMAND, width, "  ")]
    pasted = shlex.split("\n".join(lines).replace("\\\n", ""))  # as a shell reads it
    assert [" ".join(word.split()) for word in pasted] == shlex.split(COMMAND)
    assert all(len(line) <= width or len(line.split()) <= 2 for line in lines)
    assert (len(lines) == 1) == (width == 200)


def test_folded_text_keeps_its_indentation() -> None:
    assert folded("  one two three four", 12) == "  one two\n    three\n    four"
    assert folded("short", 60) == "short"
    assert folded("one two three", None) == "one two three"


def test_a_description_stays_in_its_column() -> None:
    assert folded("  size   the size in bytes", 20) == "  size   the size in\n         bytes"


def test_a_word_that_is_too_long_stays_whole() -> None:
    assert folded("a/long/path/to/something", 10) == "a/long/path/to/something"
    assert folded("in a/long/path/to/something else", 10) == (
        "in\n  a/long/path/to/something\n  else"
    )


def test_every_line_is_folded() -> None:
    assert folded("one two\nthree four", 8) == "one two\nthree\n  four"
