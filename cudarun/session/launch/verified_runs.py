"""``--seeds`` and ``--stateless``: a launch that runs several times, each run verified.

Before each run, buffers are allocated and initialized anew, and the variables of the image get the
values that they had after loading. Only the launches of ``--stateless`` find what earlier ones
left.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from cudarun.diagnostics.entries import notes
from cudarun.errors import DeviceFailed
from cudarun.report.types import LaunchResult, SeededRun, StateResult
from cudarun.session.driver.devices import Device
from cudarun.session.launch.image_state import ImageState
from cudarun.session.launch.reference import ReferenceBuffers
from cudarun.session.launch.request import Detection, LaunchRequest
from cudarun.session.launch.steps import Libraries
from cudarun.session.launch.worker import run_on, run_reference
from cudarun.session.workers.session import Session
from cudarun.session.workers.shared_file import SharedFile


def run_verified(
    session: Session,
    libraries: Libraries,
    request: LaunchRequest,
    device: Device,
    reference: ReferenceBuffers | None = None,
) -> LaunchResult:
    """Launch on a device, in the current context, as often as the request wants.

    The arguments are those of `run_on`.

    Raises:
        CudarunError: A launch failed.
    """
    if request.seeds == 1 and not request.stateless:
        return run_on(session, libraries, request, device, reference)
    return _VerifiedRuns(session, libraries, request, device).result()


class _VerifiedRuns:
    """The runs of one launch on one device."""

    def __init__(
        self, session: Session, libraries: Libraries, request: LaunchRequest, device: Device
    ) -> None:
        self._session = session
        self._libraries = libraries
        self._request = request
        self._device = device
        self._state = ImageState(session, libraries)

    def result(self) -> LaunchResult:
        """Run everything; return the results of the run that the report shows."""
        runs = self._seeded() if self._request.seeds > 1 else []
        state = self._compared() if self._request.stateless else None
        first = runs[0] if runs and self._request.timing is None else self._run(self._request)
        failed = next((run for run in (first, *runs) if not run.passed), first)
        return replace(
            first,
            buffers=failed.buffers,
            checks=failed.checks,
            weaknesses=failed.weaknesses or first.weaknesses,
            watched=failed.watched,
            errors=failed.errors if failed is first else (*first.errors, *failed.errors),
            diagnostics=(*first.diagnostics, *notes(self._notes())),
            runs=tuple(map(_seeded_run, self._seeds, runs)),
            state=state,
        )

    @property
    def _seeds(self) -> range:
        return range(self._request.seed, self._request.seed + self._request.seeds)

    def _notes(self) -> Iterator[str]:
        if not self._request.is_random:
            yield "no input is random: all runs have the same inputs"
        if self._state.unknown:
            named = ", ".join(self._state.unknown)
            yield f"not restored between runs, the driver returns no address: {named}"

    def _seeded(self) -> list[LaunchResult]:
        """Run with each seed; without ``--repeat``, the first run prints, shows and saves."""
        runs: list[LaunchResult] = []
        for seed in self._seeds:
            request = replace(self._request, seed=seed, timing=None)
            if runs or self._request.timing is not None:
                request = _without_outputs(request)
            try:
                runs.append(self._run(request))
            except DeviceFailed as error:
                raise error.of(operation=f"seed {seed}") from None
        return runs

    def _compared(self) -> StateResult:
        """Launch two inputs with restored variables, then again without, and compare."""
        tolerance = replace(self._request.tolerance, equal_nan=True)
        first = replace(_bare(self._request), tolerance=tolerance)
        second = replace(first, seed=first.seed + self._request.seeds)
        with SharedFile() as file, SharedFile() as other_file:
            after_second = self._reference(second, other_file)
            after_first = self._reference(first, file)
            found = [self._launch(second, after_second), self._launch(first, after_first)]
        references = [each.reference for each in found if each.reference is not None]
        wrong = [each for each in references if not all(c.passed for c in each.comparisons)]
        return StateResult((*wrong, *references)[0].comparisons, self._state.changed)

    def _reference(self, request: LaunchRequest, file: SharedFile) -> ReferenceBuffers:
        """Launch with the variables as after loading; keep the buffers in a file."""
        self._state.restore()
        with self._launching():
            return run_reference(self._session, self._libraries, request, self._device, file.path)

    def _run(self, request: LaunchRequest) -> LaunchResult:
        """Launch with the variables as after loading."""
        self._state.restore()
        return self._launch(request)

    def _launch(
        self, request: LaunchRequest, reference: ReferenceBuffers | None = None
    ) -> LaunchResult:
        with self._launching():
            return run_on(self._session, self._libraries, request, self._device, reference)

    @contextmanager
    def _launching(self) -> Iterator[None]:
        """Give a launch its own time limit; release its memory afterwards."""
        self._session.progress.start_phase()
        with self._session.temporary():
            yield


def _seeded_run(seed: int, result: LaunchResult) -> SeededRun:
    not_evaluated = (each.expression for each in result.checks if not each.evaluated)
    return SeededRun(seed, (*result.failures, *not_evaluated))


def _without_outputs(request: LaunchRequest) -> LaunchRequest:
    """Return a launch that only verifies."""
    steps = (_without_outputs(step) for step in request.earlier)
    return replace(
        request,
        earlier=tuple(steps),
        prints=(),
        shows=(),
        saves=(),
        check_strength="off",
        copies=None,
    )


def _bare(request: LaunchRequest) -> LaunchRequest:
    """Return a launch whose results only a comparison reads."""
    request = _without_outputs(request)
    steps = tuple(replace(step, checks=(), expectations=()) for step in request.steps)
    return replace(steps[-1], earlier=steps[:-1], timing=None, detection=Detection(), lets=())
