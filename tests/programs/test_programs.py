"""Every program does on the emulated device what its spec says, and what a GPU was recorded to do.

``CUDARUN_PROGRAMS_DEVICE=0 pytest tests/programs`` runs them on the first GPU instead.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support import programs
from tests.support.programs import CHAPTERS, FOLDER, RECORDED, difference

DEVICE = os.environ.get("CUDARUN_PROGRAMS_DEVICE", "cpu")
SHARING = (
    *("cluster", "graph", "groups", "heap", "histogram", "local", "mma", "scan", "sort", "sparse"),
    *("stencil", "sync", "transpose", "triton", "warp", "wmma"),
)  # chapters whose threads share memory, or leave some of it unwritten
KERNEL = re.compile(r"^\.visible \.entry (\w+)\(", re.MULTILINE)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_programs(chapter: str, tmp_path: Path) -> None:
    outcomes = programs.run(chapter, DEVICE, tmp_path)
    assert [(each.name, each.reason) for each in outcomes if each.verdict != "passed"] == []
    assert all(each.buffers for each in outcomes)
    assert programs.recorded_differences(chapter, outcomes) == []
    if chapter == "printing":
        printed = "".join(each.printed for each in outcomes)
        assert printed == (FOLDER / "printing.txt").read_text()


@pytest.mark.skipif(DEVICE != "cpu", reason="nobody can watch a GPU")
@pytest.mark.parametrize("chapter", SHARING)
def test_detectors_find_nothing_in_correct_programs(chapter: str, tmp_path: Path) -> None:
    outcomes = programs.run(chapter, DEVICE, tmp_path, detect="race,uninit,sync")
    assert [(each.name, each.reason) for each in outcomes if each.verdict != "passed"] == []


def test_every_kernel_has_a_case() -> None:
    kernels, launched = set(), set()
    for chapter in CHAPTERS:
        for case in programs.cases(chapter):
            path = FOLDER / case["image"]
            names = KERNEL.findall(path.read_text("utf-8"))
            launched.add((path.name, case["kernel"] if "kernel" in case else names[0]))
    for path in [*FOLDER.glob("*.ptx"), *FOLDER.glob("triton/*.ptx")]:
        kernels |= {(path.name, name) for name in KERNEL.findall(path.read_text("utf-8"))}
    assert kernels == launched
    assert len(kernels) >= 100


def test_every_case_checks_something() -> None:
    cases = [case for chapter in CHAPTERS for case in programs.cases(chapter)]
    assert [case["name"] for case in cases if not case.get("check")] == []
    names = [case["name"] for case in cases]
    assert len(set(names)) == len(names)


def test_what_is_inexact_is_there() -> None:
    cases = {case["name"]: case for chapter in CHAPTERS for case in programs.cases(chapter)}
    for name, buffers in programs.inexact().items():
        for buffer, allowed in buffers.items():
            assert any(text.startswith(f"{buffer}=") for text in cases[name]["args"])
            assert "order" in allowed or "because" in allowed


def test_everything_is_recorded() -> None:
    """But for what the order of threads decides."""
    missing = set()
    for chapter in CHAPTERS:
        told = json.loads((RECORDED / f"{chapter}.json").read_text())
        for case in programs.cases(chapter):
            allowed = programs.inexact().get(case["name"], {})
            buffers = {match[1] for text in case["args"] if (match := programs.BUFFER.match(text))}
            wanted = {name for name in buffers if "order" not in allowed.get(name, {})}
            found = told[case["name"]]
            missing |= {(case["name"], name) for name in wanted - found["buffers"].keys()}
            missing |= {(case["name"], "printed")} - {(case["name"], key) for key in found}
    assert missing == set()


def test_differences_are_seen() -> None:
    ones, others = np.ones(3, np.float32), np.array([1, 1 + 2e-7, 1], np.float32)
    doubles, near, far = (np.array([1.0, x, 1.0]) for x in (1.0, 1 + 1e-10, 1.1))
    assert difference("scan_block", "out", "f32", ones.tobytes(), ones.tobytes()) is None
    told = difference("scan_block", "out", "f32", others.tobytes(), ones.tobytes())
    assert told is not None
    assert told.startswith("out: 1 of 3 differ")
    sums = ("conjugate_gradients", "x", "f64")
    assert difference(*sums, near.tobytes(), doubles.tobytes()) is None
    assert difference(*sums, far.tobytes(), doubles.tobytes()) is not None
    assert difference("filter", "out", "i32", b"abcd", b"dcba") is None
    assert difference("filter", "count", "i32", b"abcd", b"dcba") is not None
    assert difference("filter", "count", "i32", b"abc", b"abcd") == "count: 3 bytes, not 4"
