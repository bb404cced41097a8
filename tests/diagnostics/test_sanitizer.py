"""The text of compute-sanitizer taken apart: as in its manual, and what it says without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudarun.diagnostics.findings import Finding, Place
from cudarun.diagnostics.sanitizer import parse_sanitizer_log

DATA = Path(__file__).resolve().parents[1] / "data" / "sanitizer"


def findings(name: str) -> tuple[Finding, ...]:
    return parse_sanitizer_log((DATA / name).read_text()).findings


def test_an_access_has_its_place_its_thread_and_its_address() -> None:
    first, *_ = findings("memcheck.txt")
    assert first == Finding(
        kind="Invalid __global__ write",
        severity="error",
        message="Invalid __global__ write of size 4 bytes",
        kernel="unaligned_kernel()",
        places=(Place("", "unaligned_kernel()", 0x100, "memcheck_demo.cu", 34),),
        block=(0, 0, 0),
        thread=(0, 0, 0),
        address=0x7CC43AA00001,
        details=(
            "at unaligned_kernel()+0x100 in memcheck_demo.cu:34",
            "by thread (0,0,0) in block (0,0,0)",
            "Address 0x7cc43aa00001 is misaligned",
            "and is inside the nearest allocation at 0x7cc43aa00000 of size 4 bytes",
        ),
    )


def test_the_kernel_is_the_outermost_frame() -> None:
    second = findings("memcheck.txt")[1]
    assert second.kernel == "out_of_bounds_kernel()"
    assert [(place.function, place.line) for place in second.places] == [
        ("out_of_bounds_function()", 39),
        ("out_of_bounds_kernel()", 44),
    ]
    assert (second.block, second.thread, second.address) == ((1, 2, 0), (3, 0, 0), 0x87654320)


def test_a_place_without_a_name() -> None:
    free = findings("memcheck.txt")[2]
    assert free.kind == "Malloc/Free error"
    assert free.places == (Place("", None, 0x79D8, None, None),)
    assert free.kernel is None


def test_both_sides_of_a_race() -> None:
    race, hazard = findings("racecheck.txt")
    kernel = "sumKernel(int *, int *)"
    assert (race.kind, race.severity, race.kernel) == ("Race reported", "error", kernel)
    assert race.places == (
        Place("Write access", kernel, 0x90, "/home/x/block_error.cu", 41),
        Place("Read access", kernel, 0x100, "/home/x/block_error.cu", 51),
    )
    assert (hazard.kind, hazard.severity) == ("Potential RAW hazard", "warning")
    assert [place.access for place in hazard.places] == ["Write", "Read"]
    assert (hazard.block, hazard.thread, hazard.address) == ((0, 0, 0), (35, 0, 0), 0x8C)


@pytest.mark.parametrize(
    ("index", "kind", "kernel", "file", "line"),
    [
        (
            0,
            "Uninitialized __global__ memory read",
            "vectorAdd(int *)",
            "/home/x/memset_error.cu",
            41,
        ),
        (1, "Barrier error detected", "myKernel(int *, int *)", "test.cu", 42),
        (2, "Barrier error detected", "myKernel(int *)", None, None),
        (4, "Potential invalid __shared__ read", "RemoteAccess(int *, int)", "RaceCluster.cu", 10),
        (5, "Invalid __shared__ read", "old_kernel(int*)", "old.cu", 10),
    ],
)
def test_others(index: int, kind: str, kernel: str, file: str | None, line: int | None) -> None:
    finding = findings("others.txt")[index]
    assert (finding.kind, finding.kernel) == (kind, kernel)
    assert (finding.places[0].file, finding.places[0].line) == (file, line)


def test_what_the_program_writes_is_not_the_sanitizers() -> None:
    log = parse_sanitizer_log((DATA / "memcheck.txt").read_text())
    assert len(log.findings) == 4
    assert not any("Mallocing" in finding.message for finding in log.findings)


def test_errors_are_counted_by_the_summary() -> None:
    logs = {path.stem: parse_sanitizer_log(path.read_text()) for path in DATA.iterdir()}
    assert {name: log.total for name, log in logs.items()} == {
        "memcheck": 3,  # and not the bytes of the leak
        "racecheck": 2,
        "others": 6,
        "not_instrumented": None,
    }
    assert not any(log.complaints for name, log in logs.items() if name != "not_instrumented")


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
