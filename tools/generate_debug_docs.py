"""Write the table of commands in the reference of the debugger.

``python -m tools.generate_debug_docs``. `tests/debugger/test_sessions.py` checks that it would
change nothing.
"""

from __future__ import annotations

from pathlib import Path

from cudarun.debugger.command_line import COMMANDS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "debug.md"
BEGIN, END = "<!-- begin commands -->\n", "<!-- end commands -->"


def page() -> str:
    """Return the page with its table."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    rows = "".join(
        f"| `{each.name}` | {f'`{each.short}`' if each.short else ''} | "
        f"{f'`{each.arguments}`' if each.arguments else ''} | {each.text} |\n"
        for each in COMMANDS
    )
    table = f"| command | short | arguments | |\n|---|---|---|---|\n{rows}"
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page())
