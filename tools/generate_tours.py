"""Write the outputs that the tours show, documents in which every output is one to the letter.

``python -m tools.generate_tours`` runs every command of the ``console`` blocks of
``docs/how-to/contexts.md`` and ``docs/reference/detectors.md`` and puts what it printed below it.
`tests/commands/test_tours.py` checks that it would change nothing.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.console_blocks import Command, commands
from tests.support.processes import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
TOURS = tuple(ROOT / "docs" / name for name in ("how-to/contexts.md", "reference/detectors.md"))


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed on both streams, line by line, and its exit code."""

    lines: tuple[str, ...]
    exit_code: int


def run(command: Command) -> Ran:
    """Run one command of a document, from the root of the repository."""
    words = shlex.split(command.text)
    environment = dict(os.environ)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words[0] != "cudarun":
        raise ValueError(f"line {command.line}: not a cudarun command")
    done = subprocess.run(
        [sys.executable, "-m", "cudarun", *words[1:]],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    return Ran(tuple(line.rstrip() for line in done.stdout.splitlines()), done.returncode)


def rewritten(document: str) -> str:
    """The document with every output as it is now."""
    lines = document.splitlines()
    for command in reversed(list(commands(document))):
        shown = len(command.output)
        start = command.line  # of the command, from 1: so the index of what follows it
        while lines[start - 1].rstrip().endswith("\\"):
            start += 1
        lines[start : start + shown] = run(command).lines
    return "\n".join(lines) + "\n"


def main() -> int:
    """Rewrite the documents, and say which that changed."""
    for tour in TOURS:
        before = tour.read_text()
        after = rewritten(before)
        if after != before:
            tour.write_text(after)
            print(f"wrote {tour.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
