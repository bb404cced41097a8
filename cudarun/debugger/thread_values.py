"""The values of names in stopped threads, for the expressions of checks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cudarun.arguments.dtypes import Array, scalar_type
from cudarun.arguments.expressions.evaluation import Evaluator
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

if TYPE_CHECKING:
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

_PTX_NAME = re.compile(r"(?<![\w)\]])(\s*)%([A-Za-z_][\w.]*)")
_MOST_SHOWN = 16


def parse(text: str) -> Expression:
    """Return an expression, in which ``%r5`` is a register.

    Raises:
        ArgumentSyntaxError: It is not an expression.
    """
    return parse_expression(_PTX_NAME.sub(rf"\1{REGISTER}\2", text))


@dataclass(frozen=True, slots=True)
class LaunchNames:
    """The arguments of a launch by name.

    Attributes:
        buffers: The buffers.
        addresses: Their addresses.
        scalars: The values of the others.
    """

    buffers: Mapping[str, BufferSpec]
    addresses: Mapping[str, int]
    scalars: Mapping[str, Any]


class ThreadValues(Mapping[str, Any]):
    """The values of names in some lanes: of registers an item for each lane.

    Args:
        states: The stopped threads; ``None`` where none runs.
        names: The arguments of the launch.
        lanes: The lanes, which are in the same function.
        level: The call whose registers are meant; 0 is the innermost.
        memory: Returns the bytes of global memory at an address.
    """

    def __init__(
        self,
        states: ThreadStates | None,
        names: LaunchNames,
        lanes: Array,
        level: int = 0,
        *,
        memory: Any = None,
    ) -> None:
        self._states = states
        self._names = names
        self._lanes = lanes
        self._level = level
        self._memory = memory
        self._known: dict[str, Any] = {}

    def some(self, chosen: Array) -> ThreadValues:
        """Return the values in some of the lanes."""
        lanes = self._lanes[chosen]
        return ThreadValues(self._states, self._names, lanes, self._level, memory=self._memory)

    @property
    def buffers(self) -> Mapping[str, BufferSpec]:
        """The buffers of the launch."""
        return self._names.buffers

    @property
    def count(self) -> int:
        """The number of lanes."""
        return len(self._lanes)

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._value(name)
        return self._known[name]

    def _value(self, name: str) -> Any:
        if name in self._names.buffers:
            spec = self._names.buffers[name]
            data = self._memory(self._names.addresses[name], spec.nbytes)
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
        found = states.register(frame, register, self._lanes)
        return found[0] if len(self._lanes) == 1 else found

    def __iter__(self) -> Iterator[str]:
        yield from self._names.buffers
        yield from self._names.scalars
        if self._states is not None and len(self._lanes):
            yield from _BUILT_IN
            frame = self._states.frame(int(self._lanes[0]), self._level)
            for name in self._states.registers(frame):
                yield REGISTER + name.removeprefix("%")

    def __len__(self) -> int:
        return sum(1 for _ in self)


def value_of(expression: Expression, values: ThreadValues) -> Any:
    """Return the value of an expression, as a numpy scalar or array.

    Raises:
        RequestError: An unknown name, or an impossible operation.
    """
    return Evaluator(expression, values, values).result()


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
        chosen = values.some(positions)
        truth = np.asarray(value_of(part, chosen)).astype(np.bool_)
        if truth.ndim > 1 or truth.size not in (1, len(positions)):
            raise RequestError(f"{condition}: the condition is not a single value")
        positions = positions[np.broadcast_to(truth.reshape(-1), len(positions))]
    return positions


def _conjuncts(node: Node) -> Iterator[Node]:
    if isinstance(node, Binary) and node.operator == "and":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def element_of(text: str, values: ThreadValues) -> tuple[str, int, int]:
    """Return the buffer, the byte offset and the size of an element, as in ``y[17]``.

    Raises:
        RequestError: It is not an element of a buffer.
    """
    expression = parse(text)
    node = expression.node
    if not isinstance(node, Index) or not isinstance(node.base, Name):
        raise RequestError(f"{text} is not an element of a buffer, such as y[17]")
    name = node.base.name
    if name not in values.buffers:
        known = ", ".join(values.buffers)
        raise RequestError(f"unknown buffer {name!r}", hint=known and f"the buffers are {known}")
    array = values[name]
    indices = [_index(expression, item, values) for item in node.items]
    if len(indices) != array.ndim:
        raise RequestError(f"{text}: {name} has {array.ndim} dimensions")
    for index, extent in zip(indices, array.shape, strict=True):
        if not -extent <= index < extent:
            raise RequestError(f"{text}: {name} has {extent} elements")
    shape = array.shape
    wrapped = tuple(index % extent for index, extent in zip(indices, shape, strict=True))
    size = array.dtype.itemsize
    return name, int(np.ravel_multi_index(wrapped, shape)) * size, size


def _index(expression: Expression, item: object, values: ThreadValues) -> int:
    if isinstance(item, Slice | Rest | NewAxis):
        raise RequestError(f"{expression}: expected one element")
    part = Expression(expression.text, cast("Node", item), expression.source)
    return int(value_of(part, values))


def text_of(value: Any) -> str:
    """Return a value as text: a number, or the first elements of an array."""
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
    """Return the type of a value in the notation of arguments: ``f32[16]``."""
    array = np.asarray(value)
    scalar = None if array.dtype.names else scalar_type(array.dtype)
    shape = ",".join(map(str, array.shape))
    name = "struct" if scalar is None else str(scalar)
    return f"{name}[{shape}]" if shape else name
