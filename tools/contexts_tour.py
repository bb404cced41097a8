"""Write the outputs that ``docs/contexts.md`` shows, by running its commands.

``python tools/contexts_tour.py`` runs every command of the document's ``console`` blocks and puts
what it printed below it. `tests/commands/test_ctx_tour.py` checks that it would change nothing.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from console_blocks import Command, commands

ROOT = Path(__file__).resolve().parent.parent
TOUR = ROOT / "docs" / "contexts.md"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed on both streams, line by line, and its exit code."""

    lines: tuple[str, ...]
    exit_code: int


def run(command: Command) -> Ran:
    """Run one command of the document, from the root of the repository."""
    words = shlex.split(command.text)
    environment = dict(os.environ)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words[0] != "cudarun":
        raise ValueError(f"{TOUR.name}:{command.line}: not a cudarun command")
    done = subprocess.run(
        [sys.executable, "-m", "cudarun", *words[1:]],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
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
    """Rewrite the document, and say so when that changed it."""
    before = TOUR.read_text()
    after = rewritten(before)
    if after != before:
        TOUR.write_text(after)
        print(f"wrote {TOUR.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
