"""``cudarun load`` in the parent: the files in sequence, in the same workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, ImageRefused, NoDevice, OutOfTime, WorkerDied
from cudarun.diagnostics.entries import Diagnosed
from cudarun.images.demangler import base_name, demangle
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import Selector
from cudarun.session.load.request import FatbinSelection, LoadRequest
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.job import CallJob, Job
from cudarun.session.workers.pool import worker_pool
from cudarun.session.workers.worker import Answer

if TYPE_CHECKING:
    from cudarun.base.profiles import Profile
    from cudarun.model.devices import DeviceInfo
    from cudarun.model.images import LoadOutcome, LoadReport, LoadResult, Verdict
    from cudarun.session.driver.devices import Device
    from cudarun.session.image.image import Image
    from cudarun.session.load.fatbins import UsedFatbin
    from cudarun.session.load.worker import LoadedFile
    from cudarun.session.workers.session import Session

    _Loaded = tuple[DeviceInfo, LoadResult]


def prefetch() -> None:
    """Import the modules that loading needs in a worker."""
    import cudarun.session.load.worker  # noqa: F401


def load(request: LoadRequest, workers: DeviceWorkers) -> LoadReport:
    """Load every file on each device.

    Args:
        workers: The workers, made with `prefetch`. They are replaced after a file that kills
            one, which must not affect the verdicts on others.
    """
    from cudarun.model.images import LoadReport

    with workers.one_display():
        return LoadReport(tuple(_outcomes(request, workers)), request.kernel)


def ptx_refusals(
    texts: Sequence[Image], gpu: Profile, timeout: float | None
) -> Iterator[ImageRefused | None]:
    """Yield why a GPU's compiler refuses each PTX text, by `load` on its profile; else ``None``.

    An instruction that ``cpu`` lacks and a version of PTX that it does not know are no reasons.
    """
    target = Target((Selector("cpu", "index", "0", gpu.name),), timeout=timeout, capture=True)
    with worker_pool() as pool:
        found = load(LoadRequest((*texts,)), DeviceWorkers(pool, target, prefetch))
    for outcome in found.outcomes:
        error = outcome.error
        if not (error is None or isinstance(error, ImageRefused)):
            raise error
        refusal = None
        if error is not None and error.cuda is not None and error.cuda[1] == _INVALID_PTX:
            lines = error.diagnostics if isinstance(error, Diagnosed) else ()
            reasons = [each.message for each in lines if each.is_serious]
            if not reasons or not all(_NOT_IMPLEMENTED in each for each in reasons):
                refusal = error
                error.subjects, error.context = (), {}  # the caller's, not those of `cpu`
        yield refusal


def _outcomes(request: LoadRequest, workers: DeviceWorkers) -> Iterator[LoadOutcome]:
    healthy = True
    for image in request.images:
        if not healthy:
            workers.replace()
        outcomes = _of_file(request, image, workers)
        yield from outcomes
        # After a failure a driver's further behavior is undefined.
        healthy = all(map(_is_healthy, outcomes))


def _of_file(request: LoadRequest, image: Image, workers: DeviceWorkers) -> list[LoadOutcome]:
    from cudarun.session.load.fatbins import fatbin_count, loadable

    try:
        count = fatbin_count(image) or 0
    except ImageRefused:  # the worker refuses it, with an explanation
        count = 0
    if count <= 1:
        answers = workers.run(LoadJob(request, image))
        return [_outcome(image, answer) for answer in answers]
    surveys = workers.run(CallJob(partial(_survey, request, image)))
    every = {fatbin.number: fatbin for survey in surveys for fatbin in survey.value or ()}
    found = {fatbin.number: fatbin for fatbin in loadable(image, [*every.values()])}
    outcomes = [
        _outcome(image, Answer(None, survey.error, survey.output, survey.device))
        for survey in surveys
    ]
    if not found:  # every device has an error
        return outcomes
    parts: dict[str, list[LoadOutcome]] = {}
    for index, number in enumerate(sorted(found)):
        if not all(map(_is_healthy, outcomes)):
            workers.replace()
        selection = FatbinSelection(found[number], index, len(found))
        answers = workers.run(LoadJob(request, image, selection))
        outcomes = [_outcome(image, answer, selection) for answer in answers]
        for outcome in outcomes:
            parts.setdefault(outcome.label, []).append(outcome)
    inputs = len(every) - len(found)  # which are not loaded: the linker has combined them
    return [_combined(some, image, inputs) for some in parts.values()]


def _is_healthy(outcome: LoadOutcome) -> bool:
    # A missing device does not appear by a new process.
    return outcome.verdict in _HEALTHY or isinstance(outcome.error, NoDevice)


_HEALTHY = ("loaded", "refused")
_INVALID_PTX = 218  # CUDA_ERROR_INVALID_PTX
_NOT_IMPLEMENTED = "is not implemented by the emulated device"
_SEVERITY = ("loaded", "refused", "failed", "killed", "crashed")
_MOST_NAMED = 3  # kernels in a message


def _survey(
    request: LoadRequest, image: Image, session: Session, device: Device
) -> tuple[UsedFatbin, ...]:
    """Return the fatbins of a file to load."""
    from cudarun.session.load.fatbins import loadable, used_fatbins, with_kernels

    session.progress.report(f"reading {image.origin}")
    session.enter(device)
    found = used_fatbins(session.driver, image)
    if request.kernel is None:
        return found
    return with_kernels(loadable(image, found), request.kernel, image.origin)


class LoadJob(Job["_Loaded"]):
    """The check of one file: loaded by each requested interface, with every kernel forced."""

    def __init__(
        self, request: LoadRequest, image: Image, selection: FatbinSelection | None = None
    ) -> None:
        self._request = request
        self._image = image
        self._selection = selection

    def begin(self, session: Session) -> None:
        """Load the file as a library, before any context exists if there are several devices."""
        super().begin(session)
        from cudarun.session.load.worker import load_file

        self._file: LoadedFile | CudarunError
        try:
            self._file = load_file(self._request, self._image, session, self._selection)
        except CudarunError as refused:  # the answer for each device
            self._file = refused

    def on(self, device: Device) -> _Loaded:
        """Check the file on a device."""
        self.session.enter(device)
        if isinstance(self._file, CudarunError):
            raise self._file
        checked = self._file.on(device)
        if device == self.session.devices[-1]:
            self._file.unload(loaded_once=True)
        return checked


def _outcome(
    image: Image, answer: Answer[_Loaded], selection: FatbinSelection | None = None
) -> LoadOutcome:
    from cudarun.model.images import LoadOutcome, LoadResult

    device, result = answer.value or (None, None)
    error = answer.error or (None if result is None else result.error)
    if error is not None:
        is_named = bool(error.subject("origin"))
        error = error.at(file=None if is_named else image.origin, device=answer.device)
    verdict = _verdict(error)
    if selection is not None:
        fatbin = selection.fatbin
        if isinstance(error, (OutOfTime, WorkerDied)):  # 144 (sm_90; kernels: scale and 10 more)
            facts = [fatbin.target] if fatbin.target else []
            if fatbin.kernels:
                shown = ", ".join(map(base_name, map(demangle, fatbin.kernels[:_MOST_NAMED])))
                more = len(fatbin.kernels) - _MOST_NAMED
                facts.append(f"kernels: {shown}{f' and {more} more' if more > 0 else ''}")
            described = f" ({'; '.join(facts)})" if facts else ""
            error.what = f"{error.what} while it loaded fatbin {fatbin.number}{described}"
        name = image.origin if selection.count == 1 else f"{image.origin}:{fatbin.number}"
        result = replace(
            result or LoadResult(name, ()),  # also of one that the driver did not get or survive
            fatbin=fatbin.number, target=fatbin.target, verdict=verdict, failure=error,
        )  # fmt: skip
    return LoadOutcome(
        image=image.origin,
        label=answer.device,
        verdict=verdict,
        device=device,
        results=() if result is None else (result,),
        error=error,
        output=answer.output,
    )


def _combined(parts: list[LoadOutcome], image: Image, inputs: int) -> LoadOutcome:
    """Return the outcome of a file on a device from those of its fatbins: the worst of them."""
    from cudarun.diagnostics.entries import notes

    first, *others = (result for part in parts for result in part.results)
    if inputs:
        note = (
            f"{image.origin}: {inputs} fatbins are inputs of the device linker; they are not loaded"
        )
        first = replace(first, diagnostics=(*notes([note]), *first.diagnostics))
    worst_part = max(parts, key=lambda part: _SEVERITY.index(part.verdict))
    return replace(
        worst_part,
        device=next((part.device for part in parts if part.device), None),
        results=(first, *others),
        output="".join(part.output for part in parts),
    )


def _verdict(error: CudarunError | None) -> Verdict:
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
