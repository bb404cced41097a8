"""``record --shrink`` on a GPU, which does not see accesses: replays without parts of the memory.

A page is needed if the replay without its contents has other results, faults or does not end. The
answers of a worker are in a shared file, because it can die of any replay; the next one continues.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.base.errors import (
    AddressOccupied,
    CudarunError,
    InternalError,
    OutOfTime,
    RequestError,
    WorkerDied,
    errors_of,
)
from cudarun.session.driver.calls import is_fault
from cudarun.session.launch.parent import KernelJob, launch
from cudarun.session.record.page_search import PageSearch
from cudarun.session.record.parts import AccessedPart, ObservedReplay, write_parts
from cudarun.session.recording.archive import read_recording
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.shared_file import SharedFile

if TYPE_CHECKING:
    from cudarun.model.launch import LaunchReport
    from cudarun.session.driver.contexts import Target
    from cudarun.session.driver.devices import Device
    from cudarun.session.launch.request import Program
    from cudarun.session.launch.steps import Libraries
    from cudarun.session.workers.progress import ProgressDisplay

MOST_TESTS = 256
_LIMIT = 60.0  # seconds of a replay: without a part of its memory a kernel may not end
_PASSED, _FAILED = b"1", b"0"


def prefetch() -> None:
    """Import the modules of the replays in a worker."""
    import cudarun.session.record.replays  # noqa: F401


class BisectionJob(KernelJob[ObservedReplay]):
    """The search for the pages that a launch needs.

    Args:
        request: The launch of a recording.
        answers: The path of the file of answers: that of the replay of the whole recording first.
    """

    def __init__(self, request: Program, answers: str) -> None:
        super().__init__(request)
        self._answers = answers

    def _launch(self, libraries: Libraries, device: Device) -> ObservedReplay:
        from cudarun.session.record.replays import Replays

        replays = Replays(self.session, libraries, self.program, device)
        search = PageSearch(replays.pages.unchanged(), MOST_TESTS)
        with open(self._answers, "r+b", buffering=0) as file:
            known = file.read()
            if not known:
                replays.check()
                file.write(_PASSED)
            for answer in known[1:]:
                block = search.next()
                assert block is not None, "each answer has its question"
                search.answer(block, is_unneeded=answer == _PASSED[0])
            while (block := search.next()) is not None:
                self.session.progress.report(f"replaying without {block[1] - block[0]} pages")
                is_unneeded = replays.pass_without([*search.unneeded, block])
                search.answer(block, is_unneeded=is_unneeded)
                file.write(_PASSED if is_unneeded else _FAILED)
        parts = (
            AccessedPart(each.name, low, high - low, each.type)
            for each, low, high in replays.pages.without(search.unneeded)
        )
        kernel = libraries[0].kernel(self.program.last.kernel)
        return ObservedReplay(tuple(parts), kernel.parameters)


def bisect(
    request: Program, where: Target, folder: Path, display: ProgressDisplay | None = None
) -> Path:
    """Write a recording with only the pages that the launch needs to a folder; return its path."""
    recording = request.last.image.recording
    assert recording is not None, "only recordings are shrunk"
    if recording.manifest.status != 0:
        raise RequestError(
            "the recorded launch did not end well: only the emulated device, which requires PTX, "
            "finds the accesses of such a launch",
            origin=request.last.image.origin,
        )
    where = replace(where, timeout=where.timeout or _LIMIT)
    with WorkerPool() as pool:
        with errors_of(RequestError, origin=request.last.image.origin), SharedFile() as answers:
            workers = DeviceWorkers(pool, where, prefetch, display)
            job = BisectionJob(request, answers.path)
            while (error := (answer := workers.run(job)[0]).error) is not None:
                if not answers.read() or not _is_failure_of_replay(error):
                    raise error
                os.pwrite(answers.fileno(), _FAILED, len(answers.read()))
                workers.replace()  # it died of a replay
            observed = answer.unwrap()
        for whole_ranges in (False, True):
            path = folder / f"shrunk-{whole_ranges:d}"
            with open(path, "wb") as file:
                write_parts(recording, observed, file, whole_ranges=whole_ranges)
            if _is_equal(request, path, DeviceWorkers(pool, where)):
                return path
    raise RequestError(
        "the smaller recording has other results than the recorded launch",
        origin=request.last.image.origin,
    )


def _is_failure_of_replay(error: CudarunError) -> bool:
    died = isinstance(error, OutOfTime | WorkerDied) and not isinstance(error, InternalError)
    return died or is_fault(error)


def _is_equal(request: Program, path: Path, workers: DeviceWorkers) -> bool:
    """Return whether a recording replays with its results."""
    step = request.last
    small = read_recording(os.fspath(path), step.image.limit)
    step = replace(step, image=replace(step.image, recording=small))
    report: LaunchReport = launch(replace(request, steps=(step,)), workers)
    [outcome] = report.outcomes
    if isinstance(outcome.error, AddressOccupied):
        raise outcome.error
    result = outcome.result
    return (
        outcome.error is None
        and result is not None
        and all(check.passed for check in result.checks)
    )
