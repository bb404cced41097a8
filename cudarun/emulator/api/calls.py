"""Common parts of all driver calls: the lock, required state, error handling and results.

There are three kinds, by the effect of an earlier kernel's fault on them (see `host.process`):

- `query` only reads state that no fault affects: it never fails because of one;
- `enqueue` submits work to a stream: until the fault is known it succeeds without effect;
- `call` is any other call, which makes the fault known. If the current context has been destroyed,
  it reports that instead, unless it is ``of_current=False``: it creates or destroys contexts
  itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, SupportsInt, get_args, get_origin

from cuda.bindings.driver import CUresult

from cudarun.emulator.host.addresses import HostPointer
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.memory import InvalidAddress, OutOfMemory

Answer = tuple[Any, ...]
Args = tuple[Any, ...]
Named = dict[str, Any]
Decorator = Callable[[Callable[..., object]], Callable[..., Answer]]
Conversions = Sequence[tuple[int, str, Callable[[Any], object]]]
"""The place and the name of each argument to convert, and its conversion."""

_SUCCESS = CUresult.CUDA_SUCCESS
CALLS: dict[str, Callable[..., Answer]] = {}  # every driver call there is, by name


def query(*, before_init: bool = False) -> Decorator:
    """Declare a call that no fault affects; ``before_init`` ones also work without ``cuInit``."""
    return call(synchronizes=None, before_init=before_init)


def enqueue() -> Decorator:
    """Declare a call that submits work to a stream."""
    return call(synchronizes=False)


def call(
    *,
    synchronizes: bool | None = True,
    waits: Wait | None = None,
    before_init: bool = False,
    of_current: bool = True,
    needs_context: bool = False,
    during_capture: CaptureRule = CaptureRule.PERMITTED,
) -> Decorator:
    """Declare any other call.

    Args:
        synchronizes: Whether a fault becomes known by it; ``None`` if it ignores faults.
        waits: What it waits for.
        before_init: Whether it works without ``cuInit``.
        of_current: Whether it needs the current context after a fault.
        needs_context: Whether it fails without a current context, before anything else.
        during_capture: What captures do about it.
    """

    def declare(body: Callable[..., object]) -> Callable[..., Answer]:
        name, types = body.__name__, CallTypes(body)

        def perform(args: Args, named: Named) -> object:
            if not before_init and not process.devices:
                raise Refusal("NOT_INITIALIZED")
            if during_capture is not CaptureRule.PERMITTED:
                process.captures.admit(during_capture, process.stack.top)
            if waits:
                process.wait(waits)
                process.show_printed()
            if synchronizes is not None:
                process.check_fault(name, synchronizes=synchronizes, of_current=of_current)
            if needs_context:
                process.current()
            if types.objects:
                args, named = converted(types.objects, args, named)
            value = body(*args, **named)
            if waits:  # it may have waited for another device than the current one
                if waits is Wait.ITSELF:
                    process.show_printed()
                process.check_fault(name, synchronizes=True, of_current=of_current)
            return value

        @functools.wraps(body)
        def answer(*args: object, **named: object) -> Answer:
            if types.integers:
                args, named = converted(types.integers, args, named)
            with process.mutex:
                try:
                    value: Any = perform(args, named)
                    if types.are_several:
                        return (_SUCCESS, *value)
                    return (_SUCCESS, value)[: 1 + types.outputs]
                except Refusal as refusal:
                    problem = refusal
                except (OutOfMemory, MemoryError) as error:  # of the device, or of this machine
                    problem = Refusal("OUT_OF_MEMORY", str(error))
                except InvalidAddress as error:
                    problem = Refusal("INVALID_VALUE", f"{error} are not within one allocation")
                process.log.returning(name, problem.result, problem.words)
                return (problem.result, *[None] * types.outputs)

        CALLS[name] = answer
        return answer

    return declare


class CallTypes:
    """The types of a call, which say how its arguments are converted and what it returns.

    They are evaluated at the first call: those of all calls would take milliseconds.
    """

    def __init__(self, body: Callable[..., object]) -> None:
        self._body = body

    @cached_property
    def _types(self) -> dict[str, Any]:
        return inspect.get_annotations(self._body, eval_str=True)

    @cached_property
    def integers(self) -> Conversions:
        """The arguments for ``int``, which the bindings convert as C does.

        A float loses its fraction, an array of no dimensions and an enum are numbers, text is a
        ``TypeError``.
        """
        names = enumerate(self._types)
        return [(at, name, _integer) for at, name in names if self._types[name] is int]

    @cached_property
    def objects(self) -> Conversions:
        """The handles, which are replaced by the objects, and the structures.

        The conversion raises `Refusal` if a handle is invalid, or a structure is missing.
        """
        found: list[tuple[int, str, Callable[[Any], object]]] = []
        for at, (name, type_) in enumerate(self._types.items()):
            if get_origin(type_) is Annotated:
                found.append((at, name, type_.__metadata__[0]))
            elif hasattr(type_, "getPtr") and not hasattr(type_, "__int__") and name != "return":
                found.append((at, name, partial(_structure, type_)))
        return found

    @cached_property
    def are_several(self) -> bool:
        """True if it returns a tuple of values."""
        return get_origin(self._types["return"]) is tuple

    @cached_property
    def outputs(self) -> int:
        """The number of values after the result."""
        returned = self._types["return"]
        return len(get_args(returned)) if self.are_several else 0 if returned is None else 1


def converted(conversions: Conversions, args: Args, named: Named) -> tuple[Args, Named]:
    """Return the arguments of a call with conversions applied."""
    converted = list(args)
    for at, name, convert in conversions:
        if at < len(converted):
            converted[at] = convert(converted[at])
        elif name in named:
            named[name] = convert(named[name])
    return tuple(converted), named


def _structure(kind: type, value: object) -> object:
    if not isinstance(value, kind):
        raise Refusal("INVALID_VALUE", f"{kind.__name__} is missing")
    return value


def generated(
    module: str,
    name: str,
    types: Mapping[str, object],
    text: str,
    work: Callable[..., object],
    returned: object = None,
) -> Callable[..., object]:
    """Return the body of a call of a table.

    Args:
        module: The module whose chapter of the documentation lists it.
        types: The types of its parameters, or their names: ``int``, ``int = 0``, ``Handle``,
            ``HostPointer`` or ``Any``.
        work: Called with the arguments by position.
        returned: The type of its value.
    """
    known = {"int": int, "Handle": Handle, "HostPointer": HostPointer, "Any": Any}
    signature = inspect.Signature(
        [_parameter(*item) for item in types.items()], return_annotation=returned
    )
    given = [each.default for each in signature.parameters.values()]
    defaults = [each for each in given if each is not inspect.Parameter.empty]
    fewest = len(given) - len(defaults)

    def body(*args: object, **named: object) -> object:
        if not named and fewest <= len(args) <= len(given):  # binding takes longer than many a call
            return work(*args, *defaults[len(args) - fewest :])
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        return work(*bound.args)

    body.__dict__["__signature__"] = signature
    named = {each.name: each.annotation for each in signature.parameters.values()}
    annotations = {
        each: known[type_] if isinstance(type_, str) else type_ for each, type_ in named.items()
    }
    body.__annotations__ = {**annotations, "return": returned}
    body.__name__, body.__doc__, body.__module__ = name, text, module
    return body


def _parameter(name: str, type_: object) -> inspect.Parameter:
    type_, _, default = type_.partition(" = ") if isinstance(type_, str) else (type_, "", "")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    value = int(default) if default else inspect.Parameter.empty
    return inspect.Parameter(name, kind, annotation=type_, default=value)


def _integer(value: object) -> int:
    if type(value) is int:
        return value
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, SupportsInt):
        raise TypeError("an integer is required")
    return int(value)
