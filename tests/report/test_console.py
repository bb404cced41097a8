"""Tables in a pipe: whole rows, and nothing after what stands in them."""

from __future__ import annotations

import re

import pytest
from rich.table import Table
from rich.text import Text

from cudarun.report.console import console

_COLORS = re.compile(r"\x1b\[[\d;]*m")


def _table() -> Table:
    rows = Table(box=None, pad_edge=False, header_style="bold")
    rows.add_column("name")
    rows.add_column("value")
    rows.add_row("a", "a long one  \nx")
    rows.add_row("b", "")
    return rows


@pytest.mark.parametrize("color", [None, True])
def test_no_spaces_at_the_ends_of_lines(
    capsys: pytest.CaptureFixture[str], color: bool | None
) -> None:
    out = console(color)
    out.print(_table())
    out.print(Text("  two  \nlines ").append(" ", style="red"), soft_wrap=True)
    plain = _COLORS.sub("", capsys.readouterr().out)
    assert plain == "name  value\na     a long one\n      x\nb\n  two\nlines\n"


def test_spaces_with_a_background_stay(capsys: pytest.CaptureFixture[str]) -> None:
    console(True).print(Text("x").append("  ", style="on red"), soft_wrap=True)
    assert _COLORS.sub("", capsys.readouterr().out) == "x  \n"


def test_a_terminal_is_left_to_rich(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    console(False).print(Text("x  "), soft_wrap=True)
    assert capsys.readouterr().out == "x  \n"
