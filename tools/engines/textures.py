"""The recorded texture fetches and surface accesses on both engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator import driver
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.golden import fetches
from tests.golden.sampling import store
from tests.golden.sampling.runner import Runner
from tools.engines.comparison import Comparison

_FETCHES = "fetches"

Work = Callable[[], npt.NDArray[Any]]


def subjects() -> list[str]:
    """Return the names of the groups of cases."""
    return [*store.SUBJECTS, _FETCHES]


def compare(subject: str, only: str = "", every: int = 1) -> Comparison:
    """Run the cases of a group on both engines.

    Args:
        subject: Its name.
        only: Leave out the cases without this in their names.
        every: Run one case of so many.
    """
    found = Comparison(subject)
    for number, (name, work) in enumerate(_cases(subject)):
        if only not in name:
            continue
        if number % every:
            found.untested.append(name)
            continue
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


def _cases(subject: str) -> Iterator[tuple[str, Work]]:
    runner: Any = fetches.Runner(driver) if subject == _FETCHES else Runner(driver)
    cases = fetches.cases() if subject == _FETCHES else list(store.chosen(subject, store.read()))
    for case in cases:
        yield case.name, lambda case=case: runner.run(case)  # type: ignore[misc]
    runner.close()
