"""Every output that ``docs/contexts.md`` shows is what its command prints."""

from __future__ import annotations

import re

import pytest
from console_blocks import Command, commands
from contexts_tour import TOUR, rewritten, run

COMMANDS = list(commands(TOUR.read_text()))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"line {command.line}")
def test_what_is_shown_is_what_is_printed(command: Command) -> None:
    ran = run(command)
    assert list(command.output) == list(ran.lines), "run python tools/contexts_tour.py"
    said = re.match(r"Exit code (\d)\.", command.after)
    assert ran.exit_code == (int(said[1]) if said else 0)


def test_there_is_a_tour() -> None:
    assert len(COMMANDS) > 15


def test_a_stale_output_is_rewritten() -> None:
    shown = "Text.\n\n```console\n$ cudarun ctx run -d cpu 'create A'\nold\nlines\n```\n\nEnd.\n"
    line = f"  1   create A  {'SUCCESS':36}main [A]"
    assert rewritten(shown) == shown.replace("old\nlines", line)
