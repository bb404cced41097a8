"""The values of names in stopped threads, for the expressions of checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

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
from cudarun.base.errors import RequestError
from cudarun.debugger.expressions import LaneEvaluator
from cudarun.debugger.stopped_state import ARGUMENT, REGISTER, ThreadValues
from cudarun.debugger.values import CppValue
from cudarun.model.debug import Value

FIELD = re.compile(r"\{([^{}]*)\}")
"""An expression in the message of a breakpoint: ``i is {i}``."""

_PTX_NAME = re.compile(r"(?<![\w)\]])(\s*)%([A-Za-z_][\w.]*)")
_MOST_SHOWN = 16
_MOST_PARTS = 1000


@lru_cache(maxsize=256)  # conditions and watched expressions are evaluated again and again
def parse(text: str) -> Expression:
    """Return an expression, in which ``%r5`` is a register.

    Raises:
        ArgumentSyntaxError: It is not an expression.
    """
    return parse_expression(_PTX_NAME.sub(rf"\1{REGISTER}\2", text))


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


def described(name: str, value: object) -> Value:
    """Return a value as the debugger shows it."""
    has_parts = next(parts_of(value), None) is not None
    return Value(name, type_of(value), text_of(value), has_parts)


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members and elements of a value by what follows it in expressions."""
    if isinstance(value, CppValue):
        yield from value.parts(_MOST_PARTS)
    elif np.ndim(value):
        yield from ((f"[{index}]", each) for index, each in enumerate(value[:_MOST_PARTS]))


def element_of(expression: Expression, values: ThreadValues) -> tuple[str, int, DType] | None:
    """Return the buffer of an element, as in ``y[17]``, its byte offset there, and its type.

    ``None`` of another expression.

    Raises:
        RequestError: The buffer has no such element.
    """
    node, text = expression.node, expression.text
    if not isinstance(node, Index) or not isinstance(node.base, Name):
        return None
    name = node.base.name.removeprefix(ARGUMENT)
    if name not in values.buffers or node.base.name in values.variables:
        return None
    array = values[ARGUMENT + name]
    indices = [_index(expression, item, values) for item in node.items]
    if len(indices) != array.ndim:
        raise RequestError(f"{text}: {name} has {array.ndim} dimensions")
    for index, extent in zip(indices, array.shape, strict=True):
        if not -extent <= index < extent:
            raise RequestError(f"{text}: {name} has {extent} elements")
    wrapped = tuple(np.array(indices) % array.shape)
    offset = int(np.ravel_multi_index(wrapped, array.shape)) * array.dtype.itemsize
    return name, offset, array.dtype


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


def text_of(value: object) -> str:
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


def _number(value: object) -> str:
    return str(value).lower() if isinstance(value, np.bool_) else str(value)


def type_of(value: object) -> str:
    """Return the type of a value in C++, or in the notation of arguments: ``f32[16]``."""
    if isinstance(value, CppValue):
        return value.type_name
    array = np.asarray(value)
    scalar = None if array.dtype.names else scalar_type(array.dtype)
    shape = ",".join(map(str, array.shape))
    name = "struct" if scalar is None else str(scalar)
    return f"{name}[{shape}]" if shape else name
