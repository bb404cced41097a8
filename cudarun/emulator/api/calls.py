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
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, SupportsInt

from cuda.bindings.driver import CUresult

from cudarun.emulator.host.addresses import HostPointer
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.memory import InvalidAddress, OutOfMemory

P = ParamSpec("P")
Answer = tuple[Any, ...]
Args = tuple[Any, ...]
Named = dict[str, Any]

CALLS: dict[str, Callable[..., Answer]] = {}
"""Every driver call there is, by name."""


def query(
    outputs: int = 0, *, before_init: bool = False
) -> Callable[[Callable[P, object]], Callable[P, Answer]]:
    """Declare a call that no fault affects; ``before_init`` ones also work without ``cuInit``.

    ``outputs`` is how many values follow the result, here and in the other two.
    """
    return _driver_call(outputs, None, before_init=before_init)


def enqueue(outputs: int = 0) -> Callable[[Callable[P, object]], Callable[P, Answer]]:
    """Declare a call that submits work to a stream."""
    return _driver_call(outputs, False)


def call(
    outputs: int = 0,
    *,
    waits: bool = False,
    of_current: bool = True,
    needs_context: bool = False,
    during_capture: CaptureRule = CaptureRule.PERMITTED,
) -> Callable[[Callable[P, object]], Callable[P, Answer]]:
    """Declare any other call.

    Args:
        outputs: As with `query`.
        waits: Whether it returns when the current device is idle.
        of_current: Whether it needs the current context after a fault.
        needs_context: Whether it fails without a current context, before anything else.
        during_capture: What captures do about it.
    """
    return _driver_call(
        outputs,
        True,
        waits=waits,
        of_current=of_current,
        needs_context=needs_context,
        during_capture=during_capture,
    )


def _driver_call(
    outputs: int,
    synchronizes: bool | None,
    *,
    waits: bool = False,
    before_init: bool = False,
    of_current: bool = True,
    needs_context: bool = False,
    during_capture: CaptureRule = CaptureRule.PERMITTED,
) -> Callable[[Callable[P, object]], Callable[P, Answer]]:
    def decorate(body: Callable[P, object]) -> Callable[P, Answer]:
        name = body.__name__
        converted = with_integers(body)

        def carried_out(*args: P.args, **kwargs: P.kwargs) -> object:
            if not before_init and not process.initialized:
                raise Refusal("NOT_INITIALIZED")
            process.captures.admit(during_capture, process.stack.top)
            if waits:
                process.wait()
            if synchronizes is not None:
                process.check_fault(name, synchronizes=synchronizes, of_current=of_current)
            if needs_context:
                process.current()
            value = body(*args, **kwargs)
            if waits:  # it may have waited for another device than the current one
                process.check_fault(name, synchronizes=True, of_current=of_current)
            return value

        @functools.wraps(body)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Answer:
            values, named = converted(args, kwargs)
            with process.lock:
                try:
                    value = carried_out(*values, **named)
                except Refusal as refusal:
                    return _refused(name, refusal, outputs)
                except (OutOfMemory, MemoryError) as error:  # of the device, or of this machine
                    return _refused(name, Refusal("OUT_OF_MEMORY", str(error)), outputs)
                except InvalidAddress as error:
                    words = f"{error} are not within one allocation"
                    return _refused(name, Refusal("INVALID_VALUE", words), outputs)
            if outputs < 2:
                return (CUresult.CUDA_SUCCESS, *[value] * outputs)
            assert isinstance(value, tuple), f"{name} has {outputs} values"
            return (CUresult.CUDA_SUCCESS, *value)

        CALLS[name] = answer
        return answer

    return decorate


def generated(
    module: str, name: str, types: Mapping[str, str], text: str, work: Callable[..., object]
) -> Callable[..., object]:
    """Return the body of a call of a table.

    Args:
        module: The module whose chapter of the documentation lists it.
        name: Its name.
        types: The types of its parameters: ``int``, ``int = 0``, ``Handle``, ``HostPointer`` or
            ``Any``.
        text: Its documentation.
        work: Called with the arguments by position.
    """
    known = {"int": int, "Handle": Handle, "HostPointer": HostPointer, "Any": Any}
    signature = inspect.Signature(
        [_parameter(*item) for item in types.items()], return_annotation=None
    )

    def body(*args: object, **named: object) -> object:
        given = signature.bind(*args, **named)
        given.apply_defaults()
        return work(*given.args)

    body.__dict__["__signature__"] = signature
    annotations = {each.name: known[each.annotation] for each in signature.parameters.values()}
    body.__annotations__ = {**annotations, "return": None}
    body.__name__, body.__doc__, body.__module__ = name, text, module
    return body


def _parameter(name: str, type_: str) -> inspect.Parameter:
    type_, _, default = type_.partition(" = ")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    value = int(default) if default else inspect.Parameter.empty
    return inspect.Parameter(name, kind, annotation=type_, default=value)


def with_integers(body: Callable[..., object]) -> Callable[[Args, Named], tuple[Args, Named]]:
    """Return a function that converts a call's arguments for ``int`` parameters to integers.

    The bindings convert them as C does: a float loses its fraction, an array of no dimensions and
    an enum are numbers, text is a ``TypeError``.
    """

    @functools.cache
    def integers() -> tuple[tuple[int, str], ...]:
        # At the first call: evaluating the annotations of all calls would take milliseconds.
        types = inspect.get_annotations(body, eval_str=True)
        del types["return"]
        return tuple((place, name) for place, name in enumerate(types) if types[name] is int)

    def convert(args: Args, named: Named) -> tuple[Args, Named]:
        given = list(args)
        for place, name in integers():
            if place < len(given):
                given[place] = _integer(given[place])
            elif name in named:
                named[name] = _integer(named[name])
        return tuple(given), named

    return convert


def _integer(value: object) -> int:
    if type(value) is int:
        return value
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, SupportsInt):
        raise TypeError("an integer is required")
    return int(value)


def _refused(name: str, refusal: Refusal, outputs: int) -> Answer:
    process.log.returning(name, refusal.result, refusal.words)
    return (refusal.result, *[None] * outputs)
