"""``--sanitize``: the worker's process, its answer, the sanitizer's words, and what can go wrong.

compute-sanitizer itself needs a GPU (``tools/hardware/sanitize.py``). Here a small program has its
place: it runs the worker, which is the real one on an emulated device, and writes a log.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cudarun.arguments.dimensions import parse_extent
from cudarun.arguments.grammar import parse_arguments
from cudarun.base.errors import CudarunError, NoDevice
from cudarun.model.launch import DeviceOutcome, LaunchReport
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.launch.request import FunctionRun, Program, ProgramOptions
from cudarun.session.launch.sanitizer import PROGRAM, find_sanitizer, sanitize
from cudarun.session.launch.step_request import BufferExpectation, GeometryRequest, LaunchStep
from tests.support.processes import PATIENCE, marked, wait_until

ROOT = Path(__file__).resolve().parents[3]
IMAGE = ROOT / "tests" / "data" / "faults" / "faults.ptx"
NOTHING = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
DATA = ROOT / "tests" / "data" / "sanitizer"
FOUND = (DATA / "initcheck-uninitialised_read.txt").read_text()
# As it is where the worker ends in order and calls of the driver are not looked at.
ASSERTED = re.sub(
    r"=+ (?:Program hit .*|Target application .*)\n",
    "",
    (DATA / "memcheck-assertion.txt").read_text(),
)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make a program of the sanitizer's name that runs the worker and does what ``body`` says."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")

    def make(log: str = NOTHING, body: str = "sys.exit(run())") -> None:
        script = f"""\
            #!{sys.executable}
            import os, subprocess, sys, time
            log = sys.argv[sys.argv.index("--log-file") + 1]
            worker = sys.argv[sys.argv.index("--log-file") + 2:]
            def run():
                status = subprocess.call(worker)
                with open(log, "w") as file:
                    file.write({log!r})
                return status
        """
        program = folder / PROGRAM
        program.write_text(textwrap.dedent(script) + textwrap.dedent(body) + "\n")
        program.chmod(0o755)

    return make


def launched(
    kernel: str = "good",
    devices: str = "cpu",
    timeout: float | None = PATIENCE,
    expectations: tuple[BufferExpectation, ...] = (),
    function_timeout: float = PATIENCE,
) -> LaunchReport:
    step = LaunchStep(
        expectations=expectations,
        image=Image("faults.ptx", IMAGE.read_bytes()),
        kernel=kernel,
        geometry=GeometryRequest(block=parse_extent("64")),
        arguments=parse_arguments(["out=i32[n]:zeros", "n=i32:64"]),
    )
    options = ProgramOptions(functions=FunctionRun(timeout=function_timeout))
    return sanitize(
        "memcheck", Program((step,), options), Target(parse_devices(devices), timeout=timeout)
    )


def only(report: LaunchReport) -> DeviceOutcome:
    [outcome] = report.outcomes
    return outcome


def failure(report: LaunchReport) -> CudarunError:
    error = only(report).error
    assert error is not None
    return error


def test_a_launch_without_findings(stand_in) -> None:
    stand_in()
    report = launched()
    outcome = only(report)
    assert report.exit_code == 0
    assert outcome.result is not None
    assert outcome.result.kernel == "good"
    assert outcome.sanitizer is not None
    assert (outcome.sanitizer.tool, outcome.sanitizer.findings) == ("memcheck", ())


def test_findings_are_exit_code_1(stand_in) -> None:
    stand_in(FOUND)
    report = launched()
    sanitizer = only(report).sanitizer
    assert report.exit_code == 1
    assert sanitizer is not None
    assert (len(sanitizer.findings), sanitizer.total) == (2, 64)


def test_also_where_the_launch_fails_of_them(stand_in) -> None:
    stand_in(FOUND)
    report = launched("trap")
    assert report.exit_code == 1
    assert failure(report).exit_code == 5
    stand_in(NOTHING)
    report = launched("trap")
    assert report.exit_code == 5
    assert "LAUNCH_FAILED, 719" in str(failure(report))


def test_a_finding_that_leads_to_no_kernel_is_of_the_one_launched(stand_in) -> None:
    stand_in(ASSERTED)
    for kernel in ("good", "assertion"):  # with a result, with an error
        sanitizer = only(launched(kernel)).sanitizer
        assert sanitizer is not None
        assert {found.kernel for found in sanitizer.findings} == {kernel}


def test_every_device_has_a_worker_of_its_own(stand_in) -> None:
    stand_in()
    report = launched(devices="cpu:all")
    assert [outcome.device for outcome in report.outcomes] == ["cpu", "cpu:1"]
    assert all(outcome.result is not None for outcome in report.outcomes)


def test_what_is_wrong_with_the_request_is_told_as_ever(stand_in) -> None:
    stand_in()
    assert "has no kernel 'nobody'" in str(failure(launched("nobody")))
    assert launched("nobody").exit_code == 2
    assert launched(devices="cpu:7").exit_code == 3


@pytest.mark.parametrize(
    ("log", "body", "code", "says"),
    [
        (NOTHING, "sys.exit(3)", 7, "exited with status 3 without a summary"),
        ("", "sys.exit(run())", 7, "exited with status 0 without a summary"),
        (NOTHING, "os.kill(os.getpid(), 9)", 7, "exited with status -9 without a summary"),
        (
            "========= Error: Target application terminated before first instrumented API call\n",
            "sys.exit(run())",
            7,
            "Target application terminated before first instrumented API call",
        ),
        (
            '========= Error: Device not supported. Please refer to the "Supported Devices"\n',
            "sys.exit(run())",
            5,
            "Device not supported",
        ),
        (
            f"========= Internal Sanitizer Error: out of memory\n{NOTHING}",
            "sys.exit(run())",
            7,
            "Internal Sanitizer Error: out of memory",
        ),
    ],
)
def test_no_run_to_the_end_is_no_launch_without_findings(
    stand_in, log: str, body: str, code: int, says: str
) -> None:
    stand_in(log, body)
    report = launched()
    assert report.exit_code == code
    assert only(report).sanitizer is None
    assert says in str(failure(report))


def test_findings_in_unknown_words_are_findings(stand_in) -> None:
    stand_in("========= ERROR SUMMARY: 2 errors\n")
    report = launched()
    sanitizer = only(report).sanitizer
    assert report.exit_code == 1
    assert sanitizer is not None
    assert [finding.kind for finding in sanitizer.findings] == ["unrecognised"]


# --- with --expect -------------------------------------------------------------------------------

REFERENCE = """
import numpy as np, sys, time

