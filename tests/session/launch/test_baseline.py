"""The comparison of times with a baseline, on a device whose times count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cudarun.arguments.dimensions import parse_extent
from cudarun.arguments.expressions.statements import Check, parse_check
from cudarun.arguments.grammar import parse_arguments
from cudarun.emulator.host.process import process
from cudarun.images.reader import read_image
from cudarun.model.runs import BaselineResult, SpeedResult
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.launch.request import BaselineLaunch, Program, ProgramOptions, Timing
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep
from cudarun.session.launch.steps import load_libraries
from cudarun.session.launch.verified_runs import run_verified
from cudarun.session.workers.session import Session

KERNELS = "".join(
    f"""
.visible .entry {name}(.param .u64 y)
{{
    .reg .u32 %r<3>;
    .reg .u64 %p<3>;
    ld.param.u64 %p1, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %p2, %r1, 4;
    add.u64 %p1, %p1, %p2;
    mov.u32 %r2, {value};
    st.global.u32 [%p1], %r2;
    ret;
}}
"""
    for name, value in (("seven", 7), ("also_seven", 7), ("eight", 8))
)
DATA = f".version 7.0\n.target sm_70\n.address_size 64\n{KERNELS}".encode()


@pytest.fixture
def measuring() -> Iterator[Session]:
    """A session of the emulated device that counts as one whose times are those of a device."""
    process.reset()
    session = Session(Target(parse_devices("cpu")), parse_devices("cpu"))
    session.driver.traits = replace(session.driver.traits, measures_device=True)
    yield session
    process.reset()


def program(kernel: str, *checks: Check, **options: Any) -> Program:
    step = LaunchStep(
        image=Image("k.ptx", DATA, read_image(DATA, "k.ptx")),
        kernel=kernel,
        geometry=GeometryRequest(block=parse_extent("4")),
        arguments=parse_arguments(["y=u32[4]"]),
        checks=checks,
    )
    options = {"timing": Timing(repeat=4, warmup=0)} | options
    return Program((step,), ProgramOptions(**options))


def speed(session: Session, baseline: str, *checks: Check, **options: Any) -> SpeedResult | None:
    other = program(baseline)
    launch = program("seven", *checks, baseline=BaselineLaunch(baseline, other), **options)
    libraries = load_libraries(session, launch), load_libraries(session, other)
    found = run_verified(session, libraries[0], launch, session.devices[0], libraries[1])
    assert isinstance(found.baseline, BaselineResult)
    return found.baseline.speed


def test_times_of_equal_results_are_compared(measuring: Session) -> None:
    found = speed(measuring, "also_seven", parse_check("y == 7"))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.ratio <= found.high
    assert (found.confidence, 0 < found.p_value <= 1) == (0.95, True)


@pytest.mark.parametrize(
    ("baseline", "checks", "options"),
    [
        ("eight", (), {}),
        ("also_seven", ("y == 8",), {}),
        ("also_seven", ("y == y[9]",), {}),
        ("also_seven", ("y == 8",), {"seeds": 2}),
        ("also_seven", ("y >= 0",), {"check_strength": "fail"}),
    ],
    ids=["another result", "a failed check", "no check", "each seed", "a weak check"],
)
def test_nothing_that_fails_is_faster(
    measuring: Session, baseline: str, checks: tuple[str, ...], options: dict[str, Any]
) -> None:
    assert speed(measuring, baseline, *map(parse_check, checks), **options) is None
