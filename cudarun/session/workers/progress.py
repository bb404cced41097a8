"""What a worker is doing at the moment, told to its parent through a page of shared memory.

The parent shows it on a terminal when something takes long. Nothing waits for anything: a text that
is read while it is written shows garbled for a moment.
"""

from __future__ import annotations

import mmap
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from cudarun.session.workers.prefork import PAGE

_HEADER = struct.Struct("=dI")  # the part done, and the length of the text


class Progress:
    """A line of text and how much of it is done; made before the fork, written in the child.

    Args:
        label: What to call the worker, where there are several.
        verbose: Write every step on stderr, too, as it begins, with the seconds since this was
            made.
        page: Memory shared with a child that is there already.
    """

    def __init__(
        self, label: str = "", *, verbose: bool = False, page: mmap.mmap | None = None
    ) -> None:
        self.label = label
        self._page = page or mmap.mmap(-1, PAGE)
        self._verbose = verbose
        self._started = time.monotonic()
        self._written = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """To a process that was begun before this was made: it knows the page."""
        return _in_inherited_page, (self.label, self._verbose, self._started)

    def say(self, what: str, done: float = 0.0) -> None:
        """What is being done, and which part of it is behind us (0 to 1; 0 also: not known)."""
        if self._verbose and what != self._written:
            self._written = what
            seconds = time.monotonic() - self._started
            print("  ".join((f"{seconds:8.3f} s", what, self.label)).rstrip(), file=sys.stderr)
        text = what.encode(errors="backslashreplace")[: PAGE - _HEADER.size]
        self._page[_HEADER.size : _HEADER.size + len(text)] = text
        _HEADER.pack_into(self._page, 0, done, len(text))

    def read(self) -> tuple[str, float]:
        """The text, empty where nothing was said yet, and the part done."""
        done, length = _HEADER.unpack_from(self._page)
        text = self._page[_HEADER.size : _HEADER.size + min(length, PAGE - _HEADER.size)]
        return text.decode(errors="replace"), done


inherited: mmap.mmap | None = None
"""In a process that was begun early, the page that it shares with its parent."""


def _in_inherited_page(label: str, verbose: bool, started: float) -> Progress:
    progress = Progress(label, verbose=verbose, page=inherited)
    progress._started = started
    return progress


class Watch(Protocol):
    """Who looks at progress while workers work."""

    def look(self, workers: Sequence[tuple[str, Progress]]) -> None:
        """Called several times a second with what to call each worker, and its progress."""

    def end(self) -> None:
        """Called when nobody works any more, before anything else is shown."""


@contextmanager
def watched(
    watch: Watch | None, workers: Sequence[Progress]
) -> Iterator[Callable[[], object] | None]:
    """What `gather` is to call meanwhile so that somebody sees the workers; ``None`` for nobody."""
    if watch is None:
        yield None
        return
    shown = [(progress.label, progress) for progress in workers]
    try:
        yield lambda: watch.look(shown)
    finally:
        watch.end()
