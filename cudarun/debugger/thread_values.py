"""The values of names in stopped threads, for the expressions of checks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cudarun.arguments.dtypes import Array, DType, scalar_type
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.syntax import (
    Binary,
    Expression,
    Index,
    Name,
    NewAxis,
    Node,
    Rest,
    Slice,
)
from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.debugger.expressions import LaneEvaluator
from cudarun.debugger.values import CppValue
from cudarun.debugger.variables import VariableScope
from cudarun.model.debug import Value

if TYPE_CHECKING:
    from cudarun.debugger.stopped_state import StoppedState
    from cudarun.session.driver.drivers import ThreadStates

_BUILT_IN = {
    **{f"threadIdx.{axis}": f"%tid.{axis}" for axis in "xyz"},
    **{f"blockIdx.{axis}": f"%ctaid.{axis}" for axis in "xyz"},
    **{f"blockDim.{axis}": f"%ntid.{axis}" for axis in "xyz"},
    **{f"gridDim.{axis}": f"%nctaid.{axis}" for axis in "xyz"},
    "laneid": "%laneid",
    "warpid": "%warpid",
}
REGISTER = "reg."
"""The prefix of registers in expressions: ``reg.r5``, or ``%r5`` as in the PTX."""

ARGUMENT = "arg."
"""The prefix of an argument of the launch that a variable of the code hides: ``arg.x``."""

FIELD = re.compile(r"\{([^{}]*)\}")
"""An expression in the message of a breakpoint: ``i is {i}``."""

_PTX_NAME = re.compile(r"(?<![\w)\]])(\s*)%([A-Za-z_][\w.]*)")
_MOST_SHOWN = 16
_MOST_PARTS = 1000


def parse(text: str) -> Expression:
    """Return an expression, in which ``%r5`` is a register.

    Raises:
        ArgumentSyntaxError: It is not an expression.
    """
    return parse_expression(_PTX_NAME.sub(rf"\1{REGISTER}\2", text))


@dataclass(frozen=True, slots=True)
class LaunchNames:
    """The arguments of a launch by name."""

    buffers: Mapping[str, BufferSpec]
    addresses: Mapping[str, int]  # those of the buffers
    scalars: Mapping[str, Any]  # the values of the others


class ThreadValues(Mapping[str, Any]):
    """The values of names in some lanes: of registers an item for each lane.

    Args:
        state: The state of the launch.
        states: The stopped threads; ``None`` where none runs.
        lanes: The lanes, which are in the same function.
        level: The call whose registers are meant; 0 is the innermost.
    """

    def __init__(
        self, state: StoppedState, states: ThreadStates | None, lanes: Array, level: int = 0
    ) -> None:
        self._state = state
        self._states = states
        self._names = state.names
        self._lanes = lanes
        self._level = level
        self._known: dict[str, Any] = {}

    def some(self, chosen: Array) -> ThreadValues:
        """Return the values in some of the lanes."""
        return ThreadValues(self._state, self._states, self._lanes[chosen], self._level)

    @property
    def buffers(self) -> Mapping[str, BufferSpec]:
        """The buffers of the launch."""
        return self._names.buffers

    @property
    def arguments(self) -> Sequence[str]:
        """The names of the arguments of the launch in expressions."""
        names = [*self._names.buffers, *self._names.scalars]
        return [f"{ARGUMENT}{each}" if each in self.variables else each for each in names]

    @property
    def count(self) -> int:
        """The number of lanes."""
        return len(self._lanes)

    @cached_property
    def variables(self) -> Mapping[str, CppValue]:
        """The C++ variables in scope."""
        debug = self._state.debug
        if debug is None or self._states is None or not self.count:
            return {}
        lane = int(self._lanes[0])
        frame = self._states.frame(lane, self._level)
        _, site = self._states.calls(lane)[self._level]
        assert site is not None, "it has an instruction to execute"
        accessor = self._states.access(frame, self._lanes)
        return VariableScope(debug, frame.function.name, site.line, accessor)

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._value(name)
        return self._known[name]

    def _value(self, name: str) -> Any:
        name = name.removeprefix(ARGUMENT)
        if name in self._names.buffers:
            spec = self._names.buffers[name]
            data = self._state.memory(self._names.addresses[name], spec.nbytes)
            return data.view(spec.dtype()).reshape(spec.array_shape)
        if name in self._names.scalars:
            return self._names.scalars[name]
        states = self._states
        if states is None or not len(self._lanes):
            raise KeyError(name)
        register = _BUILT_IN.get(name) or "%" + name.removeprefix(REGISTER)
        if name not in _BUILT_IN and not name.startswith(REGISTER):
            raise KeyError(name)
        frame = states.frame(int(self._lanes[0]), self._level)
        try:
            found = states.register(frame, register, self._lanes)
        except KeyError:
            raise RequestError(
                f"unknown register {register}", hint="'registers' lists those of the function"
            ) from None
        return found[0] if len(self._lanes) == 1 else found

    @property
    def registers(self) -> list[str]:
        """The names of the registers, as in the PTX."""
        if self._states is None or not len(self._lanes):
            return []
        frame = self._states.frame(int(self._lanes[0]), self._level)
        return [*self._states.registers(frame)]

    def __iter__(self) -> Iterator[str]:
        yield from self._names.buffers
        yield from self._names.scalars
        if self._states is not None and len(self._lanes):
            yield from _BUILT_IN

    def __len__(self) -> int:
        return sum(1 for _ in self)


def value_of(expression: Expression, values: ThreadValues) -> Any:
    """Return the value of an expression: a numpy scalar or array, or a C++ value.

    Raises:
        RequestError: An unknown name, or an impossible operation.
    """
    return _evaluator(expression, values).result()


def _evaluator(expression: Expression, values: ThreadValues) -> LaneEvaluator:
    return LaneEvaluator(expression, values, values.variables, values.count)


def holds(condition: Expression, values: ThreadValues) -> Array:
    """Return in which lanes a condition is true, as their positions.

    The right side of ``and`` is evaluated only where the left side is true, as in C++.

    Raises:
        RequestError: An unknown name, or an impossible operation.
    """
    positions = np.arange(values.count)
    for node in _conjuncts(condition.node):
        if not len(positions):
            break
        part = Expression(condition.text, node, condition.source)
        positions = positions[_evaluator(part, values.some(positions)).condition()]
    return positions


def _conjuncts(node: Node) -> Iterator[Node]:
    if isinstance(node, Binary) and node.operator == "and":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def described(name: str, value: Any) -> Value:
    """Return a value as the debugger shows it."""
    has_parts = next(parts_of(value), None) is not None
    return Value(name, type_of(value), text_of(value), has_parts)


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members and elements of a value by what follows it in expressions."""
    if isinstance(value, CppValue):
        yield from value.parts(_MOST_PARTS)
    elif np.ndim(value):
        yield from ((f"[{index}]", each) for index, each in enumerate(value[:_MOST_PARTS]))


