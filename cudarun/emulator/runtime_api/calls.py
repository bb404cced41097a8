"""Common parts of all runtime calls: the current device, its context, errors and results.

The runtime uses the context that is current to the calling thread, or the primary context of the
thread's device, which it retains at the first call that needs one (CUDA runtime API, section 1,
and programming guide, "Initialization").
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec
from weakref import WeakKeyDictionary

from cuda.bindings import runtime as cudart

from cudarun.emulator import driver  # noqa: F401 - enters all driver calls
from cudarun.emulator.api.calls import CALLS, Answer, CallTypes, converted
from cudarun.emulator.host.contexts import PrimaryContext
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal

P = ParamSpec("P")

RUNTIME_CALLS: dict[str, Callable[..., Answer]] = {  # every runtime call there is, by name
    # Those of the bindings that need no driver.
    name: getattr(cudart, name)
    for name in (
        *("cudaCreateChannelDesc", "cudaGetErrorName", "cudaGetErrorString"),
        "cudaRuntimeGetVersion",
    )
}

_UNKNOWN = 999  # cudaErrorUnknown: for the few results of the driver that the runtime does not have
_KNOWN = frozenset(map(int, cudart.cudaError_t))


class RuntimeRefusal(Exception):
    """A ``cudaError_t`` that a call returns."""

    def __init__(self, error: int) -> None:
        super().__init__(error)
        self.error = error if error in _KNOWN else _UNKNOWN


class _Thread(threading.local):
    """The state of the calling thread: its device and the last error of its calls."""

    device = 0
    error = 0


thread = _Thread()

# The handles of the primary contexts that the runtime has retained.
_retained: WeakKeyDictionary[PrimaryContext, int] = WeakKeyDictionary()


def driver_call(name: str, *arguments: object) -> Any:
    """Call the driver and return the value, or the tuple of values, after the result.

    Raises:
        RuntimeRefusal: It failed. A ``cudaError_t`` has the number of the ``CUresult``.
    """
    result, *values = CALLS[name](*arguments)
    if int(result):
        raise RuntimeRefusal(int(result))
    return values[0] if len(values) == 1 else tuple(values)


def runtime_call(
    outputs: int = 0, *, uses_context: bool = True
) -> Callable[[Callable[P, object]], Callable[P, Answer]]:
    """Declare a runtime call.

    Args:
        outputs: The number of values that follow the error.
        uses_context: Whether the call creates the context of the thread's device.
    """

    def decorate(body: Callable[P, object]) -> Callable[P, Answer]:
        types = CallTypes(body)

        @functools.wraps(body)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Answer:
            values, named = converted(types.integers, args, kwargs)
            try:
                if not process.devices:
                    driver_call("cuInit", 0)
                if uses_context:
                    _enter_context()
                value = body(*values, **named)
            except Refusal as refusal:  # of an argument
                problem = RuntimeRefusal(int(refusal.result))
            except RuntimeRefusal as refusal:
                problem = refusal
            else:
                if outputs < 2:
                    return (cudart.cudaError_t.cudaSuccess, *[value] * outputs)
                assert isinstance(value, tuple), f"{body.__name__} has {outputs} values"
                return (cudart.cudaError_t.cudaSuccess, *value)
            thread.error = problem.error
            return (cudart.cudaError_t(problem.error), *[None] * outputs)

        RUNTIME_CALLS[body.__name__] = answer
        return answer

    return decorate


def last_error(*, clear: bool) -> int:
    """Return the last error of the thread's calls; a kernel's fault remains after ``clear``."""
    error = thread.error
    if clear and not (process.fault is not None and process.fault.is_known):
        thread.error = 0
    return error


# --- devices and contexts ------------------------------------------------------------------------


def current_device() -> int:
    """Return the device of the current context, or else the one that the thread has set."""
    context = process.stack.top
    return thread.device if context is None else context.device.ordinal


def checked_device(device: int) -> int:
    """Return a device's number; raise `RuntimeRefusal` if there is no such device."""
    return int(driver_call("cuDeviceGet", device))


def primary_context(device: int) -> int:
    """Return the primary context of a device; create it if it is not active."""
    with process.mutex:  # another thread would retain it, too, and a reset releases it once
        primary = process.primary_context(device)
        if primary not in _retained or not primary.active:
            _retained[primary] = int(driver_call("cuDevicePrimaryCtxRetain", device))
        return _retained[primary]


def select_device(device: int) -> None:
    """Make a device and its primary context current to the thread."""
    thread.device = checked_device(device)
    driver_call("cuCtxSetCurrent", primary_context(device))


def reset_device(device: int) -> None:
    """Destroy the primary context of a device; the next call that needs it creates it again."""
    driver_call("cuDevicePrimaryCtxReset", device)  # waits, so without the mutex
    with process.mutex:
        if _retained.pop(process.primary_context(device), None) is not None:
            driver_call("cuDevicePrimaryCtxRelease", device)


def _enter_context() -> None:
    context = process.stack.top
    if context is None:
        select_device(thread.device)
    elif context.is_primary and not context.alive:  # it has been reset
        primary_context(context.device.ordinal)