def good(n, out):
    print("printed by the function")
    print("and on stderr", file=sys.stderr)
    assert out.tolist() == [0] * 64  # before the launch
    return np.arange(n, dtype=np.int32)

def other(n):
    return np.arange(n) + 1

def failing(n):
    raise ValueError("no such thing")

def slow(n):
    time.sleep(600)
"""


@pytest.fixture
def expectation(tmp_path: Path) -> Callable[[str], tuple[BufferExpectation]]:
    """Return what ``--expect out=ref.py:FUNCTION``, or ``out=@FILE``, requests."""
    (tmp_path / "ref.py").write_text(REFERENCE)
    np.save(tmp_path / "right.npy", np.arange(64, dtype=np.int32))

    def make(source: str) -> tuple[BufferExpectation]:
        is_file = source.endswith(".npy")
        path = str(tmp_path / (source if is_file else "ref.py"))
        return (BufferExpectation("out", path, None if is_file else source, source),)

    return make


@pytest.mark.parametrize("source", ["right.npy", "good"])
def test_what_is_expected_is_compared_under_the_sanitizer(
    stand_in, expectation, source: str
) -> None:
    stand_in()
    report = launched(expectations=expectation(source))
    outcome = only(report)
    assert (report.exit_code, outcome.error) == (0, None)
    assert outcome.result is not None
    [check] = outcome.result.checks
    assert (check.expression, check.passed, check.elements) == (f"out == {source}", True, 64)


def test_a_mismatch_counts_beside_findings(stand_in, expectation) -> None:
    for log, findings in ((NOTHING, 0), (FOUND, 2)):
        stand_in(log)
        report = launched(expectations=expectation("other"))
        outcome = only(report)
        assert report.exit_code == 1
        assert outcome.result is not None
        assert outcome.sanitizer is not None
        [check] = outcome.result.checks
        assert (check.passed, check.mismatches) == (False, 64)
        assert len(outcome.sanitizer.findings) == findings


def test_an_error_of_the_function_is_that_of_the_launch(stand_in, expectation) -> None:
    stand_in()
    report = launched(expectations=expectation("failing"))
    result = only(report).result
    assert report.exit_code == 2
    assert result is not None
    [error] = result.errors
    assert error.message == "--expect: ref.py:failing: ValueError: no such thing"


def test_a_function_has_its_own_time_limit_and_the_sanitizer_waits(stand_in, expectation) -> None:
    """Its time is neither the kernel's nor the device's: exit code 6 would blame them."""
    stand_in()
    report = launched(expectations=expectation("slow"), function_timeout=0.5)
    result = only(report).result
    assert report.exit_code == 2
    assert result is not None
    [error] = result.errors
    assert error.message == (
        "--expect: ref.py:slow: the function timed out after 0.5 s (--expect-timeout 0.5)"
    )
    assert error.hint is not None
    assert "not of the kernel" in error.hint


def test_nothing_is_compared_after_a_fault(stand_in, expectation) -> None:
    stand_in(FOUND)
    report = launched("trap", expectations=expectation("failing"))
    assert (report.exit_code, only(report).result) == (1, None)
    assert failure(report).exit_code == 5


def test_the_time_limit_ends_the_worker_too(stand_in, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"CUDARUN_TEST={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("="))
    stand_in()
    report = launched("endless", timeout=3)
    assert report.exit_code == 6
    assert "timed out after 3 s under compute-sanitizer (--timeout 3)" in str(failure(report))
    wait_until(lambda: not marked(mark), "end of the sanitizer and its worker")


def test_it_is_found_in_a_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "compute-sanitizer" / PROGRAM
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find_sanitizer() == str(program)


def test_that_it_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path: None)
    with pytest.raises(NoDevice, match="compute-sanitizer is not installed") as caught:
        find_sanitizer()
    assert "CUDA_HOME" in (caught.value.hint or "")
