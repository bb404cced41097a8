"""When a worker stands by while the cases of a spec run on a device."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from cudarun.report.spec_types import CaseReport
from cudarun.session.driver.selection import parse_devices
from cudarun.session.driver.target import ContextOptions, Target
from cudarun.session.image.image import Image
from cudarun.session.launch.request import Geometry, LaunchRequest
from cudarun.session.spec.case import Case, Expected
from cudarun.session.spec.parent import Crew, _Lane
from cudarun.session.workers.parent import Outcome
from tests.session.spec.test_case import H200

PLACE = tuple(parse_devices("0")), ContextOptions()


class Recorder(Crew):
    """A crew without processes, which counts how often one is to stand by."""

    def __init__(self) -> None:
        self.selectors, self.label, self.losses = PLACE[0], "0", 0
        self.backed_up = 0

    def back_up(self, place: Any) -> None:
        assert place == PLACE
        self.backed_up += 1

    def member(self, place: Any, timeout: float | None) -> Generator[Any, Any, Outcome[Any]]:
        return Outcome(H200, None)
        yield

    def dismiss(self) -> None:
        pass


class Lane(_Lane):
    """Without launches: a worker is lost to every case whose name says so."""

    def _launch(self, case: Case, *_: Any) -> Generator[Any, Any, CaseReport]:
        self._crew.losses += case.name.startswith("faults")
        return CaseReport(case.name, 1, "0", "passed", None)
        yield


def cases(text: str) -> list[Case]:
    """``.`` comes back, ``!`` is told to fault and does, ``?`` faults unforeseen."""
    request = LaunchRequest(
        image=Image("x.ptx", b""),
        kernel=None,
        geometry=Geometry((1, 1, 1), (1, 1, 1)),
        arguments=(),
        checks=(),
        prints=(),
        saves=(),
        tolerance=None,  # type: ignore[arg-type]
        seed=0,
    )
    names = {".": "good", "!": "faults as told", "?": "faults"}
    fault = Expected("ILLEGAL_ADDRESS")
    return [
        Case(names[each], 1, request, ContextOptions(), expected=fault if each == "!" else None)
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
    crew, seen = Recorder(), ""
    target = Target(PLACE[0])
    before = 0

    def settled(_: CaseReport) -> None:
        nonlocal seen, before
        seen += "x" if crew.backed_up > before else "_"
        before = crew.backed_up

    lane = Lane(crew, cases(given), target, settled, lambda: False)
    assert list(lane.steps()) == []
    assert seen == stands_by