def buffer_of(expression: Expression, values: ThreadValues) -> str | None:
    """Return the buffer of an element, as in ``y[17]``; ``None`` of another expression."""
    node = expression.node
    if not isinstance(node, Index) or not isinstance(node.base, Name):
        return None
    name = node.base.name.removeprefix(ARGUMENT)
    is_hidden = node.base.name in values.variables
    return name if name in values.buffers and not is_hidden else None


def element_of(expression: Expression, name: str, values: ThreadValues) -> tuple[int, DType]:
    """Return the byte offset and the type of an element of a buffer.

    Raises:
        RequestError: There is none.
    """
    node, text, array = expression.node, expression.text, values[ARGUMENT + name]
    assert isinstance(node, Index)
    indices = [_index(expression, item, values) for item in node.items]
    if len(indices) != array.ndim:
        raise RequestError(f"{text}: {name} has {array.ndim} dimensions")
    for index, extent in zip(indices, array.shape, strict=True):
        if not -extent <= index < extent:
            raise RequestError(f"{text}: {name} has {extent} elements")
    shape = array.shape
    wrapped = tuple(index % extent for index, extent in zip(indices, shape, strict=True))
    return int(np.ravel_multi_index(wrapped, shape)) * array.dtype.itemsize, array.dtype


def filled(message: str, values: ThreadValues) -> str:
    """Return a message with the values of the expressions in its braces."""

    def text(match: re.Match[str]) -> str:
        try:
            return text_of(value_of(parse(match[1]), values))
        except RequestError as error:
            return f"<{str(error).splitlines()[0]}>"

    return FIELD.sub(text, message)


def _index(expression: Expression, item: object, values: ThreadValues) -> int:
    if isinstance(item, Slice | Rest | NewAxis):
        raise RequestError(f"{expression}: expected one element")
    part = Expression(expression.text, cast("Node", item), expression.source)
    return int(_evaluator(part, values).number())


def text_of(value: Any) -> str:
    """Return a value as text: a number, or the first elements of an array."""
    if isinstance(value, CppValue):
        return value.text()
    array = np.asarray(value)
    if not array.ndim:
        return _number(array[()])
    flat = array.reshape(-1)
    shown = ", ".join(map(_number, flat[:_MOST_SHOWN]))
    more = f", … {flat.size} elements" if flat.size > _MOST_SHOWN else ""
    return f"[{shown}{more}]"


def _number(value: Any) -> str:
    if isinstance(value, np.bool_):
        return "true" if value else "false"
    return str(value)


def type_of(value: Any) -> str:
    """Return the type of a value in C++, or in the notation of arguments: ``f32[16]``."""
    if isinstance(value, CppValue):
        return value.type_name
    array = np.asarray(value)
    scalar = None if array.dtype.names else scalar_type(array.dtype)
    shape = ",".join(map(str, array.shape))
    name = "struct" if scalar is None else str(scalar)
    return f"{name}[{shape}]" if shape else name
