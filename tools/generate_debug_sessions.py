"""Write the sessions of the debugger that the tests expect.

``python -m tools.generate_debug_sessions`` runs the commands of each file of
``tests/data/debugger/sessions``, and writes what they answer. The first line is the command, and
lines after a prompt are commands of the debugger. `tests/debugger/test_sessions.py` checks that it
would change nothing.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from tests.support.forked_processes import run_command
from tests.support.processes import PYTHON_PATH

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data" / "debugger"
SESSIONS = DATA / "sessions"
PROMPT = "(debug) "


def session_text(path: Path) -> str:
    """Return the text of a session, run again."""
    first, *lines = path.read_text().splitlines()
    commands = [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]
    program, *words = shlex.split(first.removeprefix("$ "))
    assert program == "cudarun", path
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CUDARUN_")}
    environment = {**clean, "PYTHONPATH": PYTHON_PATH}
    code, out, err = run_command([*words, "-x", ";".join(commands)], DATA, environment, b"")
    end = [] if code == 0 else [f"exit code {code}"]
    return "\n".join([first, *(out + err).decode().splitlines(), *end]) + "\n"


def main() -> None:
    """Write all sessions."""
    for path in sorted(SESSIONS.glob("*.txt")):
        path.write_text(session_text(path))


if __name__ == "__main__":
    main()
