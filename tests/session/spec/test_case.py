"""What a case needs, what it expects, and how it is judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cudarun.base.errors import (
    CheckFailed,
    CudarunError,
    DeviceFailed,
    ExitCode,
    OutOfTime,
    RequestError,
    WorkerDied,
)
from cudarun.model.devices import DeviceInfo
from cudarun.session.driver.contexts import ContextOptions
from cudarun.session.spec.case import Case, is_expected, is_met, parse_expected, parse_requirement

H200 = DeviceInfo(
    label="0",
    index=0,
    name="NVIDIA H200",
    uuid="GPU-0",
    pci_bus_id="0000:00:00.0",
    compute_capability=(9, 0),
    multiprocessors=132,
    memory_free=None,
    memory_total=139 << 30,
    driver_version=(13, 0),
    ptx_version=(9, 0),
)
B200 = replace(H200, compute_capability=(10, 0))
FAULT = DeviceFailed("x: y", cuda=("CUDA_ERROR_ILLEGAL_ADDRESS", 700))


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("gpu", True),
        ("cpu", False),
        ("sm_75", True),
        ("sm_90", True),
        ("sm_100", False),
        ("sm_120", False),
        ("cuda 12.4", True),
        ("cuda 13.0", True),
        ("cuda 13.1", False),
        ("memory 139Gi", True),
        ("memory 140Gi", False),
    ],
)
def test_requirements(text: str, met: bool) -> None:
    assert is_met(parse_requirement(text), "cuda", H200) is met


def test_requirements_of_two_digit_majors_and_of_the_emulated_device() -> None:
    assert is_met(parse_requirement("sm_100"), "cuda", B200)
    assert not is_met(parse_requirement("sm_120"), "cuda", B200)
    assert is_met(parse_requirement("cpu"), "cpu", H200)
    assert not is_met(parse_requirement("gpu"), "cpu", H200)


@pytest.mark.parametrize("text", ["", "sm_9", "sm_90a", "GPU", "cuda 12", "memory 4", "tensor"])
def test_what_is_no_requirement(text: str) -> None:
    with pytest.raises(RequestError, match="is not a device requirement"):
        parse_requirement(text)


@pytest.mark.parametrize(
    ("text", "error", "matches"),
    [
        ("ILLEGAL_ADDRESS", FAULT, True),
        ("cuda_error_illegal_address", FAULT, True),
        ("700", FAULT, True),
        ("0700", FAULT, True),
        ("DeviceFailed", FAULT, True),
        ("MISALIGNED_ADDRESS", FAULT, False),
        ("716", FAULT, False),
        ("OutOfTime", FAULT, False),
        ("OutOfTime", OutOfTime("late"), True),
        ("ILLEGAL_ADDRESS", OutOfTime("late"), False),
        ("WorkerDied", WorkerDied("gone"), True),
    ],
)
def test_expected_errors(text: str, error: CudarunError, matches: bool) -> None:
    assert is_expected(error, parse_expected(text)) is matches


@pytest.mark.parametrize("text", ["", "0", "CUDA_SUCCESS", "outoftime", "12345", "Exception"])
def test_what_is_no_error(text: str) -> None:
    with pytest.raises(RequestError, match="is neither a CUresult"):
        parse_expected(text)


def judged(expected: str | None, error: CudarunError | None) -> tuple[object, ...]:
    wanted = None if expected is None else parse_expected(expected)
    case = Case("x", 1, None, (), ContextOptions(), expected=wanted)
    return case.judge(None, error)


def test_verdicts() -> None:
    assert judged(None, None) == ("passed", None, ExitCode.OK)
    assert judged(None, FAULT) == ("failed", str(FAULT), ExitCode.DEVICE_FAILED)
    assert judged("700", FAULT) == ("passed", None, ExitCode.OK)
    assert judged("716", FAULT) == (
        "failed", f"expected 716, got: {FAULT}", ExitCode.DEVICE_FAILED
    )  # fmt: skip
    assert judged("700", None) == (
        "failed",
        "expected 700, but the launch passed",
        ExitCode.CHECK_FAILED,
    )
    assert judged("CheckFailed", CheckFailed("no")) == ("passed", None, ExitCode.OK)


@pytest.mark.parametrize(
    ("expected", "ends_worker"),
    [(None, False), ("CheckFailed", False), ("ImageRefused", False), ("700", True),
     ("OutOfTime", True)],
)  # fmt: skip
def test_which_cases_cost_a_worker(expected: str | None, ends_worker: bool) -> None:
    wanted = None if expected is None else parse_expected(expected)
    assert Case("x", 1, None, (), ContextOptions(), expected=wanted).ends_worker is ends_worker
