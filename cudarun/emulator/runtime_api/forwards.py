"""Runtime calls that only convert their arguments for one driver call, as tables.

A row is the call's signature, and its documentation in the next, indented line, if it is not that
of the driver call::

    cudaEventElapsedTime(start, end) -> float
        Return the wall time of the emulation between two events, in milliseconds.
    cudaStreamCreate() -> cudaStream_t = cuStreamCreate(0)

The driver call has the same name and gets the same parameters; else ``=`` and its name follow,
and in parentheses the parameters, numbers and keys of `_COMPOSED` that it gets. A parameter without
a type is passed as it is; a type is a key of `_CONVERSIONS`. If a ``size`` or ``or_null`` is 0, the
driver is not called, and the values are zeros. A result is a type of the runtime, that with ``*``
for a list, or a key of `_RESULTS`; several are separated by commas. A row that is too long goes on
in a line that is indented twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from cuda.bindings import driver as cuda
from cuda.bindings import runtime as cudart

from cudarun.emulator.api.calls import CALLS, generated
from cudarun.emulator.host.addresses import address_of
from cudarun.emulator.runtime_api import conversions
from cudarun.emulator.runtime_api.calls import (
    checked_device,
    current_device,
    driver_call,
    primary_context,
    runtime_call,
)
from cudarun.emulator.runtime_api.conversions import same_layout
from cudarun.emulator.runtime_api.descriptors import resource, texture, view

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "int = 0": int,
    "size": int,
    "or_null": lambda value: 0 if value is None else int(value),
    "byte": lambda value: int(value) & 0xFF,
    "enum": int,
    "address": address_of,
    "device": checked_device,
    "context": lambda device: primary_context(checked_device(device)),
    "location": conversions.location,
    "box": conversions.box,
    "peer_box": partial(conversions.box, kind=conversions.DEFAULT),
    "fill": same_layout(cuda.CUDA_MEMSET_NODE_PARAMS),
    "allocation": same_layout(cuda.CUDA_MEM_ALLOC_NODE_PARAMS),
    "host_function": same_layout(cuda.CUDA_HOST_NODE_PARAMS),
    "node": conversions.node_parameters,
    "pool": same_layout(cuda.CUmemPoolProps),
    "stream_attribute": same_layout(cuda.CUstreamAttrValue),
    "resource": resource,
    "texture": texture,
    "view": view,
}
_TYPES = {"int = 0": "int = 0"} | dict.fromkeys(("int", "byte", "device", "context"), "int")
_TYPES |= dict.fromkeys(("size", "to.Pitch", "from.Pitch"), "int")
_TYPES |= dict.fromkeys(("to.XInBytes", "to.Y", "from.XInBytes", "from.Y"), "int")
_MAY_BE_ZERO = ("size", "or_null")
_RESULTS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "value": lambda it: it,
    "cudaChannelFormatDesc": conversions.channel_description,
    "cudaStreamAttrValue": conversions.stream_attribute,
}
_ROW = re.compile(
    r"cuda(\w+)\(([^)]*)\)(?:\s+-> ([\w, *]+?))?(?:\s+= (\w+)(?:\(([^)]*)\))?)?\n(?: {4}(?! )(.+))?"
)


def forward_calls(module: str, rows: str, *, uses_context: bool = True) -> None:
    """Declare the runtime calls of a table.

    Args:
        module: The module whose chapter of the documentation lists them.
        uses_context: Whether the calls create the context of the thread's device.
    """
    for name, parameters, results, target, arguments, text in _ROW.findall(rows):
        declared = {
            each: type_ for each, _, type_ in (x.partition(": ") for x in _split(parameters))
        }
        converters = [_RESULTS.get(each) or _constructor(each) for each in _split(results)]
        passed = _split(arguments) or list(declared)
        target = target or f"cu{name}"
        work = partial(_forward, declared, target, passed, converters)
        types = {each: _TYPES.get(type_, "Any") for each, type_ in declared.items()}
        body = generated(module, f"cuda{name}", types, text or CALLS[target].__doc__ or "", work)
        runtime_call(len(converters), uses_context=uses_context)(body)


def _forward(
    declared: dict[str, str],
    target: str,
    passed: list[str],
    results: list[Callable[[Any], Any]],
    *given: Any,
) -> object:
    """Convert the arguments, call the driver, and convert the values."""
    values = {
        name: _CONVERSIONS.get(type_.partition(".")[2] or type_, int)(value) if type_ else value
        for (name, type_), value in zip(declared.items(), given, strict=True)
    }
    if any(type_ in _MAY_BE_ZERO and not values[name] for name, type_ in declared.items()):
        return 0
    values |= {each: _COMPOSED[each](declared, values) for each in passed if each in _COMPOSED}
    found = driver_call(target, *[values[x] if x in values else int(x) for x in passed])
    if len(results) < 2:  # the batches of CUDA 12 return an index, which no program reads
        return results[0](found) if results else None
    return tuple(result(value) for result, value in zip(results, found, strict=True))


def _rectangle(declared: dict[str, str], values: dict[str, Any]) -> Any:
    """Return a copy of rows between two sides with fields such as ``to.Pitch``."""
    sides: dict[str, dict[str, Any]] = {"to": {}, "from": {}}
    for name, type_ in declared.items():
        side, _, field = type_.partition(".")
        if field:
            sides[side][field] = values[name]
    return conversions.rectangle(
        sides["to"], sides["from"], values["width"], values["height"], values["kind"]
    )


def _array(_: dict[str, str], values: dict[str, Any]) -> Any:
    """Return the description of an array of an extent, or of a width and a height."""
    if "extent" in values:
        extent = values["extent"].width, values["extent"].height, values["extent"].depth
    else:
        extent = values["width"], values["height"], 0
    return conversions.array_description(values["desc"], extent, values["flags"])


def _bytes(_: dict[str, str], values: dict[str, Any]) -> Any:
    """Return a copy of consecutive bytes."""
    return conversions.bytes_in_row(values["dst"], values["src"], values["count"], values["kind"])


_COMPOSED: dict[str, Callable[[dict[str, str], dict[str, Any]], Any]] = {
    "current": lambda declared, values: driver_call("cuCtxGetCurrent"),
    "current_device": lambda declared, values: current_device(),
    "rectangle": _rectangle,
    "description": _array,
    "bytes": _bytes,
}
"""Arguments that are composed of several parameters, or of none."""


def _constructor(name: str) -> Callable[[Any], Any]:
    constructor = getattr(cudart, name.removesuffix("*"))
    if name.endswith("*"):
        return lambda values: [constructor(int(value)) for value in values]
    return lambda value: constructor(int(value))


def _split(text: str) -> list[str]:
    return re.split(r",\s+", text) if text else []
