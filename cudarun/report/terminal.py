"""The choice between showing and passing on control characters, for each stream."""

from __future__ import annotations

from typing import TextIO

import click

from cudarun.base.terminal import visible

_KEY = "cudarun.raw-output"


def pass_on() -> None:
    """Pass control characters on to terminals, for the rest of the command: ``--raw-output``."""
    click.get_current_context().meta[_KEY] = True


def shows_controls(stream: TextIO) -> bool:
    """Return whether control characters are shown as escapes on a stream."""
    context = click.get_current_context(silent=True)
    return stream.isatty() and not (context is not None and context.meta.get(_KEY, False))


def shown(text: str, stream: TextIO) -> str:
    """Return a text of others as it is written to a stream."""
    return visible(text) if shows_controls(stream) else text
