"""``cudarun load`` as the parent sees it: one file after the other through the same workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from cudarun.errors import CudarunError, ImageRefused, OutOfTime, WorkerDied
from cudarun.session.image.image import Image
from cudarun.session.load.request import LoadRequest
from cudarun.session.workers.fleet import DeviceAnswer, Fleet

if TYPE_CHECKING:
    from cudarun.report.image_types import LoadOutcome, LoadReport, LoadResult
    from cudarun.report.types import DeviceInfo
    from cudarun.session.load.worker import OnDevice
    from cudarun.session.workers.session import Session

    Answer = DeviceAnswer[tuple[DeviceInfo, tuple[LoadResult, ...]]]


def prefetch() -> None:
    """Import what loading needs in a worker."""
    import cudarun.session.load.worker  # noqa: F401


def load(request: LoadRequest, fleet: Fleet, new_fleet: Callable[[], Fleet]) -> LoadReport:
    """Load every file on each device.

    Args:
        request: What to load, and how.
        fleet: Workers, made with `prefetch`.
        new_fleet: More of them: a file that kills a worker must not spoil the others' verdicts.
    """
    from cudarun.report.image_types import LoadReport

    return LoadReport(tuple(_outcomes(request, fleet, new_fleet)))


def _outcomes(
    request: LoadRequest, fleet: Fleet, new_fleet: Callable[[], Fleet]
) -> Iterator[LoadOutcome]:
    used: Fleet | None = fleet
    with ExitStack() as stack:
        for image in request.images:
            if used is None:
                stack.close()
                used = stack.enter_context(new_fleet())
            outcomes = [_outcome(image, answer) for answer in _ask(request, image, used)]
            yield from outcomes
            if not all(outcome.verdict in _WORKERS_ARE_WELL for outcome in outcomes):
                used = None  # of a driver that failed one cannot know what else it does


_WORKERS_ARE_WELL = ("loaded", "refused")


def _ask(request: LoadRequest, image: Image, fleet: Fleet) -> list[Answer]:
    return fleet.run(partial(_begin, request, image))


def _begin(request: LoadRequest, image: Image, session: Session) -> OnDevice:
    session.prefetched()
    from cudarun.session.load.worker import examine

    return examine(request, image, session)


def _outcome(image: Image, answer: Answer) -> LoadOutcome:
    from cudarun.report.image_types import LoadOutcome

    device, results = answer.value or (None, ())
    error = answer.error or next((r.error for r in results if r.error is not None), None)
    if error is not None:
        is_named = error.message.startswith(image.origin)
        error = error.at(file=None if is_named else image.origin, device=answer.device)
    return LoadOutcome(
        image=image.origin,
        label=answer.device,
        verdict=_verdict(error),
        device=device,
        results=results,
        error=error,
        output=answer.output,
    )


def _verdict(error: CudarunError | None) -> str:
    match error:
        case None:
            return "loaded"
        case ImageRefused():
            return "refused"
        case OutOfTime():
            return "killed"
        case WorkerDied():
            error.hint = error.hint or "the driver did not survive this image; is it damaged?"
            return "crashed"
    return "failed"
