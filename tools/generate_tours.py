"""Write the outputs that the guides show, documents in which every output is one to the letter.

``python -m tools.generate_tours`` runs every command of the ``console`` blocks of `TOURS` and puts
what it printed below it, with masked times. The commands of a block run in a folder of their own,
with the files that the document shows. The blocks ``console not-run`` are left as they are.
`tests/commands/test_tours.py` checks that it would change nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.support.console_blocks import Command, commands, files
from tests.support.forked_processes import run_merged
from tests.support.processes import PYTHON_PATH

ROOT = Path(__file__).resolve().parent.parent
TOURS = (
    ROOT / "docs" / "getting-started.md",
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    ROOT / "docs" / "reference" / "detectors.md",
    ROOT / "cudarun" / "SKILL.md",
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed on both streams, line by line, and its exit code."""

    lines: tuple[str, ...]
    exit_code: int


def blocks(document: str) -> list[tuple[Command, ...]]:
    """Return the commands that are run, by block."""
    shown = [command for command in commands(document) if command.is_run]
    return [tuple(block) for _, block in groupby(shown, lambda command: command.block)]


def run(block: Sequence[Command], shown_files: Mapping[str, str]) -> list[Ran]:
    """Run the commands of a block, in a folder with a document's files and the repository's."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("samples", "tests"):
            Path(folder, name).symlink_to(ROOT / name)
        for name, content in shown_files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return [_run(command, folder) for command in block]


def _run(command: Command, folder: str) -> Ran:
    words = shlex.split(command.text)
    environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words[0] != "cudarun":
        raise ValueError(f"line {command.line}: not a cudarun command")
    code, printed = run_merged(words[1:], Path(folder), environment)
    text = masked(printed.decode()).replace(f"{folder}/", "")
    text = re.sub(r"(?m)^\S+: interpreted: .*\n", "", text)  # printed after 5 s
    if any(word.endswith((".cu", ".toml")) for word in words):
        text = re.sub(r"(PTX line )\d+: .*", r"\1…", text)  # it depends on NVRTC's version
    return Ran(tuple(line.rstrip() for line in text.splitlines()), code)


def masked(text: str) -> str:
    """Replace the times in an output; in seconds or not, as a busy machine takes longer."""
    return re.sub(r"\b(?:(?:\d+\.)?\d+ ms|\d+\.\d+ s|(?<=  )\d+ s)\b", "… ms", text)


def rewritten(document: str) -> str:
    """The document with every output as it is now."""
    lines = document.splitlines()
    for block in reversed(blocks(document)):
        for command, ran in reversed(list(zip(block, run(block, files(document)), strict=True))):
            start = command.line  # of the command, from 1: so the index of what follows it
            while lines[start - 1].rstrip().endswith("\\"):
                start += 1
            lines[start : start + len(command.output)] = ran.lines
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
