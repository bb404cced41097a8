"""Sessions of the debugger: a bug each, found by a person's steps."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

from tests.support.forked_processes import run_command
from tests.support.processes import PYTHON_PATH
from tools import generate_debug_docs
from tools.generate_debug_sessions import DATA, SESSIONS, session_text

STOPS = int(os.environ.get("CUDARUN_DEBUG_STOPS", "12"))
"""The positions that are reached forwards and back; the whole are 500."""


@pytest.mark.parametrize("name", sorted(path.stem for path in SESSIONS.glob("*.txt")))
def test_session(name: str) -> None:
    path = SESSIONS / f"{name}.txt"
    assert session_text(path) == path.read_text(), "python -m tools.generate_debug_sessions"


def test_the_reference_lists_the_commands() -> None:
    page = generate_debug_docs.PAGE.read_text()
    assert page == generate_debug_docs.page(), "python -m tools.generate_debug_docs"


def answers(commands: list[str], *words: str) -> list[Any]:
    """What a session in JSON answers."""
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    arguments = ["debug", *words, "--format", "json", "-x", ";".join(commands)]
    code, out, err = run_command(arguments, DATA, environment, b"")
    assert (code, err) == (0, b"")
    return [json.loads(line) for line in out.splitlines()]


def test_a_position_is_the_same_state_forwards_and_back() -> None:
    launch = ["bugs.ptx", "-k", "sequence", "--threads", "6", "y=i32[6]"]
    order = random.Random(STOPS)
    positions = sorted(order.choices(range(1, 180), k=STOPS))
    mixed = order.sample(positions, STOPS)
    look = ["registers", "warps", "where", "print y"]
    commands = [each for position in (*positions, *mixed) for each in (f"goto {position}", *look)]
    found = answers(commands, *launch)
    step = 1 + len(look)
    states = [json.dumps(found[first : first + step]) for first in range(0, len(found), step)]
    assert len(states) == 2 * STOPS
    forwards = dict(zip(positions, states[:STOPS], strict=True))
    assert dict(zip(mixed, states[STOPS:], strict=True)) == forwards
    assert len({*forwards.values()}) == len({*positions})


def test_steps_back_undo_steps() -> None:
    launch = ["bugs.ptx", "-k", "sequence", "--threads", "6", "y=i32[6]"]
    forth, back = ["thread 5", *["step"] * 8], ["reverse-step"] * 7
    found = answers(["break bugs.cu:69", "continue", *forth, *back], *launch)
    stops = [each["result"]["stop"]["position"] for each in found[1:]]
    steps = stops[2:]
    assert len({*steps[:8]}) == 8
    assert steps[8:] == steps[6::-1]
