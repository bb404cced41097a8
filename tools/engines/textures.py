"""The recorded texture fetches and surface accesses on both engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator import driver
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.golden import fetches
from tests.golden.sampling import store
from tests.golden.sampling.runner import Runner
from tools.engines.comparison import Comparison, Part

MOST = 64  # cases in a part
_FETCHES = "fetches"

Work = Callable[[], npt.NDArray[Any]]


def subjects() -> list[str]:
    """Return the names of the groups of cases."""
    return [*store.SUBJECTS, _FETCHES]


def parts(only: str = "", every: int = 1) -> list[Part]:
    """Return the cases of all groups in parts.

    Args:
        only: Leave out the cases without this in their names.
        every: Run one case of so many in each group.
    """
    found = []
    for subject in subjects():
        names = [case.name for case in _golden(subject)]
        cases = [(number % every == 0, name) for number, name in enumerate(names) if only in name]
        for runs in (True, False):
            same = [name for chosen, name in cases if chosen == runs]
            for start in range(0, len(same), MOST):
                chunk = tuple(same[start : start + MOST])
                found.append(Part(subject, len(found), chunk, runs))
    return found


def compare(part: Part) -> Comparison:
    """Run cases of a group on both engines."""
    found = Comparison(part.group)
    if not part.runs:
        found.untested += part.cases
        return found
    for name, work in _work(part):
        driver.select_engine(COMPILE)
        try:
            compiled = work()
        except AssertionError:  # of a refused call
            (note,) = driver.engine_notes()
            if note.engine == COMPILE:
                raise
            found.interpreted[name] = note.reason
            continue
        driver.select_engine(INTERPRET)
        same = np.array_equal(compiled.view(np.uint32), work().view(np.uint32))
        (found.equal if same else found.different).append(name)
    return found


@cache
def _golden(subject: str) -> list[Any]:
    if subject == _FETCHES:
        return list(fetches.cases())
    return list(store.chosen(subject, store.read()))


def _work(part: Part) -> Iterator[tuple[str, Work]]:
    runner: Any = fetches.Runner(driver) if part.group == _FETCHES else Runner(driver)
    chosen = set(part.cases)
    for case in _golden(part.group):
        if case.name in chosen:
            yield case.name, lambda case=case: runner.run(case)  # type: ignore[misc]
    runner.close()
