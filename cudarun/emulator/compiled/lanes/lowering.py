"""Functions over lanes as LLVM functions over vectors, each traced once per module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cudarun.emulator.code import Lanewise, Use
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.tracing import TracedArray
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    element_of,
    vector_type,
)
from cudarun.emulator.numerics.arrays import DType
from cudarun.emulator.numerics.temporaries import temporaries_of

_FEW_LINES = 6


class LaneType(NamedTuple):
    """The type of an operand: of each lane, some elements of a numpy type."""

    dtype: DType
    elements: int = 1

    def shape(self, width: int = WIDTH) -> tuple[int, ...]:
        """Return the shape of an array of some lanes."""
        return (width,) if self.elements == 1 else (width, self.elements)

    @property
    def element(self) -> str:
        """The LLVM type of an element."""
        return element_of(self.dtype)

    @property
    def type(self) -> str:
        """The LLVM type of the values of a warp."""
        return vector_type(self.element, WIDTH * self.elements)


def lane_type(use: Use) -> LaneType:
    """Return the type of an operand."""
    value = getattr(use, "value", None)
    if value is not None:
        return LaneType(value.dtype, value.shape[1] if value.ndim > 1 else 1)
    ptx_type = use.type  # type: ignore[union-attr]
    return LaneType(ptx_type.dtype, ptx_type.elements)


class LaneFunctions:
    """The LLVM functions of the lanewise operations of a module."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module
        self._known: dict[tuple[Any, ...], str] = {}
        self._lines: dict[str, int] = {}

    def name_of(self, operation: Lanewise) -> str:
        """Return the name of the LLVM function of an operation, defined when first asked for.

        Raises:
            Untraceable: The operation cannot be compiled.
        """
        sources = tuple(map(lane_type, operation.sources))
        destinations = tuple(map(lane_type, operation.destinations))
        return self.name(operation.function, sources, destinations)

    def name(
        self,
        function: Callable[..., object],
        sources: tuple[LaneType, ...],
        destinations: tuple[LaneType, ...],
    ) -> str:
        """Return the name of the LLVM function of a function over lanes, defined at first.

        Raises:
            Untraceable: It cannot be compiled.
        """
        key = (function, sources, destinations)
        name = self._known.get(key)
        if name is None:
            text = lower(self._module, "", *key)
            name = self._known[key] = self._module.define_once("lane", text)
            self._lines[name] = text.count("\n") - 2  # without the head, the end and ``ret``
        return name

    def is_short(self, name: str) -> bool:
        """Return whether a function has so few instructions that a constant saves nothing."""
        return self._lines[name] <= _FEW_LINES


def lower(
    module: ModuleText,
    name: str,
    function: Callable[..., object],
    sources: Sequence[LaneType],
    destinations: Sequence[LaneType],
    width: int = WIDTH,
) -> str:
    """Return an LLVM function that does what a function over ``width`` lanes does.

    Raises:
        Untraceable: It needs the values of the lanes, or something without a rule.
    """
    code = CodeBuilder(module)
    given = [
        TracedArray.of(
            code,
            LaneVector(f"%a{place}", each.element, width * each.elements),
            each.dtype,
            each.shape(width),
        )
        for place, each in enumerate(sources)
    ]
    targets = [TracedArray.of(code, None, each.dtype, each.shape(width)) for each in destinations]
    shape = targets[0].shape if targets else (width,)
    scratch = [TracedArray.of(code, None, dtype, shape) for dtype in temporaries_of(function)]
    try:
        function(*given, *targets, *scratch)
        results = [target.read() for target in targets]
    except (TypeError, ValueError, KeyError, LookupError, AssertionError) as error:
        raise Untraceable(f"{type(error).__name__}: {error}") from error
    parameters = ", ".join(
        f"{vector_type(each.element, width * each.elements)} %a{place}"
        for place, each in enumerate(sources)
    )
    kind = returned(code, results)
    head = f"define internal {kind} @{name}({parameters}) alwaysinline {{"
    return "\n".join([head, *code.lines, "}"])


def traced(
    code: CodeBuilder,
    name: str,
    function: Callable[..., object],
    sources: Sequence[DType],
    result: DType,
    arguments: Sequence[LaneVector],
) -> LaneVector:
    """Call a function over elements of vectors, which is traced once per module.

    Args:
        code: Where the call goes.
        name: The name of the LLVM function.
        sources: The types of its sources.
    """
    count = arguments[0].count
    if not code.module.defines(name):
        kinds = [LaneType(each) for each in sources]
        text = lower(code.module, name, function, kinds, [LaneType(result)], width=count)
        code.module.define(name, text)
    given, element = ", ".join(each.typed for each in arguments), element_of(result)
    return code.vector(f"call {vector_type(element, count)} @{name}({given})", element, count)


def returned(code: CodeBuilder, results: Sequence[LaneVector]) -> str:
    """Return results from a function in code; return the type of the function's result."""
    if len(results) == 1:
        code.line(f"ret {results[0].typed}")
        return results[0].type
    kind = "{ " + ", ".join(each.type for each in results) + " }"
    value = "poison"
    for place, each in enumerate(results):
        value = code.scalar(f"insertvalue {kind} {value}, {each.typed}, {place}")
    code.line(f"ret {kind} {value}")
    return kind


def results_of(
    code: CodeBuilder, name: str, arguments: Sequence[LaneVector], destinations: Sequence[LaneType]
) -> list[LaneVector]:
    """Call the LLVM function of an operation and return its results."""
    given = ", ".join(each.typed for each in arguments)
    if len(destinations) == 1:
        (kind,) = destinations
        count = WIDTH * kind.elements
        return [code.vector(f"call {kind.type} @{name}({given})", kind.element, count)]
    types = "{ " + ", ".join(each.type for each in destinations) + " }"
    together = code.scalar(f"call {types} @{name}({given})")
    return [
        code.vector(
            f"extractvalue {types} {together}, {place}", each.element, WIDTH * each.elements
        )
        for place, each in enumerate(destinations)
    ]
