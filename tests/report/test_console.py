"""Tables that fit any width: columns folded between words, or lists."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cudarun.report.console import FittingTable, print_unfolded


def shown(rows: Table, width: int) -> list[str]:
    """The lines of a table."""
    text = io.StringIO()
    Console(file=text, width=width).print(rows)
    return [line.rstrip() for line in text.getvalue().splitlines()]


@pytest.fixture
def rows() -> Table:
    rows = FittingTable("device", "name", "memory")
    rows.add_row("cpu", "the emulated device", "12 GiB")
    rows.add_row("0", "a GPU", "")
    return rows


def test_a_wide_table(rows: Table) -> None:
    assert shown(rows, 80) == [
        "device  name                 memory",
        "cpu     the emulated device  12 GiB",
        "0       a GPU",
    ]


def test_the_plain_lines_of_a_table_are_those_of_rich() -> None:
    rows = FittingTable("variable", "size", "type", numbers=True)
    rows.add_row("scale\n  _Z5scalef", "4", "f32")
    rows.add_row("größe 寸法", "1024", "")
    rows.add_row(Text("[bold]\x1b"), "16", "b8")
    for width in (200, 40):
        lines = rows.plain_lines(width)
        assert lines is not None
        assert [line.rstrip() for line in lines] == shown(rows, width)
    assert rows.plain_lines(20) is None
    unnamed = FittingTable("a", "b", show_header=False)
    unnamed.add_row("1", "2")
    assert [*(unnamed.plain_lines(80) or ())] == shown(unnamed, 80) == ["1  2"]


def test_columns_are_folded_between_words(rows: Table) -> None:
    assert shown(rows, 28) == [
        "device  name          memory",
        "cpu     the emulated  12 GiB",
        "        device",
        "0       a GPU",
    ]


def test_rows_become_lists_where_the_words_do_not_fit(rows: Table) -> None:
    assert shown(rows, 20) == [
        "device cpu",
        "  name    the",
        "          emulated",
        "          device",
        "  memory  12 GiB",
        "device 0",
        "  name    a GPU",
    ]


def test_a_long_word_of_a_list_stands_below_its_name() -> None:
    rows = FittingTable("name", "a long header")
    rows.add_row("x", "0123456789")
    assert shown(rows, 15) == ["name x", "  a long header", "    0123456789"]


def test_numbers_are_aligned_to_the_right() -> None:
    rows = FittingTable("name", "count", numbers=True)
    rows.add_row("x", "7")
    assert shown(rows, 40) == ["name  count", "x         7"]


def test_markup_in_a_cell_is_text() -> None:
    rows = FittingTable("name")
    rows.add_row("[bold]x")
    assert shown(rows, 40) == ["name", "[bold]x"]


def test_a_picture_is_not_folded() -> None:
    text = io.StringIO()
    print_unfolded(Console(file=text, width=5), Text("ab cd ef"))
    assert text.getvalue() == "ab cd ef\n"
