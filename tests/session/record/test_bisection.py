"""Shrinking by replays without parts of the memory, with the emulated device in place of a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cudarun.base.errors import InternalError, RequestError, WorkerDied
from cudarun.commands.recorded_request import recorded_launch
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.record.bisection import _is_failure_of_replay, bisect
from cudarun.session.record.page_search import PAGE, PageSearch, RecordedPages
from cudarun.session.recording.archive import RecordingWriter, read_recording
from cudarun.session.recording.manifest import Manifest, MemoryPiece, RecordedRange
from tests.support.stub_driver import PTX

BASE = 0x7F0000000000
CPU = Target(devices=parse_devices("cpu"), capture=True)


def _needed(count: int, needed: set[int], most: int = 10_000) -> tuple[set[int], int]:
    """Return the pages that a search keeps, and the number of its tests."""
    search = PageSearch([(0, count)], most)
    tests = 0
    while (block := search.next()) is not None:
        search.answer(block, is_unneeded=not needed & {*range(*block)})
        tests += 1
    kept = {*range(count)}
    for block in search.unneeded:
        kept -= {*range(*block)}
    return kept, tests


@pytest.mark.parametrize("needed", [set(), {0}, {77}, {999}, {3, 4, 5, 600}, {*range(200, 260)}])
def test_a_search_finds_the_needed_pages(needed: set[int]) -> None:
    kept, tests = _needed(1000, needed)
    assert kept == needed
    assert tests <= 2 * 10 * len(needed) + 1


def test_a_search_is_bounded_and_finds_the_ends_first() -> None:
    needed = {*range(5000, 9000)}
    kept, tests = _needed(20_000, needed, most=120)
    assert tests == 120
    assert kept >= needed
    assert len(kept) < 1.05 * len(needed)


def test_only_unchanged_pages_are_searched() -> None:
    ranges = (
        RecordedRange("m0", BASE, 3 * PAGE + 1, after=(MemoryPiece(PAGE + 5, 9, "0" * 32),)),
        RecordedRange("m1", BASE + 8 * PAGE, PAGE),
    )
    pages = RecordedPages(Manifest("k", (1, 1, 1), (1, 1, 1), ranges=ranges))
    assert pages.unchanged() == [(0, 1), (2, 5)]
    assert [*pages.spans(0, [(3, 5)])] == [(3 * PAGE, 3 * PAGE + 1)]
    assert [(each.name, low, high) for each, low, high in pages.without([(0, 1), (2, 3)])] == [
        ("m0", PAGE, 2 * PAGE),
        ("m0", 3 * PAGE, 3 * PAGE + 1),
        ("m1", 0, PAGE),
    ]


def _recording(path: Path, *, result: float = 6, status: int = 0) -> None:
    """Record a launch of ``gather`` over an arena: a table of pointers to two rows, and sums."""
    before = np.random.default_rng(1).integers(0, 256, 256 * PAGE, dtype=np.uint8)
    rows = before.view(np.float32)
    for page in (40, 100):
        rows[page * PAGE // 4 :][:32] = 3
    before.view(np.uint64)[7 * PAGE // 8 :][:2] = BASE + 40 * PAGE, BASE + 100 * PAGE
    sums = np.full(32, result, np.float32).tobytes()
    parameters = np.array([BASE + 7 * PAGE, BASE + 200 * PAGE + 8, 2], np.uint64).tobytes()[:20]
    with open(path, "wb") as file:
        writer = RecordingWriter(file)
        memory = RecordedRange(
            "m0",
            BASE,
            before.size,
            tuple(writer.pieces(before.data, zeros=False)),
            tuple(writer.pieces(sums, 200 * PAGE + 8)),
        )
        manifest = Manifest(
            "gather", (1, 1, 1), (32, 1, 1), parameters=parameters, ranges=(memory,), status=status
        )
        writer.finish(manifest, PTX.read_bytes(), PTX.read_bytes())


def test_a_recording_shrinks_to_the_needed_pages(tmp_path: Path) -> None:
    path = tmp_path / "arena.cudarun"
    _recording(path)
    small = bisect(recorded_launch(str(path)), CPU, tmp_path)
    manifest = read_recording(str(small), 1 << 20).manifest
    pages = [((each.address - BASE) // PAGE, each.size) for each in manifest.memory]
    assert pages == [(7, PAGE), (40, PAGE), (100, PAGE), (200, PAGE)]
    assert manifest.shrunk
    assert small.stat().st_size < path.stat().st_size / 20


def test_other_results_and_faults_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "arena.cudarun"
    _recording(path, result=7)
    with pytest.raises(RequestError, match="the replay has other results"):
        bisect(recorded_launch(str(path)), CPU, tmp_path)
    _recording(path, status=700)
    with pytest.raises(RequestError, match="did not end well"):
        bisect(recorded_launch(str(path)), CPU, tmp_path)


def test_an_error_of_cudarun_is_no_failure_of_a_replay() -> None:
    assert _is_failure_of_replay(WorkerDied("a signal"))
    assert not _is_failure_of_replay(InternalError(ValueError()))
