"""Errors as people read them: on stderr, without rich, coloured where click says so."""

from __future__ import annotations

import click

from cudarun.errors import CudarunError


def show_error(error: CudarunError) -> None:
    """Write an error on stderr: what happened, where, the log, and what to do about it."""
    where = ", ".join(f"{key} {value}" for key, value in error.context.items() if key != "bug")
    click.echo(click.style("error: ", fg="red", bold=True) + str(error), err=True)
    if where:
        click.echo(f"  in {where}", err=True)
    if error.log:
        click.echo("\n".join(f"  | {line}" for line in error.log.splitlines()), err=True)
    if error.hint:
        click.echo(click.style("hint: ", fg="cyan", bold=True) + error.hint, err=True)
