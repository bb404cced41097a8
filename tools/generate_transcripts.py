"""Write the outputs in the transcripts of the commands, ``tests/commands/transcripts/*.txt``.

``python -m tools.generate_transcripts`` runs the commands of each transcript and puts what they
print on both streams below them, then the exit code if it is not 0. A command goes on in lines with
``>``. Commands without a blank line between them are one session: they share a folder, which has
the files of ``transcripts/files``, ``samples`` and ``tests``. Lines with ``#`` are comments.
`tests/commands/test_transcripts.py` checks that it would change nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.forked_processes import run_merged
from tests.support.processes import PYTHON_PATH
from tools.generate_tours import masked

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = sorted((ROOT / "tests" / "commands" / "transcripts").glob("*.txt"))
FILES = ROOT / "tests" / "commands" / "transcripts" / "files"


def sessions(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a transcript: the commands of a session, if it is one, and its text."""
    for part in re.split(r"\n\n(?=[$#])", transcript):
        commands = [line for line in part.splitlines() if line.startswith(("$ ", "> "))]
        yield "\n".join(commands), part


def replayed(commands: str) -> str:
    """Run the commands of a session, and return them with what they print."""
    with tempfile.TemporaryDirectory() as folder:
        for path in (ROOT / "samples", ROOT / "tests", *FILES.iterdir()):
            Path(folder, path.name).symlink_to(path)
        return "\n".join(_replayed(each, folder) for each in re.split(r"\n(?=\$)", commands))


def _replayed(command: str, folder: str) -> str:
    words = shlex.split(command.removeprefix("$ ").replace("\n> ", " "))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CUDARUN_")}
    environment = clean | {"PYTHONPATH": PYTHON_PATH}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    assert words[0] == "cudarun", command
    code, printed = run_merged(words[1:], Path(folder), environment)
    text = masked(printed.decode()).replace(f"{folder}/", "")
    lines = [command, *(line.rstrip() for line in text.splitlines())]
    return "\n".join([*lines, f"[exit code {code}]"] if code else lines)


def main() -> int:
    """Rewrite the transcripts, and name those that changed."""
    for path in TRANSCRIPTS:
        before = path.read_text()
        parts = ((commands, part) for commands, part in sessions(before.rstrip("\n")))
        after = "\n\n".join(replayed(commands) if commands else part for commands, part in parts)
        if f"{after}\n" != before:
            path.write_text(f"{after}\n")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
