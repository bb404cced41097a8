"""``cudarun ctx show``: the contexts of each device, as found and as made, and what one costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cudarun.report.ctx_types import ContextInfo, ContextOutcome, ContextsReport
from cudarun.session.driver.contexts import LIMITS, cache_word, creation, enter_context, flag_words
from cudarun.session.driver.selection import Selector
from cudarun.session.driver.target import ContextOptions, Target
from cudarun.session.workers.fleet import label_of, one_by_one
from cudarun.session.workers.parent import Worker, gather
from cudarun.session.workers.progress import Progress, Watch, watched

if TYPE_CHECKING:  # only a worker has these
    from cudarun.session.contexts.worker import BareSession
    from cudarun.session.driver.calls import Driver


def show_contexts(target: Target, watch: Watch | None = None) -> ContextsReport:
    """Look at the contexts of each device, in a process of its own.

    Args:
        target: The devices, and the context to make on each.
        watch: Is shown what is being done.

    Raises:
        NoDevice: ``all`` was asked for and there is none.
    """
    outcomes = []
    for selectors in one_by_one(target):
        label = label_of(selectors)
        progress = Progress(f"on {label}", verbose=target.verbose)
        make = partial(_session, selectors, target.trace, progress)
        with Worker(make, capture=True) as worker, watched(watch, [progress]) as look:
            worker.send(partial(_look, target.context))
            [outcome] = gather([worker], timeout=target.timeout, meanwhile=look)
        error = outcome.error.at(device=label) if outcome.error else None
        outcomes.append(ContextOutcome(label, outcome.value, error))
    return ContextsReport(tuple(outcomes))


# --- in the worker -------------------------------------------------------------------------------


def _session(selectors: Sequence[Selector], trace: bool, progress: Progress) -> BareSession:
    from cudarun.session.contexts.worker import BareSession

    return BareSession(Target(tuple(selectors), trace=trace), selectors, progress=progress)


def _look(options: ContextOptions, session: BareSession) -> ContextInfo:
    driver, [device] = session.driver, session.devices
    flags, active = driver.cuDevicePrimaryCtxGetState(device.handle)
    before = int(driver.cuCtxGetCurrent())
    session.progress.say(f"making a context on device {device.label}")
    _, milliseconds = _timed(lambda: enter_context(driver, device, options))
    name = driver.cuDeviceGetName(256, device.handle).split(b"\0", 1)[0]
    another_milliseconds, another_bytes = _cost(driver, device.handle)
    least, greatest = driver.cuCtxGetStreamPriorityRange()
    return ContextInfo(
        device=device.label,
        name=name.decode(errors="replace"),
        primary_active=bool(active),
        primary_flags=flag_words(driver, flags),
        current_before=before != 0,
        made=options.kind,
        flags=flag_words(driver, driver.cuCtxGetFlags()),
        api_version=int(driver.cuCtxGetApiVersion(driver.cuCtxGetCurrent())),
        limits={name: _limit(driver, name) for name in LIMITS},
        cache_config=cache_word(driver, driver.cuCtxGetCacheConfig()),
        stream_priorities=(least, greatest),
        milliseconds=milliseconds,
        another_milliseconds=another_milliseconds,
        another_bytes=another_bytes,
    )


def _limit(driver: Driver, name: str) -> int | None:
    """A limit of the current context; ``None`` where the device has none such."""
    result, value = driver.attempt("cuCtxGetLimit", getattr(driver.CUlimit, LIMITS[name]))
    if result == driver.CUresult.CUDA_ERROR_UNSUPPORTED_LIMIT:
        return None
    if result != 0:
        raise driver.failure("cuCtxGetLimit", result)
    return int(value)


def _cost(driver: Driver, device: Any) -> tuple[float, int]:
    """Milliseconds and bytes of device memory that one more context takes; it is destroyed."""
    free, _ = driver.cuMemGetInfo()
    context, milliseconds = _timed(lambda: driver.cuCtxCreate(*creation(driver, 0, device)))
    left, _ = driver.cuMemGetInfo()
    driver.cuCtxDestroy(context)
    return milliseconds, free - left


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and how many milliseconds it took."""
    started = time.perf_counter()
    value = function()
    return value, (time.perf_counter() - started) * 1e3
