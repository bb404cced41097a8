"""Errors and diagnostics on stderr, written without rich."""

from __future__ import annotations

import sys

import click

from cudarun.base.errors import LONGEST_EXCERPT, CudarunError, excerpt, shortened
from cudarun.base.terminal import one_line
from cudarun.diagnostics.entries import SERIOUS, Diagnosed, Diagnostic
from cudarun.report.terminal import folded, shown, terminal_width

_COLORS = {"fatal": "red", "error": "red", "warning": "magenta", "info": "cyan", "note": "cyan"}


def show_error(error: CudarunError) -> None:
    """Write an error on stderr: what happened, where, the log, and what to do about it."""
    where = ", ".join(f"{key} {value}" for key, value in error.context.items())
    _echo("error: ", str(error), fg="red", bold=True)
    if where:
        _echo("", f"  in {one_line(where)}")
    if isinstance(error, Diagnosed) and error.diagnostics:
        for diagnostic in error.diagnostics:
            show_diagnostic(diagnostic)
    elif error.log:
        _echo("", "\n".join(f"  | {line}" for line in error.log.splitlines()))
    if isinstance(error, Diagnosed) and error.explanation:
        _echo("", shortened(error.explanation))
    if error.hint:
        _echo("hint: ", error.hint, fg="cyan", bold=True)


def _echo(label: str, text: str, *, fg: str | None = None, bold: bool | None = None) -> None:
    """Write a text after a label on stderr; on a terminal folded between words."""
    lines = folded(label + _shown(text), terminal_width(sys.stderr))
    click.echo(click.style(label, fg=fg, bold=bold) + lines.removeprefix(label), err=True)


def show_diagnostic(diagnostic: Diagnostic) -> None:
    """Write a diagnostic on stderr as a compiler does: place, message, source line, caret."""
    place = _shown(one_line(f"{diagnostic.place}: ")) if diagnostic.place else ""
    color = _COLORS[diagnostic.severity]
    grade = f"{diagnostic.severity}: "
    message = _shown(shortened(diagnostic.message))
    lines = folded(place + grade + message, terminal_width(sys.stderr))
    if lines.startswith(place + grade):
        styled = click.style(grade, fg=color, bold=diagnostic.severity in SERIOUS)
        lines = click.style(place, bold=True) + styled + lines.removeprefix(place + grade)
    click.echo(lines, err=True)
    if diagnostic.source is None or diagnostic.line is None:
        return
    # Tabs become one column wide, as the column of the caret counts them.
    number = f"{diagnostic.line:6d}"
    width = terminal_width(sys.stderr)
    room = LONGEST_EXCERPT if width is None else width - len(f"{number} | ")
    source, at = excerpt(diagnostic.source.replace("\t", " "), (diagnostic.column or 1) - 1, room)
    column = None if diagnostic.column is None else at + 1
    click.echo(f"{number} | {_shown(source)}", err=True)
    if column is not None:
        caret = "^" + "~" * min(diagnostic.width - 1, len(source) - column)
        space = " " * (column - 1)
        click.echo(f"{' ' * len(number)} | {space}{click.style(caret, fg=color)}", err=True)


def _shown(text: str) -> str:
    return shown(text, sys.stderr)
