"""The variables of an image as every context sees them, in the worker.

A ``__managed__`` variable has one address, for the host and in all contexts
(``cuLibraryGetManaged``); a ``__device__`` one has an address in each (``cuLibraryGetGlobal``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.buffer_resolution import BufferResolver
from cudarun.arguments.dtypes import element_dtype
from cudarun.arguments.initializers import fill, seeded
from cudarun.arguments.types import Type, inner_shape
from cudarun.arguments.values import Argument, Bytes, has_type
from cudarun.base.bindings import context_arguments
from cudarun.base.errors import CudarunError, ImageRefused, OutOfTime, RequestError
from cudarun.base.records import dataclass, derived
from cudarun.images.demangler import demangle
from cudarun.images.facts import VariableFacts
from cudarun.model.managed import (
    ManagedReport,
    ManagedVariable,
    Observation,
    ObservedValue,
    VariableContext,
)
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device
from cudarun.session.image.image import Image
from cudarun.session.launch.variables import (
    find_variable,
    unknown_variable,
    variable_type,
    variable_with_value,
)
from cudarun.session.launch.worker import run_on
from cudarun.session.load.library import Library
from cudarun.session.managed.request import ManagedRequest, VariableView
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

_SEED = 0  # of random values to write; a variable has no --seed


def inspect_variables(request: ManagedRequest, session: Session, library: Library) -> ManagedReport:
    """Read the variables: initially, after writing, and after each launch on each device.

    Raises:
        CudarunError: A variable does not exist, or a value does not match.
    """
    driver, devices, kind = session.driver, session.devices, request.context
    contexts: list[_Context] = []  # device by device; the first of each device is the session's
    for device in devices:
        session.enter(device)
        first = VariableContext(device.label, kind)
        contexts.append(_Context(device, first, driver.cuCtxGetCurrent()))
        for number in range(2, (request.contexts or (2 if len(devices) == 1 else 1)) + 1):
            handle = driver.cuCtxCreate(*context_arguments(driver.module, 0, device.handle))
            name = "new" if kind == "primary" and number == 2 else f"new {number}"
            contexts.append(_Context(device, VariableContext(device.label, name), handle))
    chosen = _choose(request, library.image)
    variables = [_Variable(driver, library, facts, view, contexts) for facts, view in chosen]
    observe = partial(_observe, driver, contexts, variables)
    observe("initially")
    diagnostics = [*library.image.warnings]
    error = None
    try:
        for variable in variables:
            if variable.data is not None and variable.facts.managed:  # the host writes it
                ctypes.memmove(variable.addresses[0], variable.data, variable.size)
            elif variable.data is not None:
                for address, context in zip(variable.addresses, contexts, strict=True):
                    driver.cuCtxSetCurrent(context.handle)
                    driver.cuMemcpyHtoD(address, variable.data, variable.size)
        if any(variable.data is not None for variable in variables):
            observe("written")
        firsts = {context.device.label: context for context in reversed(contexts)}
        for launch in request.launches:
            for context in reversed(firsts.values()):
                driver.cuCtxSetCurrent(context.handle)
                ran = run_on(session, [library], launch.program, context.device)
                diagnostics += ran.diagnostics
                observe(f"after {launch.text} on {context.device.label}")
    except OutOfTime:  # of the worker, whose answer would be too late
        raise
    except CudarunError as failure:  # the values read before it are worth reporting
        error = failure
        diagnostics += failure.warnings
    descriptions = tuple(context.description for context in contexts)
    reports = tuple(variable.report() for variable in variables)
    odd = tuple(dict.fromkeys(diagnostics))  # each once, though every launch reports them
    return ManagedReport(request.image.origin, descriptions, reports, error, diagnostics=odd)


# --- contexts ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Context:
    """A context from which variables are read."""

    device: Device
    description: VariableContext
    handle: cuda.CUcontext


# --- the choice of variables ---------------------------------------------------------------------


def _choose(
    request: ManagedRequest, image: Image
) -> list[tuple[VariableFacts, VariableView | None]]:
    """Return the variables to read, managed ones first, each with its view.

    Names choose among the variables of their kind; without names of a kind, all of it are chosen.
    """
    try:
        known = image.read_facts().variables
    except ImageRefused:  # only the driver can read it
        if not request.views:
            raise RequestError(
                "the image does not contain a list of its variables",
                hint="specify them by name",
                origin=request.image.origin,
            ) from None
        return [(VariableFacts(v.name, "global", 0, managed=True), v) for v in request.views]
    views = dict[str, VariableView]()
    for view in request.views:
        found = find_variable(view.name, known)
        if found is None:
            raise unknown_variable(view.name, view.text, known, request.image.origin)
        if not found.managed and not request.with_globals:
            kind = "__constant__" if found.space == "const" else "__device__"
            raise RequestError(
                f"{found.demangled} is a {kind} variable in {request.image.origin}, not a "
                "__managed__ variable",
                hint="--globals shows its address in each context",
            )
        if found.name in views:
            first = views[found.name].name
            same = "" if first == view.name else f": it is the same variable as {first}"
            raise RequestError(f"{view.name} is given twice{same}")
        views[found.name] = view
    chosen: list[tuple[VariableFacts, VariableView | None]] = []
    for managed in (True, False) if request.with_globals else (True,):
        own = [variable for variable in known if variable.managed == managed]
        named = [variable for variable in own if variable.name in views]
        chosen += [(variable, views.get(variable.name)) for variable in named or own]
    return chosen


# --- one variable --------------------------------------------------------------------------------


class _Variable:
    """A variable: its address in each context, its type, and the values read.

    Args:
        facts: The image's facts; a size of 0 is unknown.
    """

    def __init__(
        self,
        driver: Driver,
        library: Library,
        facts: VariableFacts,
        view: VariableView | None,
        contexts: Sequence[_Context],
    ) -> None:
        self.facts = facts
        found = []
        for context in contexts:
            driver.cuCtxSetCurrent(context.handle)
            found.append(_resolve(driver, library, facts, context))
        self.addresses = tuple(address for address, _ in found)
        self.size = found[0][1]
        self.data: bytes | None = None
        chosen = None if view is None else view.type
        if view is not None and view.value is not None:
            chosen, self.data = _encoded(view, replace(facts, size=self.size))
        self.type: Type | None = chosen or variable_type(facts)
        self.observations: list[Observation] = []
        if self.type is not None and self.size % self.type.size:
            raise RequestError(
                f"{facts.demangled} has {self.size} bytes, not a multiple of {self.type} "
                f"({self.type.size} bytes)"
            )

    def decoded(self, data: bytes) -> ObservedValue:
        """Decode its value from bytes."""
        if self.type is None:
            text = f"bytes:{data.hex()}"
            return ObservedValue(text, text)
        count = self.size // self.type.size
        shape = (() if count == 1 else (count,)) + inner_shape(self.type)
        array = np.frombuffer(data, element_dtype(self.type)).reshape(shape)[()]
        text = (
            np.array2string(array, separator=", ", threshold=16)
            if isinstance(array, np.ndarray)
            else str(array)
        )
        return ObservedValue(text, array.tolist())

    def report(self) -> ManagedVariable:
        """Report all values."""
        count = 1 if self.type is None else self.size // self.type.size
        return derived(
            ManagedVariable,
            self,
            name=self.facts.name,
            demangled=demangle(self.facts.name),
            managed=self.facts.managed,
            type=f"{self.type or 'bytes'}{'' if count == 1 else f'[{count}]'}",
            observations=tuple(self.observations),
        )


def _encoded(view: VariableView, facts: VariableFacts) -> tuple[Type | None, bytes]:
    """Return the type of a variable with a value to write, and its bytes."""
    assert view.value is not None, "the view has a value"
    if has_type(view.value):  # it can be another one than the variable's
        facts = replace(facts, type=None)
    argument = Argument(view.name, view.value, view.text)
    variable = variable_with_value(view.name, facts, argument, BufferResolver({}, Path()))
    if variable.pointers:
        raise RequestError(f"{view.text}: an address cannot be written to a variable")
    assert variable.initial is not None, "it has been resolved"
    chance = seeded(_SEED, facts.name)
    data = fill(variable.initial, variable.type, variable.shape, chance).tobytes()
    return None if isinstance(view.value, Bytes) else variable.type, data


def _resolve(
    driver: Driver, library: Library, facts: VariableFacts, context: _Context
) -> tuple[int, int]:
    """Return address and size of a variable in the current context."""
    call = "cuLibraryGetManaged" if facts.managed else "cuLibraryGetGlobal"
    result, *found = driver.attempt(call, library.handle, facts.name.encode())
    if result == 0:
        return int(found[0]), int(found[1])
    error = driver.failure(call, result)
    origin, codes = library.image.origin, driver.CUresult
    if result == codes.CUDA_ERROR_NOT_FOUND:
        kind = "managed variable" if facts.managed else "variable"
        raise RequestError(
            f"{facts.name}: the driver did not find a {kind} of this name in {origin}",
            hint="--globals shows __device__ variables, which have an address in each context"
            if facts.managed
            else None,
            cuda=error.cuda,
        )
    if result == codes.CUDA_ERROR_NOT_SUPPORTED:
        error.hint = (
            f"device {context.device.label} does not support managed memory "
            "(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), which this image requires"
        )
    raise error.at(device=context.device.label, file=origin)


# --- reading and writing -------------------------------------------------------------------------


def _observe(
    driver: Driver, contexts: Sequence[_Context], variables: Sequence[_Variable], moment: str
) -> None:
    """Record the value of every variable in every context, and on the host where possible."""
    read: list[list[ObservedValue]] = [[] for _ in variables]
    for index, context in enumerate(contexts):
        driver.cuCtxSetCurrent(context.handle)
        for variable, values in zip(variables, read, strict=True):
            data = bytearray(variable.size)
            driver.cuMemcpyDtoH(data, variable.addresses[index], len(data))
            values.append(variable.decoded(bytes(data)))
    for variable, values in zip(variables, read, strict=True):
        host = None
        if variable.facts.managed:  # the host reads the address directly, without a driver call
            host = variable.decoded(ctypes.string_at(variable.addresses[0], variable.size))
        variable.observations.append(Observation(moment, host, tuple(values)))
