"""Write ``docs/reference/cli.md``: the ``--help`` of every command."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tests.support.command_tree import contexts

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference" / "cli.md"

_WIDTH = 100  # columns, whatever terminal this runs in

_HEAD = """\
# Command reference

Written by `python -m tools.generate_cli_docs` from `--help`: change the help texts, not this file.
"""


def reference() -> str:
    """The whole document."""
    return "\n".join([_HEAD, *(_section(context) for context in contexts())])


def _section(context: click.Context) -> str:
    level = "##" if context.parent is None or context.parent.parent is None else "###"
    context.terminal_width = context.max_content_width = _WIDTH
    help_text = context.command.get_help(context)
    return f"{level} {context.command_path}\n\n```text\n{help_text}\n```\n"


def main() -> int:
    """Write the document, and say so when that changed it."""
    text = reference()
    if not TARGET.exists() or TARGET.read_text() != text:
        TARGET.write_text(text)
        print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
