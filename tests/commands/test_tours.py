"""Every output that the tours show is what its command prints."""

from __future__ import annotations

import re

import pytest

from tests.support.console_blocks import Command, commands
from tools.generate_tours import TOURS, rewritten, run

COMMANDS = [
    pytest.param(command, id=f"{tour.stem}-{command.line}")
    for tour in TOURS
    for command in commands(tour.read_text())
]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_shown_is_what_is_printed(command: Command) -> None:
    ran = run(command)
    assert list(command.output) == list(ran.lines), "run python -m tools.generate_tours"
    said = re.match(r"Exit code (\d)\.", command.after)
    assert ran.exit_code == (int(said[1]) if said else 0)


def test_there_are_tours() -> None:
    assert len(COMMANDS) > 20


def test_a_stale_output_is_rewritten() -> None:
    shown = "Text.\n\n```console\n$ cudarun ctx run -d cpu 'create A'\nold\nlines\n```\n\nEnd.\n"
    line = f"  1   create A  {'SUCCESS':36}main [A]"
    assert rewritten(shown) == shown.replace("old\nlines", line)
