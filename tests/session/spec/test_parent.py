"""When a worker stands by while the cases of a spec run on a device."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from cudarun.model.spec import CaseReport
from cudarun.session.driver.contexts import ContextOptions, Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.launch.request import Program
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep
from cudarun.session.spec.case import Case
from cudarun.session.spec.limits import CandidateLimits
from cudarun.session.spec.parent import DeviceRun
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.worker import Answer, WorkerSpec
from tests.session.spec.test_case import H200

DEVICES = tuple(parse_devices("0"))


class Recorder(WorkerPool):
    """A pool without processes, which counts how often a spare is to stand by."""

    def __init__(self) -> None:
        super().__init__()
        self.spares = 0

    def reserve(self, spec: WorkerSpec[Any], count: int = 1) -> None:
        self.spares += count == 2


class Run(DeviceRun):
    """Without launches: a worker is lost to every case whose name says so."""

    def _prepare(self, *_: Any) -> Generator[Any, Any, Answer[Any]]:
        return Answer(H200, None)
        yield

    def _launch(self, case: Case, *_: Any) -> Generator[Any, Any, CaseReport]:
        self._losses += case.name.startswith("faults")
        return CaseReport(case.name, 1, "0", "passed", None)
        yield


def cases(text: str) -> list[Case]:
    """``.`` comes back, ``!`` is told to fault and does, ``?`` faults unforeseen."""
    step = LaunchStep(
        image=Image("x.ptx", b""),
        kernel=None,
        geometry=GeometryRequest(),
        tolerance=None,  # type: ignore[arg-type]
    )
    request = Program((step,))
    names = {".": "good", "!": "faults as told", "?": "faults"}
    return [
        Case(
            names[each],
            1,
            request,
            (),
            ContextOptions(),
            expected="ILLEGAL_ADDRESS" if each == "!" else None,
        )
        for each in text
    ]


@pytest.mark.parametrize(
    ("given", "stands_by"),
    [
        ("....", "____"),  # nothing will be lost
        ("..!.", "xxx_"),  # from the start until what is told has been
        ("...!", "____"),  # nobody comes after the last
        ("?.......", "_xxx____"),  # one in two, then one in three, …: one more is to be expected
        ("??......", "_xxxx___"),
        ("!.......", "x_______"),  # what is told says nothing of the others
    ],
)
def test_a_worker_stands_by_where_one_will_be_missed(given: str, stands_by: str) -> None:
    pool, seen, before = Recorder(), "", 0

    def settled(_: CaseReport) -> None:
        nonlocal seen, before
        seen += "x" if pool.spares > before else "_"
        before = pool.spares

    run = Run(pool, DEVICES, Target(DEVICES))
    assert list(run.steps(cases(given), settled, CandidateLimits())) == []
    assert seen == stands_by
