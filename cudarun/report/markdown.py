"""The renderer for pages of CI systems: tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from cudarun.report.renderer import Renderer

if TYPE_CHECKING:
    from cudarun.model.compare import ComparisonReport
    from cudarun.model.report import Report


class MarkdownRenderer(Renderer):
    """A table in Markdown; only `compare` has one."""

    def end(self, report: Report) -> None:
        """Write the table and the totals."""
        assert report.tag == "compare", "no other command has --format markdown"
        click.echo("\n".join(_lines(report)))


def _lines(report: ComparisonReport) -> Iterator[str]:
    from cudarun.report.compare_tables import COLUMNS, cells, notes, totals

    yield _row(COLUMNS)
    yield _row(["---"] * len(COLUMNS))
    for case in report.cases:
        *texts, verdict = cells(case)
        yield _row([*texts, f"**{verdict}**" if verdict == "slower" else verdict])
    yield ""
    for line in (*notes(report), totals(report)):
        yield f"{_escaped(line)}  "


def _row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, texts))} |"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
