"""Lines folded between words, and commands that stay commands."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import shlex
import struct
import termios

import pytest

from cudarun.report.terminal import columns, fold_command, folded, terminal_width

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


def test_the_width_is_that_of_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 47, 0, 0))
    with os.fdopen(terminal, "w") as stream:
        assert (columns(stream), terminal_width(stream)) == (47, 47)
        monkeypatch.setenv("COLUMNS", "33")
        assert columns(stream) == 33
        monkeypatch.setenv("COLUMNS", "0")
        assert columns(stream) == 47
    os.close(controller)
    assert (columns(io.StringIO()), terminal_width(io.StringIO())) == (80, None)
