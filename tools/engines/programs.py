"""The test programs on both engines: their buffers and what they print."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from cudarun.emulator.engines import COMPILE, ENGINE_VARIABLE, INTERPRET, ORDER
from tests.support import programs
from tools.engines.comparison import Comparison

_REFUSED = "CUDA_ERROR_NOT_SUPPORTED"  # the answer of the engine ``compile``


def compare(chapter: str, only: str = "", every: int = 1) -> Comparison:
    """Run the programs of a chapter on both engines.

    Args:
        chapter: Its name.
        only: Leave out the programs without this in their names.
        every: Ignored: a chapter is a spec, which runs as a whole.
    """
    found = Comparison(chapter)
    interpreted = {each.name: each for each in _outcomes(chapter, INTERPRET)}
    for outcome in _outcomes(chapter, COMPILE):
        if only not in outcome.name:
            continue
        if _REFUSED in outcome.reason:
            found.interpreted[outcome.name] = "kernels that cannot be compiled"
        elif any(reason.startswith(ORDER) for reason in outcome.engines):
            if outcome.verdict == "passed":
                found.interpreted[outcome.name] = "results that can show the order of warps"
            else:
                found.different.append(outcome.name)
        else:
            same = outcome == interpreted[outcome.name]
            (found.equal if same else found.different).append(outcome.name)
    return found


def _outcomes(chapter: str, mode: str) -> list[programs.Outcome]:
    os.environ[ENGINE_VARIABLE] = mode
    with tempfile.TemporaryDirectory() as folder:
        return programs.run(chapter, "cpu", Path(folder))
