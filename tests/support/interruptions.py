"""Ctrl-C at many moments of a command's start."""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import PATIENCE, PYTHON_PATH, ROOT

SCRIPT = ROOT / "tests" / "support" / "interrupted_command.py"


@dataclass(frozen=True)
class Interruption:
    """What a command did that got SIGINT at an event.

    Attributes:
        moment: The number of the event.
        where: The event.
        status: The exit status, negative for a signal.
        out: What it wrote to stdout.
        err: What it wrote to stderr.
    """

    moment: int
    where: str
    status: int
    out: bytes
    err: bytes

    @property
    def is_clean(self) -> bool:
        """Whether it ended by 130 and printed nothing; click ends the line of the ``^C``."""
        return (self.status, self.out, self.err.strip()) == (130, b"", b"")


def interruptions(
    events: str, moments: Iterable[int], *arguments: str
) -> tuple[list[Interruption], int]:
    """Interrupt a command at the given events; also return the number of its events.

    Args:
        events: ``imports`` or ``calls``.
        moments: Numbers of events. 1 is the execution of `cudarun.__main__`, before its first
            instruction, where Python still raises KeyboardInterrupt.
        arguments: The command line.
    """
    with tempfile.NamedTemporaryFile() as report:
        subprocess.run(
            [
                *(sys.executable, str(SCRIPT), events, ",".join(map(str, moments)), report.name),
                *arguments,
            ],
            cwd=ROOT,
            env={"PYTHONPATH": PYTHON_PATH, "PATH": ""},
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=PATIENCE,
        )
        *found, count = map(ast.literal_eval, Path(report.name).read_text().splitlines())
    return [Interruption(*each) for each in found], count
