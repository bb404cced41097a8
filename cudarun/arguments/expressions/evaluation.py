"""Evaluation of expressions: numpy's semantics without its surprises.

- Floating arithmetic uses float64 for all types, and only a cast rounds: the value that
  a kernel is checked against is exact, ``f16`` intermediates do not overflow, and
  ``f32(a*x)`` is exactly the single-precision product.
- Integers keep their width and wrap as on the device and in numpy; a literal takes the type of
  the other operand. Integer scalars are exact. ``sum``, ``prod``, ``cumsum``, ``@``
  and ``dot`` use 64 bits. Signed with unsigned 64 bits is unsigned, as in C (numpy would use
  float64). A bool in arithmetic is an ``i32``.
- Operators are not applied to whole arrays but are :class:`Deferred` until a value is needed,
  then computed chunk by chunk: 2^26 elements need no array of their size, and the chunks stay in
  the cache.

No floating-point warning escapes; every impossible operation is a ``RequestError``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from cudarun.arguments.array_files import load_npy
from cudarun.arguments.dtypes import Array, NumpyValue, Values, convert, scalar_type
from cudarun.arguments.expressions import functions
from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.deferral import (
    Data,
    elementwise,
    guard_size,
    joint_shape,
    materialize,
    numpy_errors,
    plain,
)
from cudarun.arguments.expressions.operators import (
    ELEMENTWISE,
    binary,
    compare_chain,
    is_floating,
    unary,
    wide,
)
from cudarun.arguments.expressions.presentation import presented
from cudarun.arguments.expressions.syntax import CASTS, CONSTANTS, Expression
from cudarun.arguments.files import locate
from cudarun.arguments.types import ScalarType, least_exact, most_exact
from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.base.records import dataclass

Unwritten: TypeAlias = Callable[[str], "Array | None"]
"""A function that returns which elements of a buffer were never written, as an array of its shape;
``None`` for all that were written."""

_CLAIMS = frozenset({"all", "allclose", "array_equal"})  # true of nothing
_EXACT = _CLAIMS | {
    *("isnan", "isinf", "isfinite", "isclose", "any", "bincount", "arange"),
    *("argmin", "argmax", "argsort", "count_nonzero"),
}

_SELECTING = frozenset({"and", "or", "&", "|", "@"})
_OF_ONE = {*CASTS, *ELEMENTWISE} - {"where", "clip", "maximum", "minimum", "fmax", "fmin"}
"""Functions whose values are those of the elements of their first argument."""


def nothing_unwritten(name: str) -> None:
    """Return that every element of a buffer was written."""


@dataclass(eq=False)
class Evaluator:
    """An evaluator of one expression over given values."""

    expression: Expression  # errors about names point into its text
    values: Values  # arrays and numpy scalars by name, after the launch
    old: Values  # the same before the launch
    directory: Path = Path()  # the base of relative paths in ``load(…)``
    # Of the operand of ``old(…)``, the values after the launch.
    after: Values = field(default_factory=dict)
    # Whether ``all`` was true of an empty selection of buffers that are not empty.
    is_vacuous: bool = False

    def __post_init__(self) -> None:
        self.before = self
        if self.old is not self.values:
            given = self.old, self.old, self.directory, self.values
            self.before = Evaluator(self.expression, *given)
        self._loaded: dict[str, Array] = {}

    def result(self) -> NumpyValue:
        """Return the value of the whole expression, as a numpy scalar or array.

        A float64 result of operands no more precise than ``f32`` is returned as ``f32``.
        """
        node = self.expression.node
        with np.errstate(all="ignore"), errors_naming(self.expression):
            return presented(materialize(self.value(node)), self.precision(node))

    @property
    def _given(self) -> list[Array]:
        """The arrays of the launch."""
        return [value for value in self.values.values() if isinstance(value, np.ndarray)]

    # --- values ---

    def value(self, node: tree.Node) -> Data:
        """Return the value of a node, with elementwise operations deferred."""
        match node:
            case tree.Number(int(number)):
                return number
            case tree.Number(number):
                return np.float64(number)
            case tree.Name():
                if node.name in self.values:
                    return cast(
                        Data, plain(_supported(node.name, np.asarray(self.values[node.name])))
                    )
                if node.name in tree.CONSTANTS:
                    constant = CONSTANTS[node.name]
                    return (
                        np.bool_(constant) if isinstance(constant, bool) else np.float64(constant)
                    )
                if node.name in self.after:
                    raise RequestError(
                        f"old({node.name}): it has no initial value",
                        hint=f"add an initializer to {node.name}, such as zeros",
                    )
                raise tree.unknown_name(self.expression, node, self.values)
            case tree.SequenceLiteral(items):
                parts = functions.same_type([self._operand("[…]", item) for item in items])
                with numpy_errors("[…]"):
                    return np.stack(parts)
            case tree.Unary(operator, operand):
                return elementwise(lambda v: unary(operator, v), self.value(operand))
            case tree.Binary("@", left, right):
                product = functions.matrix_product(self.array(left), self.array(right))
                return cast(Data, plain(product))
            case tree.Binary(operator, left, right):
                sides = self.value(left), self.value(right)
                return elementwise(lambda a, b: binary(operator, a, b), *sides)
            case tree.Comparison(operands, operators):
                values = map(self.value, operands)
                return elementwise(lambda *v: compare_chain(operators, *v), *values)
            case tree.Call():
                return self._call(node)
            case tree.Old(operand):
                return self.before.value(operand)
            case tree.FileLoad(path):
                return cast(Data, plain(self._load(path)))
            case tree.Index(base, items):
                array = self.array(base)
                if array.ndim == 0:
                    raise RequestError("[…]: a scalar has no elements")
                where = tuple(self._index_item(item) for item in items)
                joint_shape([each for each in where if isinstance(each, np.ndarray)])
                with numpy_errors("[…]"):
                    return cast(Data, plain(array[where]))
            case tree.MemberOf(base, member):
                value = self.array(base)
                names = value.dtype.names or ()
                if member not in names:
                    known = f"its members are {', '.join(names)}" if names else "it is not a struct"
                    raise RequestError(f'["{member}"]: {known}')
                return cast(Data, plain(value[member]))

    def array(self, node: tree.Node) -> Any:
        """Return the value of a node as a numpy scalar or array."""
        return materialize(self.value(node))

    def _load(self, path: str) -> Array:
        if path not in self._loaded:
            self._loaded[path] = _supported(path, load_npy(locate(path, self.directory)))
        return self._loaded[path]

    def _index_item(self, item: tree.IndexItem) -> object:
        if isinstance(item, tree.Rest):
            return ...
        if isinstance(item, tree.NewAxis):
            return None
        if isinstance(item, tree.Slice):
            parts = (item.start, item.stop, item.step)
            return slice(*(None if part is None else self._integer(part) for part in parts))
        value = self.array(item)
        if value.dtype.kind not in "iub":
            raise RequestError(f"[…]: an index must be an integer, not {value.dtype}")
        return value if value.ndim or value.dtype.kind == "b" else int(value)

    def _integer(self, node: tree.Node) -> int:
        """Return the value of a node that must be one integer."""
        value = self.array(node)
        if value.ndim or value.dtype.kind not in "iu":
            raise RequestError("a shape, an axis or a bound must be one integer")
        return int(value)

    def _integers(self, nodes: Sequence[tree.Node]) -> tuple[int, ...]:
        """Return integers from separate arguments or from one tuple."""
        if len(nodes) == 1 and isinstance(nodes[0], tree.SequenceLiteral):
            nodes = nodes[0].items
        return tuple(map(self._integer, nodes))

    # --- elements that were never written ---

    def unwritten(self, node: tree.Node, of: Unwritten) -> Array | None:
        """Return which elements of a value are, or are computed from, elements never written.

        The values of other functions, and of ``and`` and ``or``, may be those of other elements.

        Args:
            of: Returns the elements of a buffer.
        """
        match node:
            case tree.Name(name):
                return of(name)
            case tree.Index(base, items):
                whole: Any = self.unwritten(base, of)
                if whole is None:
                    return None
                whole = np.broadcast_to(whole, np.shape(self.array(base)))
                return np.asarray(whole[tuple(self._index_item(item) for item in items)])
            case tree.MemberOf(base):
                mask = self.unwritten(base, of)
                if mask is None:
                    return None
                shape = np.shape(self.array(node))
                axes = (1,) * (len(shape) - mask.ndim)
                return np.broadcast_to(mask.reshape(mask.shape + axes), shape)
            case tree.Call("transpose", (base,)):
                mask = self.unwritten(base, of)
                return None if mask is None else mask.T
            case tree.Unary(operator, operand) if operator != "not":
                return self.unwritten(operand, of)
            case tree.Binary(operator, left, right) if operator not in _SELECTING:
                mask, other = self.unwritten(left, of), self.unwritten(right, of)
                return other if mask is None else mask if other is None else mask | other
            case tree.Call(function, (operand, *_)) if function in _OF_ONE:
                return self.unwritten(operand, of)
        return None

    def has_no_empty_array(self, node: tree.Node) -> bool:
        """Return whether no buffer in an expression was declared empty."""
        names = (each.name for each in tree.walk(node) if isinstance(each, tree.Name))
        return all(np.size(self.values[name]) for name in names if name in self.values)

    # --- functions ---

    def _call(self, node: tree.Call) -> Data:
        name, arguments = node.function, node.arguments
        if name in CASTS:
            scalar, [operand] = CASTS[name], arguments
            # Arithmetic is in float64, but a NaN is of its operands' type.
            declared = self.precision(operand, most_exact) if scalar.is_integer else None
            return elementwise(lambda each: convert(each, scalar, declared), self.value(operand))
        if name in ELEMENTWISE:
            return elementwise(ELEMENTWISE[name], *map(self.value, arguments))
        options = {keyword: self._option(keyword, value) for keyword, value in node.keywords}
        if name in ("concatenate", "stack"):
            if not isinstance(arguments[0], tree.SequenceLiteral):
                raise RequestError(f"{name} takes a list of arrays: {name}([x, y])")
            parts = functions.same_type([self._operand(name, item) for item in arguments[0].items])
            with numpy_errors(name):
                return cast(Data, plain(getattr(np, name)(parts, **options)))
        first = self._operand(name, arguments[0])
        if name in _CLAIMS and not first.size and self.has_no_empty_array(node):
            self.is_vacuous = True
        with numpy_errors(name):
            if name == "einsum":
                operands = [first, *(self._operand(name, each) for each in arguments[1:])]
                return cast(Data, plain(functions.einsum(node.text, operands)))
            return cast(Data, plain(self._whole(name, first, arguments, options)))

    def _operand(self, name: str, node: tree.Node) -> Any:
        """Return an argument of a function that needs whole arrays."""
        value = self.array(node)
        if value.dtype.names:
            raise RequestError(f'{name}: a struct has no single value; select a member: ["…"]')
        return value

    def _option(self, keyword: str, node: tree.Node) -> object:
        if keyword in ("keepdims", "equal_nan"):
            flag = self.array(node)
            if flag.ndim or flag.dtype.names:
                raise RequestError(f"{keyword}= must be true or false")
            return bool(flag)
        if keyword in ("rtol", "atol"):
            return self.array(node)
        if keyword == "axis" and isinstance(node, tree.SequenceLiteral):
            return self._integers(node.items)
        return self._integer(node)

    def _whole(
        self,
        name: str,
        first: NumpyValue,
        arguments: Sequence[tree.Node],
        options: Mapping[str, Any],
    ) -> Any:
        """Call a function that needs whole arrays."""
        rest = arguments[1:]
        if name in functions.REDUCTIONS:
            return functions.reduce(name, first, **options)
        match name:
            case "arange":
                return functions.arange([first, *map(self.array, rest)], *self._given)
            case "linspace":
                stop, count = self.array(rest[0]), self._integer(rest[1])
                guard_size(count, *self._given)
                return np.linspace(wide(first), wide(stop), count)
            case "zeros" | "ones" | "full":
                is_full = name == "full"
                value = self._operand(name, rest[0]) if is_full else float(name == "ones")
                shape = self._integers(arguments[:1] if is_full else arguments)
                guard_size(math.prod(shape), *self._given)
                return np.full(shape, value)
            case "eye":
                size = self._integer(arguments[0])
                guard_size(size * size, *self._given)
                return np.eye(size)
            case "cumsum" | "cumprod":
                return getattr(np, name)(first, dtype=functions.accumulator(first.dtype), **options)
            case "sort" | "argsort" | "flip" | "squeeze" | "ravel" | "unique":
                return getattr(np, name)(functions.native(first), **options)
            case "diff":
                return np.diff(wide(first) if is_floating(first) else first, **options)
            case "roll":
                return np.roll(functions.native(first), self._integers(rest), **options)
            case "repeat" | "tile":
                counts = self._integers(rest)
                return functions.repeated(name, functions.native(first), counts, **options)
            case "tril" | "triu" | "diag":
                guard_size(first.size**2 if first.ndim == 1 else 0, first)
                return getattr(np, name)(functions.native(first), *self._integers(rest))
            case "trace":
                diagonal = np.diagonal(first, *self._integers(rest))
                return np.sum(diagonal, axis=-1, dtype=functions.accumulator(first.dtype))
            case "bincount":
                return functions.bincount(first, **options)
            case "dot":
                left, right = first, self._operand(name, rest[0])
                if left.ndim > 2 or right.ndim > 2:
                    hint = "use '@' for stacks of matrices"
                    raise RequestError(f"dot requires vectors or matrices; {hint}")
                if left.ndim and right.ndim:
                    return functions.matrix_product(left, right)
                return materialize(elementwise(lambda a, b: binary("*", a, b), left, right))
            case "outer":
                row, column = np.ravel(self._operand(name, rest[0])), np.ravel(first)[:, None]
                return materialize(elementwise(lambda a, b: binary("*", a, b), column, row))
            case "isclose" | "allclose":
                is_close = functions.close(first, self._operand(name, rest[0]), **options)
                return is_close if name == "isclose" else np.all(is_close)
            case "array_equal":
                return np.array_equal(*functions.same_type([first, self._operand(name, rest[0])]))
            case "transpose":
                return np.transpose(first, self._integers(rest) or None)
            case "reshape":
                return np.reshape(first, self._integers(rest))
            case _:
                raise AssertionError(f"unknown function: {name}")

    # --- precision ---

    def precision(
        self, node: tree.Node, joint: Callable[..., ScalarType | None] = least_exact
    ) -> ScalarType | None:
        """Return the least precise floating type that a value depends on; ``None`` without any.

        A value cannot be more precise than its operands, except by a cast:
        ``f32(x)`` counts as precise as ``f32``.

        Args:
            joint: The type of several types together, by default the least exact.
        """
        match node:
            case tree.Name(name):
                return self._float_type(self.values.get(name))
            case tree.FileLoad(path):
                return self._float_type(self._load(path))
            case tree.MemberOf():
                return self._float_type(self.array(node))
            case tree.Old(operand):
                return self.before.precision(operand, joint)
            case tree.Call(function) if function in CASTS:
                return CASTS[function] if CASTS[function].is_float else None
            case tree.Call(function) if function in _EXACT:
                return None
            case tree.Call("where", (_, yes, no)):
                return joint(self.precision(yes, joint), self.precision(no, joint))
            case tree.Comparison() | tree.Binary("and" | "or") | tree.Unary("not"):
                return None
            case tree.Index(base):
                return self.precision(base, joint)
            case _:
                nodes = (n for n in tree.children(node) if isinstance(n, tree.Node))
                return joint(*(self.precision(each, joint) for each in nodes))

    @staticmethod
    def _float_type(value: object) -> ScalarType | None:
        found = None if value is None else scalar_type(np.asarray(value).dtype)
        return found if found and found.is_float else None


def _supported(source: str, array: Array) -> Array:
    """Refuse an array whose elements have no type in expressions."""
    if not array.dtype.names and scalar_type(array.dtype) is None:
        raise RequestError(f"{source} contains {array.dtype}, which expressions do not support")
    return array


@contextmanager
def errors_naming(expression: Expression) -> Iterator[None]:
    """Add the expression to the error of an impossible operation."""
    try:
        yield
    except ArgumentSyntaxError:
        raise
    except RequestError as error:
        raise error.of(argument=str(expression)) from None
    except MemoryError as error:
        raise RequestError(f"{expression}: {error or 'out of memory'}") from None
