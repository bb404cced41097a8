"""The test programs on both engines: their buffers and what they print."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from cudarun.emulator.engines import COMPILE, ENGINE_VARIABLE, INTERPRET
from cudarun.emulator.tiers import ORDER
from tests.support import programs
from tools.engines.comparison import Comparison, Part

_REFUSED = "CUDA_ERROR_NOT_SUPPORTED"  # the answer of the engine ``compile``


def parts(only: str = "", every: int = 1) -> list[Part]:
    """Return a part for each chapter: a spec, which runs as a whole.

    Args:
        only: Leave out the programs without this in their names.
        every: Ignored: all programs run.
    """
    found = []
    for chapter in programs.CHAPTERS:
        names = tuple(case["name"] for case in programs.cases(chapter) if only in case["name"])
        if names:
            found.append(Part(chapter, 0, names))
    return found


def compare(part: Part) -> Comparison:
    """Run the programs of a chapter on both engines."""
    found = Comparison(part.group)
    interpreted = {each.name: each for each in _outcomes(part.group, INTERPRET)}
    for outcome in _outcomes(part.group, COMPILE):
        if outcome.name not in part.cases:
            continue
        shows_order = any(reason.startswith(ORDER) for reason in outcome.engines)
        if _REFUSED in outcome.reason:
            found.interpreted[outcome.name] = "kernels that cannot be compiled"
        elif outcome == interpreted[outcome.name]:
            found.equal.append(outcome.name)
        elif shows_order and outcome.verdict == "passed":
            found.interpreted[outcome.name] = "results that show the order of warps"
        else:
            found.different.append(outcome.name)
    return found


def _outcomes(chapter: str, mode: str) -> list[programs.Outcome]:
    os.environ[ENGINE_VARIABLE] = mode
    with tempfile.TemporaryDirectory() as folder:
        return programs.run(chapter, "cpu", Path(folder))
