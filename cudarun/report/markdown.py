"""The renderer for pages of CI systems: tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from cudarun.report.renderer import Renderer

if TYPE_CHECKING:
    from cudarun.model.report import Report


class MarkdownRenderer(Renderer):
    """A table in Markdown; only `compare` has one."""

    def end(self, report: Report) -> None:
        """Write the table and the totals."""
        assert report.tag == "compare", "no other command has --format markdown"
        from cudarun.report.timing_tables import COLUMNS, cells, notes, totals

        rows = []
        for case in report.cases:
            *texts, verdict = cells(case)
            rows.append([*texts, f"**{verdict}**" if verdict == "slower" else verdict])
        lines = [f"{_escaped(line)}  " for line in (*notes(report), totals(report))]
        click.echo("\n".join((*table_lines(COLUMNS, rows, _escaped), "", *lines)))


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[str]], escape: Callable[[str], str]
) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    for row in (columns, ["---"] * len(columns), *(map(escape, row) for row in rows)):
        yield f"| {' | '.join(row)} |"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
