"""``cudarun ctx show``: the contexts of each device, and the cost of one more."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cudarun.base.bindings import context_arguments
from cudarun.model.contexts import ContextInfo, ContextOutcome, ContextsReport
from cudarun.session.driver.contexts import (
    LIMITS,
    ContextOptions,
    Target,
    cache_word,
    enter_context,
    flag_words,
)
from cudarun.session.driver.devices import name_of
from cudarun.session.workers.devices import label_of, one_by_one
from cudarun.session.workers.job import Devices
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.progress import Progress, ProgressDisplay
from cudarun.session.workers.worker import WorkerSpec

if TYPE_CHECKING:  # only a worker needs these
    from cudarun.session.contexts.worker import BareSession
    from cudarun.session.driver.calls import Driver


T = TypeVar("T")


def show_contexts(target: Target, display: ProgressDisplay | None = None) -> ContextsReport:
    """Inspect the contexts of each device, in a separate process each."""
    outcomes = []
    with WorkerPool() as pool:
        for devices in one_by_one(pool, target):

            def start(progress: Progress, devices: Devices = devices) -> BareSession:
                """Initialize the driver, and create no context."""
                from cudarun.session.contexts.worker import BareSession

                bare = Target(devices, trace=target.trace)
                return BareSession(bare, devices, progress=progress)

            label = label_of(devices)
            spec = WorkerSpec(start, f"on {label}", capture=True, verbose=target.verbose)
            answer = pool.call(spec, partial(_inspect, target.context), target.timeout, display)
            error = answer.error.at(device=label) if answer.error else None
            outcomes.append(ContextOutcome(label, answer.value, error))
    return ContextsReport(tuple(outcomes))


# --- in the worker -------------------------------------------------------------------------------


def _inspect(options: ContextOptions, session: BareSession) -> ContextInfo:
    driver, [device] = session.driver, session.devices
    flags, active = driver.cuDevicePrimaryCtxGetState(device.handle)
    before = int(driver.cuCtxGetCurrent())
    session.progress.report(f"creating a context on device {device.label}")
    _, milliseconds = _timed(lambda: enter_context(driver, device, options))
    free, _ = driver.cuMemGetInfo()
    arguments = context_arguments(driver.module, 0, device.handle)
    another, another_milliseconds = _timed(lambda: driver.cuCtxCreate(*arguments))
    left, _ = driver.cuMemGetInfo()
    driver.cuCtxDestroy(another)
    least, greatest = driver.cuCtxGetStreamPriorityRange()
    return ContextInfo(
        device=device.label,
        name=name_of(driver, device.handle),
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
        another_bytes=free - left,
    )


def _limit(driver: Driver, name: str) -> int | None:
    """Return a limit of the current context; ``None`` if the device does not support it."""
    missing = driver.CUresult.CUDA_ERROR_UNSUPPORTED_LIMIT
    found = driver.optional(missing, "cuCtxGetLimit", getattr(driver.CUlimit, LIMITS[name]))
    return None if found is None else int(found[0])


def _timed(function: Callable[[], T]) -> tuple[T, float]:
    """Call a function; return its result and its duration in milliseconds."""
    started = time.perf_counter()
    value = function()
    return value, (time.perf_counter() - started) * 1e3
