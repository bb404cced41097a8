"""A status line on a terminal's stderr, removed when the workers are done."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Protocol, TextIO

from cudarun.terminal import visible

_PATIENCE = 1.0  # seconds before anything is shown
_BAR = 20
_TO_START_AND_CLEAR = "\r\x1b[K"


class Told(Protocol):
    """The progress of a worker."""

    def read(self) -> tuple[str, float]:
        """Return what it is doing, and the part of it that is done (0 to 1)."""


class StatusLine:
    """A line that shows the workers in turn, for a second each.

    Args:
        out: A terminal.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._started: float | None = None
        self._shown = False

    def update(self, workers: Sequence[tuple[str, Told]]) -> None:
        """Show the progress of one of them."""
        now = time.monotonic()
        if self._started is None:
            self._started = now
        seconds = now - self._started
        if seconds < _PATIENCE:
            return
        label, told = workers[int(seconds) % len(workers)]
        what, done = told.read()
        from cudarun.report.folding import columns  # a worker is started sooner without it

        width = columns(self._out) - 1
        line = visible(_line(what, done, seconds, label))
        self._out.write(_TO_START_AND_CLEAR + line[:width])
        self._out.flush()
        self._shown = True

    def end(self) -> None:
        """Remove the line."""
        if self._shown:
            self._out.write(_TO_START_AND_CLEAR)
            self._out.flush()
        self._started, self._shown = None, False


def status_line() -> StatusLine | None:
    """Return a status line on stderr; ``None`` if stderr is no terminal."""
    return StatusLine(sys.stderr) if sys.stderr.isatty() else None


def _line(what: str, done: float, seconds: float, label: str) -> str:
    parts = [f"{seconds:.0f} s", what or "starting"]
    if done:
        full = int(done * _BAR)
        parts.append(f"[{'#' * full}{'.' * (_BAR - full)}] {done:.0%}")
    return "  ".join([*parts, *([label] if label else [])])
