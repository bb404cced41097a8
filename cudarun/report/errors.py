"""Errors and diagnostics on stderr, written without rich."""

from __future__ import annotations

import sys

import click

from cudarun.diagnostics.entries import SERIOUS, Diagnostic
from cudarun.diagnostics.errors import Diagnosed
from cudarun.errors import CudarunError, excerpt, shortened
from cudarun.report.terminal import shown

_COLORS = {"fatal": "red", "error": "red", "warning": "magenta", "info": "cyan", "note": "cyan"}


def show_error(error: CudarunError) -> None:
    """Write an error on stderr: what happened, where, the log, and what to do about it."""
    where = ", ".join(f"{key} {value}" for key, value in error.context.items())
    click.echo(click.style("error: ", fg="red", bold=True) + _shown(str(error)), err=True)
    if where:
        click.echo(_shown(f"  in {where}"), err=True)
    if isinstance(error, Diagnosed) and error.diagnostics:
        for diagnostic in error.diagnostics:
            show_diagnostic(diagnostic)
    elif error.log:
        lines = (f"  | {line}" for line in error.log.splitlines())
        click.echo(_shown("\n".join(lines)), err=True)
    if isinstance(error, Diagnosed) and error.explanation:
        click.echo(_shown(shortened(error.explanation)), err=True)
    if error.hint:
        click.echo(click.style("hint: ", fg="cyan", bold=True) + _shown(error.hint), err=True)


def show_diagnostic(diagnostic: Diagnostic) -> None:
    """Write a diagnostic on stderr as a compiler does: place, message, source line, caret."""
    place = _shown(f"{diagnostic.place}: ") if diagnostic.place else ""
    color = _COLORS[diagnostic.severity]
    grade = click.style(f"{diagnostic.severity}: ", fg=color, bold=diagnostic.severity in SERIOUS)
    click.echo(
        click.style(place, bold=True) + grade + _shown(shortened(diagnostic.message)), err=True
    )
    if diagnostic.source is None or diagnostic.line is None:
        return
    # Tabs become one column wide, as the column of the caret counts them.
    source, at = excerpt(diagnostic.source.replace("\t", " "), (diagnostic.column or 1) - 1)
    column = None if diagnostic.column is None else at + 1
    number = f"{diagnostic.line:6d}"
    click.echo(f"{number} | {_shown(source)}", err=True)
    if column is not None:
        caret = "^" + "~" * min(diagnostic.width - 1, len(source) - column)
        space = " " * (column - 1)
        click.echo(f"{' ' * len(number)} | {space}{click.style(caret, fg=color)}", err=True)


def _shown(text: str) -> str:
    return shown(text, sys.stderr)
