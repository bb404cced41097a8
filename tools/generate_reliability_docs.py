"""Write the tables of ``docs/evidence/reliability.md``: the fault matrix and its runs on GPUs.

::

    python -m tools.generate_reliability_docs
    python -m tools.generate_reliability_docs --ran reliability.json   # of the hardware chapter

The script replaces the text between the marks in that document and leaves the rest unchanged.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

from tests.support.fault_matrix import COMMANDS, FAULTS
from tests.support.fault_runner import Cell

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "evidence" / "reliability.md"


def matrix() -> str:
    """Return one row per fault with the exit code or signal of each command, and footnotes."""
    notes: list[str] = []
    lines = [_line("fault", *COMMANDS), _line(*["---"] * (len(COMMANDS) + 1))]
    for fault in FAULTS:
        endings = (_ending(fault.cell(command), notes) for command in COMMANDS)
        lines.append(_line(fault.name, *endings))
    footnotes = (f"({number}) {note}." for number, note in enumerate(notes, 1))
    return "\n".join((*lines, "", "Not applicable (—): " + " ".join(footnotes)))


def _ending(cell: Cell | str, notes: list[str]) -> str:
    if isinstance(cell, str):
        if cell not in notes:
            notes.append(cell)
        return f"— ({notes.index(cell) + 1})"
    if cell.exit_code < 0:
        return signal.Signals(-cell.exit_code).name
    return str(cell.exit_code)


def run_line(ran: dict[str, Any]) -> str:
    """Return the table row for a run of the hardware chapter ``reliability``."""
    names = ran["devices"]
    cells = [cell for row in ran["rows"].values() for cell in row.values()]
    wrong = [
        f"{fault}, {command}"
        for fault, row in ran["rows"].items()
        for command, cell in row.items()
        if cell["problems"]
    ]
    major, minor = ran["driver"]
    seconds = sum(cell.get("seconds") or 0 for cell in cells)
    count = len(cells) - len(ran["rows"])
    verdict = "as in the table" if not wrong else f"not as in the table: {'; '.join(wrong)}"
    device = f"{len(names)} × {names[0]}"
    return _line(
        ran["date"], device, f"CUDA {major}.{minor}", f"{count} cells", verdict, f"{seconds:.0f} s"
    )


def _line(*columns: str) -> str:
    return f"| {' | '.join(columns)} |"


def _between(text: str, mark: str, content: str) -> str:
    pattern = rf"(<!-- {mark}: .*? -->\n).*?(<!-- /{mark} -->)"
    filled = re.compile(pattern, re.DOTALL)
    return filled.sub(lambda found: f"{found[1]}{content}\n{found[2]}", text)


def document(text: str, ran: dict[str, Any] | None = None) -> str:
    """Return the document with a current matrix, and a row for the run if there is one."""
    text = _between(text, "matrix", matrix())
    if ran is None:
        return text
    return text.replace("\n<!-- /runs -->", f"\n{run_line(ran)}\n<!-- /runs -->")


def main() -> int:
    """Write the document, and print its name if it changed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ran", type=Path, metavar="FILE", help="add a line for this run")
    path = parser.parse_args().ran
    before = DOCUMENT.read_text()
    after = document(before, json.loads(path.read_text()) if path else None)
    if after != before:
        DOCUMENT.write_text(after)
        print(f"wrote {DOCUMENT.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
