"""The interface of every output format, and the end that all commands share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from cudarun.base.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console

    from cudarun.base.errors import CudarunError
    from cudarun.model.report import Part, Report


@dataclass(frozen=True, slots=True)
class TableStyle:
    """The amount of output in tables for people."""

    color: bool | None = None  # colored output; ``None`` decides by whether stdout is a terminal
    quiet: bool = False  # only what was asked for, and what is wrong
    verbose: bool = False  # parameters, engines and compiler logs, too
    seed: bool = True  # show the seed of random numbers
    times: bool = False  # show the time of each step


class Renderer(ABC):
    """An output format.

    A command calls `finish` once. One whose results come one by one calls `begin` before the first
    of them and `add` with each as it comes.
    """

    # Whether stdout is one document: a kernel's ``printf`` is then captured.
    owns_stdout: bool = False
    # Whether `add` renders what it is given, so that `end` needs only the totals.
    streams: bool = False
    # An existing file that a launch is to copy every buffer to, for a program.
    copies: str | None = None
    # Write files beside the output, from the whole report.
    files: tuple[Callable[[Report], None], ...] = ()

    def prepare(self) -> None:
        """Do what can be done before there is a result; called while the workers run."""

    def begin(self, labels: Iterable[str]) -> None:
        """Take the labels of all results to come, by which columns are aligned."""

    def progress(self, text: str) -> None:
        """Show what is being done; an empty text ends the display."""

    def add(self, part: Part) -> None:
        """Take a result as soon as it is known."""

    def fail(self, command: str, error: CudarunError) -> None:
        """Take the error that ends the command in place of a report."""

    @abstractmethod
    def end(self, report: Report) -> None:
        """Write the report."""


class LiveTable(ABC):
    """A table that gets its parts one by one.

    Args:
        labels: The labels of all parts, to align the columns.
        style: With ``quiet`` parts without a failure are left out.
    """

    def __init__(self, out: Console, labels: Sequence[str], style: TableStyle) -> None:
        self._out = out
        self._width = max(map(len, labels), default=0)
        self._style = style

    @abstractmethod
    def add(self, part: Any) -> None:
        """Write a part of the report."""

    @abstractmethod
    def end(self, report: Any) -> None:
        """Write the rest of the report."""


def finish(report: Report, renderer: Renderer) -> int:
    """Write the report of a command and return its exit code.

    It is an `ExitCode`, or that of the program that ``record`` ran.
    """
    for write in renderer.files:
        write(report)
    renderer.end(report)
    return report.exit_code
