"""``cudarun skill``; its commands are run by `test_tours`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import cudarun

if TYPE_CHECKING:
    from conftest import Run

MOST_LINES = 120


def test_the_instructions(run: Run) -> None:
    ran = run("skill")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == Path(cudarun.__file__).with_name("SKILL.md").read_text()
    lines = ran.out.splitlines()
    assert lines[:2] == ["---", "name: cudarun"]
    assert len(lines) <= MOST_LINES
