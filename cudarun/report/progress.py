"""The progress of workers on stderr: a status line on a terminal, removed when they are done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO, TypeAlias

from cudarun.base.terminal import visible

_PATIENCE = 1.0  # seconds before anything is shown
_BAR = 20
TO_START_AND_CLEAR = "\r\x1b[K"  # what a terminal replaces the current line by


# Reads what a worker is doing, lines with thread states, and the part that is done (0 to 1).
ReadProgress: TypeAlias = Callable[[], tuple[str, float]]


class StatusLine:
    """A line that shows the workers in turn, for a second each, and notes about long kernels."""

    def __init__(self, out: TextIO, *, is_terminal: bool = True) -> None:
        self._out = out
        self._is_terminal = is_terminal  # whether to show the line, besides the notes
        self._noted: set[str] = set()
        self._started: float | None = None
        self._shown = False
        self._text = ""  # the last one for the listener

    def update(self, workers: Sequence[tuple[str, ReadProgress]]) -> None:
        """Show the progress of one of them, and the thread states that any has reported."""
        if listener is not None:
            texts = (": ".join(filter(None, (label, read()[0]))) for label, read in workers)
            text = "\n".join(texts)
            if text not in ("", self._text):
                self._text = text
                listener(text)
            return
        for label, read in workers:
            states = read()[0].partition("\n")[2]
            if states and states not in self._noted:
                self._noted.add(states)
                self.end()
                device = f" on device {label}" if label else ""
                lines = [f"note: the kernel still runs{device}", *states.splitlines()]
                self._out.write("\n  | ".join(map(visible, lines)) + "\n")
                self._out.flush()
        if not self._is_terminal:
            return
        now = time.monotonic()
        if self._started is None:
            self._started = now
        seconds = now - self._started
        if seconds < _PATIENCE:
            return
        label, read = workers[int(seconds) % len(workers)]
        what, done = read()
        from cudarun.report.terminal import columns  # a worker is started sooner without it

        width = columns(self._out) - 1
        parts = [f"{seconds:.0f} s", what.partition("\n")[0] or "starting"]
        if done:
            full = int(done * _BAR)
            parts.append(f"[{'#' * full}{'.' * (_BAR - full)}] {done:.0%}")
        line = visible("  ".join([*parts, *([label] if label else [])]))
        self._out.write(TO_START_AND_CLEAR + line[:width])
        self._out.flush()
        self._shown = True

    def end(self) -> None:
        """Remove the line."""
        if self._shown:
            self._out.write(TO_START_AND_CLEAR)
            self._out.flush()
        self._started, self._shown = None, False


listener: Callable[[str], None] | None = None
"""The function that gets the progress of the commands of this process, in place of stderr."""


def status_line() -> StatusLine:
    """Return a status line on stderr, of which only the notes are shown if that is no terminal."""
    return StatusLine(sys.stderr, is_terminal=sys.stderr.isatty())
