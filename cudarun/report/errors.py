"""Errors and diagnostics on stderr, written without rich."""

from __future__ import annotations

import click

from cudarun.diagnostics.entries import SERIOUS, Diagnostic
from cudarun.diagnostics.errors import Diagnosed
from cudarun.errors import CudarunError

_COLORS = {"fatal": "red", "error": "red", "warning": "magenta", "info": "cyan", "note": "cyan"}


def show_error(error: CudarunError) -> None:
    """Write an error on stderr: what happened, where, the log, and what to do about it."""
    where = ", ".join(f"{key} {value}" for key, value in error.context.items())
    click.echo(click.style("error: ", fg="red", bold=True) + str(error), err=True)
    if where:
        click.echo(f"  in {where}", err=True)
    if isinstance(error, Diagnosed) and error.diagnostics:
        for diagnostic in error.diagnostics:
            show_diagnostic(diagnostic)
    elif error.log:
        click.echo("\n".join(f"  | {line}" for line in error.log.splitlines()), err=True)
    if isinstance(error, Diagnosed) and error.explanation:
        click.echo(error.explanation, err=True)
    if error.hint:
        click.echo(click.style("hint: ", fg="cyan", bold=True) + error.hint, err=True)


def show_diagnostic(diagnostic: Diagnostic) -> None:
    """Write a diagnostic on stderr as a compiler does: place, message, source line, caret."""
    place = f"{diagnostic.place}: " if diagnostic.place else ""
    color = _COLORS[diagnostic.severity]
    grade = click.style(f"{diagnostic.severity}: ", fg=color, bold=diagnostic.severity in SERIOUS)
    click.echo(click.style(place, bold=True) + grade + diagnostic.message, err=True)
    if diagnostic.source is None or diagnostic.line is None:
        return
    # Tabs become one column wide, as the column of the caret counts them.
    source, column = _clipped(diagnostic.source.replace("\t", " "), diagnostic.column)
    number = f"{diagnostic.line:6d}"
    click.echo(f"{number} | {source}", err=True)
    if column is not None:
        caret = "^" + "~" * min(diagnostic.width - 1, len(source) - column)
        space = " " * (column - 1)
        click.echo(f"{' ' * len(number)} | {space}{click.style(caret, fg=color)}", err=True)


_LONGEST_LINE = 160


def _clipped(source: str, column: int | None) -> tuple[str, int | None]:
    """Return a line of source, cut to a readable length, and the column in it."""
    if len(source) <= _LONGEST_LINE:
        return source, column
    start = max(0, min((column or 1) - _LONGEST_LINE // 2, len(source) - _LONGEST_LINE))
    before, after = "…" if start else "", "…" if start + _LONGEST_LINE < len(source) else ""
    shown = before + source[start + len(before) : start + _LONGEST_LINE - len(after)] + after
    return shown, None if column is None else column - start
