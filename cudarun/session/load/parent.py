"""``cudarun load`` in the parent: the files in sequence, in the same workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudarun.errors import CudarunError, ImageRefused, OutOfTime, WorkerDied
from cudarun.session.workers.job import Job

if TYPE_CHECKING:
    from cudarun.report.image_types import LoadOutcome, LoadReport, LoadResult
    from cudarun.report.types import DeviceInfo
    from cudarun.session.driver.devices import Device
    from cudarun.session.image.image import Image
    from cudarun.session.load.request import LoadRequest
    from cudarun.session.workers.devices import DeviceWorkers
    from cudarun.session.workers.job import DeviceAnswer
    from cudarun.session.workers.session import Session

    _Loaded = tuple[DeviceInfo, tuple[LoadResult, ...]]


def prefetch() -> None:
    """Import the modules that loading needs in a worker."""
    import cudarun.session.load.worker  # noqa: F401


def load(request: LoadRequest, workers: DeviceWorkers) -> LoadReport:
    """Load every file on each device.

    Args:
        request: The files and options.
        workers: The workers, made with `prefetch`. They are replaced after a file that kills
            one, which must not affect the verdicts on others.
    """
    from cudarun.report.image_types import LoadReport

    return LoadReport(tuple(_outcomes(request, workers)))


def _outcomes(request: LoadRequest, workers: DeviceWorkers) -> Iterator[LoadOutcome]:
    healthy = True
    for image in request.images:
        if not healthy:
            workers.replace()
        outcomes = [_outcome(image, answer) for answer in workers.run(LoadJob(request, image))]
        yield from outcomes
        # After a failure a driver's further behavior is undefined.
        healthy = all(outcome.verdict in _HEALTHY for outcome in outcomes)


_HEALTHY = ("loaded", "refused")


class LoadJob(Job["_Loaded"]):
    """The check of one file: loaded by each requested interface, with every kernel forced.

    Args:
        request: The options.
        image: The file.
    """

    def __init__(self, request: LoadRequest, image: Image) -> None:
        self._request = request
        self._image = image

    def begin(self, session: Session) -> None:
        """Load the file as a library, before any context exists if there are several devices."""
        super().begin(session)
        session.prefetched()
        from cudarun.session.load.worker import load_file

        self._examine = load_file(self._request, self._image, session)

    def on(self, device: Device) -> _Loaded:
        """Check the file on a device."""
        return self._examine(device)


def _outcome(image: Image, answer: DeviceAnswer[_Loaded]) -> LoadOutcome:
    from cudarun.report.image_types import LoadOutcome

    device, results = answer.value or (None, ())
    error = answer.error or next((r.error for r in results if r.error is not None), None)
    if error is not None:
        is_named = bool(error.subject("origin"))
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
            error.hint = error.hint or "the driver crashed on this image; it may be damaged"
            return "crashed"
    return "failed"
