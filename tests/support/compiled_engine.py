"""A plugin of pytest: ``-p tests.support.compiled_engine`` runs kernels with the compiled engine.

Kernels that have no rule for compiling are interpreted. ``COMPILED_ENGINE_REPORT`` names a file to
which each process appends how many launches were compiled, and how many were interpreted and why.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from cudarun.emulator import execution
from cudarun.emulator.engines import AUTO, COMPILE, ENGINE_VARIABLE, INTERPRET, Engines, NotCompiled
from cudarun.emulator.machine.launch import Launch

REPORT_VARIABLE = "COMPILED_ENGINE_REPORT"

counts: Counter[str] = Counter()


class CountingEngines(Engines):
    """Engines that count the launches of all objects."""

    def run(
        self,
        launch: Launch,
        on_progress: Callable[[float], object],
        interpret: Callable[[Launch, Callable[[float], object]], None],
    ) -> None:
        reason = ""
        try:
            super().run(launch, on_progress, interpret)
        except NotCompiled as refused:
            reason = refused.reason
            interpret(launch, on_progress)
        finally:
            note = self.notes.get(launch.kernel.name)
            what = f"{INTERPRET} {reason}" if note is None else f"{note.engine} {note.reason}"
            counts[re.sub(r" \(PTX line \d+\)", "", what.strip())] += 1


def pytest_configure(config: pytest.Config) -> None:
    os.environ[ENGINE_VARIABLE] = AUTO
    execution.Engines = partial(CountingEngines, COMPILE, in_order=True)  # type: ignore[assignment, misc]


def pytest_sessionfinish(session: pytest.Session) -> None:
    report = os.environ.get(REPORT_VARIABLE)
    if report and counts:
        lines = [f"{count:6} {what}\n" for what, count in counts.most_common()]
        with Path(report).open("a") as file:
            file.write("".join(lines))
