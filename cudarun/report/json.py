"""The renderers for scripts: one JSON document on stdout, or one in each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cudarun.base.terminal import escaped
from cudarun.report.renderer import Renderer

# json and the documents are imported with the report: they would delay the start of the work.
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cudarun.base.errors import CudarunError
    from cudarun.model.report import Part, Report


class JsonRenderer(Renderer):
    """One JSON document, ``{"schema": "cudarun/<command>/1", "exit_code": …, "error": …}``."""

    owns_stdout = True

    def prepare(self) -> None:
        """Import what writes the document."""
        import json  # noqa: F401

        import cudarun.model.documents  # noqa: F401

    def end(self, report: Report) -> None:
        """Write the document."""
        from cudarun.model.documents import document

        click.echo(_text(document(report)))


class JsonLinesRenderer(Renderer):
    """A line with a JSON document for each case of a spec, each candidate, and the totals."""

    owns_stdout = True
    streams = True

    def add(self, part: Part) -> None:
        """Write the line of a case."""
        if part.tag == "case":
            from cudarun.model.documents import line_document

            click.echo(_text(line_document(part), None))

    def end(self, report: Report) -> None:
        """Write the lines of the candidates, and that of the totals."""
        if report.tag == "launch-spec":
            from dataclasses import replace

            from cudarun.model.documents import document, line_document, plain

            for candidate in report.candidates:
                click.echo(_text(line_document(candidate), None))
            totals = document(replace(report, cases=())) | {"exit_code": int(report.exit_code)}
            click.echo(_text(totals | {"error": plain(report.error)}, None))


def error_text(command: str, error: CudarunError) -> str:
    """Return the JSON text of a command that ended in an error before there was a report."""
    from cudarun.model.documents import error_document

    return _text(error_document(command, error))


def _text(document: Mapping[str, object], indent: int | None = 2) -> str:
    import json

    return escaped(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False))
