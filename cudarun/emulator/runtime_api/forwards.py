"""Runtime calls that only convert their arguments for one driver call, as tables.

A row is the call's signature, and its documentation in the next, indented line::

    cudaEventElapsedTime(start, end) -> float
        Return the wall time of the emulation between two events, in milliseconds.
    cudaStreamCreate() -> cudaStream_t = cuStreamCreate(0)
        Create a stream.

The driver call has the same name and gets the same parameters; else ``=`` and its name follow,
and in parentheses the parameters and numbers that it gets. A parameter without a type is passed
as it is. A type is a key of `_CONVERSIONS`, or an enum of the driver. A result is a type of the
runtime, ``int``, ``float``, or ``value`` for the driver's own; several are separated by commas.
A row that is too long goes on in a line that is indented twice.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as cuda
from cuda.bindings import runtime as cudart

from cudarun.emulator.host.addresses import address_of
from cudarun.emulator.runtime_api.calls import (
    checked_device,
    driver_call,
    primary_context,
    runtime_call,
)
from cudarun.emulator.runtime_api.conversions import box

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "byte": lambda value: int(value) & 0xFF,
    "address": address_of,
    "device": checked_device,
    "context": lambda device: primary_context(checked_device(device)),
    "box": box,
}
_INTEGERS = ("int", "byte", "device", "context")
_RESULTS: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "value": lambda it: it}
_ROW = re.compile(r"cuda(\w+)\(([^)]*)\)(?:\s+-> ([\w, ]+?))?(?:\s+= (\w+)(?:\((.*)\))?)?\n +(.+)")


def forward_calls(module: str, rows: str, *, uses_context: bool = True) -> None:
    """Declare the runtime calls of a table.

    Args:
        module: The module whose chapter of the documentation lists them.
        rows: The table.
        uses_context: Whether the calls create the context of the thread's device.
    """
    for name, parameters, results, target, arguments, text in _ROW.findall(rows):
        declared = dict(_parameter(each) for each in _split(parameters))
        converters = [_RESULTS.get(each) or _constructor(each) for each in _split(results)]
        passed = _split(arguments) or list(declared)
        body = _forward(declared, target or f"cu{name}", passed, converters)
        body.__name__, body.__doc__, body.__module__ = f"cuda{name}", text, module
        runtime_call(len(converters), uses_context=uses_context)(body)


def _forward(
    declared: dict[str, str], target: str, passed: list[str], results: list[Callable[[Any], Any]]
) -> Callable[..., object]:
    signature = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in declared]
    )

    def body(*args: object, **named: object) -> object:
        given = signature.bind(*args, **named).arguments
        values = {name: _converted(given[name], kind) for name, kind in declared.items()}
        found = driver_call(target, *[values[x] if x in values else int(x) for x in passed])
        if len(results) == 1:
            return results[0](found)
        return tuple(result(value) for result, value in zip(results, found, strict=True))

    body.__dict__["__signature__"] = signature
    types = {name: int if kind in _INTEGERS else Any for name, kind in declared.items()}
    body.__annotations__ = {**types, "return": object}  # for `with_integers`
    return body


def _converted(value: Any, kind: str) -> Any:
    if not kind:
        return value
    if kind in _CONVERSIONS:
        return _CONVERSIONS[kind](value)
    return getattr(cuda, kind)(int(value))


def _constructor(name: str) -> Callable[[Any], Any]:
    constructor = getattr(cudart, name)
    return lambda value: constructor(int(value))


def _parameter(text: str) -> tuple[str, str]:
    name, _, kind = text.partition(": ")
    return name, kind


def _split(text: str) -> list[str]:
    return re.split(r",\s+", text) if text else []
