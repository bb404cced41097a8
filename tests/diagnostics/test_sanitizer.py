"""The text of compute-sanitizer taken apart: of an H200 (2025.3.1), of its manual, without a GPU.

The first kind, named TOOL-KERNEL.txt, is what it says of the kernels in ``tests/data/faults``: the
first two findings of each and no frames of the host.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cudarun.diagnostics.entries import FindingLocation, SanitizerFinding
from cudarun.diagnostics.sanitizer import parse_sanitizer_log

DATA = Path(__file__).resolve().parents[1] / "data" / "sanitizer"


def findings(name: str) -> tuple[SanitizerFinding, ...]:
    return parse_sanitizer_log((DATA / name).read_text()).findings


def found_in(name: str) -> tuple[SanitizerFinding, ...]:
    """The findings in a kernel, without those about failed calls of the driver."""
    return tuple(f for f in findings(name) if not f.message.startswith("Program hit "))


def test_an_access_has_its_place_its_thread_and_its_address() -> None:
    first, second = found_in("memcheck-misaligned.txt")
    assert first == SanitizerFinding(
        kind="Invalid __global__ write",
        severity="error",
        message="Invalid __global__ write of size 4 bytes",
        kernel="misaligned",
        places=(FindingLocation("", "misaligned", 0x40, "faults.cu", 41),),
        block=(0, 0, 0),
        thread=(0, 0, 0),
        address=0x7FCE1CE00001,
        details=(
            "at misaligned+0x40 in faults.cu:41",
            "by thread (0,0,0) in block (0,0,0)",
            "Access to 0x7fce1ce00001 is misaligned",
            "and is inside the nearest allocation at 0x7fce1ce00000 of size 256 bytes",
        ),
    )
    assert second.thread == (1, 0, 0)


@pytest.mark.parametrize(
    ("name", "kind", "line", "thread", "address"),
    [
        ("memcheck-out_of_bounds", "Invalid __global__ write", 37, 0, 0x806872E00000),
        ("memcheck-trap", "Trace/breakpoint trap", 45, 0, None),
        (
            "initcheck-uninitialised_read",
            "Uninitialized __global__ memory read",
            29,
            0,
            0x7FF692800000,
        ),
        ("synccheck-divergent_barrier", "Barrier error detected", 39, 32, None),
    ],
)
def test_what_a_tool_says_of_a_gpu(
    name: str, kind: str, line: int, thread: int, address: int | None
) -> None:
    finding = found_in(f"{name}.txt")[0]
    kernel = name.partition("-")[2]
    assert (finding.kind, finding.kernel, finding.address) == (kind, kernel, address)
    [place] = finding.places
    assert (place.function, place.line) == (kernel, line)
    assert (finding.block, finding.thread) == ((0, 0, 0), (thread, 0, 0))


def test_an_assertion_has_no_frame_that_leads_to_its_kernel() -> None:
    finding = found_in("memcheck-assertion.txt")[0]
    assert (finding.kind, finding.kernel) == ("Warp assert", None)
    assert [place.function for place in finding.places] == ["__assertfail", "__assertfail"]


def test_the_kernel_is_the_outermost_frame() -> None:
    first = findings("manual.txt")[0]
    assert first.kernel == "out_of_bounds_kernel()"
    assert [(place.function, place.line) for place in first.places] == [
        ("out_of_bounds_function()", 39),
        ("out_of_bounds_kernel()", 44),
    ]
    assert (first.block, first.thread, first.address) == ((1, 2, 0), (3, 0, 0), 0x87654320)


def test_a_place_without_a_name() -> None:
    free, leak = findings("manual.txt")[1:3]
    assert free.kind == "Malloc/Free error"
    assert free.places == (FindingLocation("", None, 0x79D8, None, None),)
    assert free.kernel is None
    assert leak.address == 0x7879C0800000


def test_both_sides_of_a_race() -> None:
    [race] = findings("racecheck-shared_race.txt")
    hazard = findings("manual.txt")[-1]
    assert (race.kind, race.severity, race.kernel) == ("Race reported", "error", "shared_race")
    assert race.places == (
        FindingLocation("Write access", "shared_race", 0xE0, "findings.cu", 22),
        FindingLocation("Read access", "shared_race", 0xF0, "findings.cu", 23),
    )
    assert (hazard.kind, hazard.severity) == ("Potential RAW hazard", "warning")
    assert [place.access for place in hazard.places] == ["Write", "Read"]
    assert (hazard.block, hazard.thread, hazard.address) == ((0, 0, 0), (35, 0, 0), 0x8C)


@pytest.mark.parametrize(
    ("index", "kind", "kernel", "file", "line"),
    [
        (3, "Barrier error detected", "myKernel(int *, int *)", "test.cu", 42),
        (4, "Barrier error detected", "myKernel(int *)", None, None),
        (5, "Potential invalid __shared__ read", "RemoteAccess(int *, int)", "RaceCluster.cu", 10),
        (6, "Invalid __shared__ read", "old_kernel(int*)", "old.cu", 10),
    ],
)
def test_others(index: int, kind: str, kernel: str, file: str | None, line: int | None) -> None:
    finding = findings("manual.txt")[index]
    assert (finding.kind, finding.kernel) == (kind, kernel)
    assert (finding.places[0].file, finding.places[0].line) == (file, line)


def test_a_failed_call_of_the_driver_is_a_finding_too() -> None:
    calls = [f.message for f in findings("memcheck-trap.txt") if f.kernel is None]
    assert [message.rpartition(" ")[2] for message in calls] == [
        "cuKernelGetParamInfo.",
        "cuCtxSynchronize.",
    ]


def test_what_the_program_writes_is_not_the_sanitizers() -> None:
    log = parse_sanitizer_log((DATA / "manual.txt").read_text())
    assert len(log.findings) == 8
    assert not any("Mallocing" in finding.message for finding in log.findings)


def test_errors_are_counted_by_the_summary() -> None:
    logs = {path.stem: parse_sanitizer_log(path.read_text()) for path in DATA.iterdir()}
    assert {name: log.total for name, log in logs.items()} == {
        "memcheck-out_of_bounds": 100,
        "memcheck-misaligned": 66,
        "memcheck-trap": 66,
        "memcheck-assertion": 34,
        "racecheck-shared_race": 1,
        "racecheck-clean": 0,
        "initcheck-uninitialised_read": 64,
        "synccheck-divergent_barrier": 7,
        "manual": 8,  # and not the bytes of the leak
        "not_instrumented": None,
    }
    ended = ("Target application returned an error",)
    for name, log in logs.items():
        if name != "not_instrumented":
            assert log.complaints in ((), ended), name


def test_complaints_about_the_run_are_no_findings() -> None:
    log = parse_sanitizer_log((DATA / "not_instrumented.txt").read_text())
    assert log.findings == ()
    assert [complaint.splitlines()[0] for complaint in log.complaints] == [
        "Error: process didn't terminate successfully",
        "Error: Target application terminated before first instrumented API call",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Internal Sanitizer Error: The Sanitizer encountered an error while launching k",
        'Error: Device not supported. Please refer to the "Supported Devices" section',
        "Target application returned an error",
        "Warning: Detected overflow of tracked cuda::barrier structures.",
    ],
)
def test_more_complaints(line: str) -> None:
    log = parse_sanitizer_log(f"========= {line}\n========= ERROR SUMMARY: 0 errors\n")
    assert (log.findings, log.complaints, log.total) == ((), (line,), 0)


def test_nothing_found() -> None:
    text = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
    log = parse_sanitizer_log(text)
    assert (log.findings, log.complaints, log.total) == ((), (), 0)
    text = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
    assert parse_sanitizer_log(text).total == 0
