"""What an expression means: numpy's semantics, with the surprises taken out.

- Floating arithmetic is done in float64, whatever the types, and rounded only by a cast: the value
  a kernel is checked against is not itself inexact, ``f16`` does not overflow half way, and
  ``f32(a*x)`` is exactly the single-precision product.
- Integers keep their width and wrap as on the device and in numpy; a literal takes the type of
  what it meets. Integer scalars among themselves are exact. ``sum``, ``prod``, ``cumsum``, ``@``
  and ``dot`` are in 64 bits. Signed with unsigned 64 bits is unsigned, as in C (numpy would go to
  float64). A bool in arithmetic is an ``i32``.
- Operators are not applied to whole arrays but kept as :class:`Deferred` until a value is needed,
  then computed chunk by chunk: 2^26 elements need no array of their size, and the chunks stay in
  the cache.

No floating-point warning leaves here; every impossible operation is a ``RequestError``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from cudarun.arguments import expressions as tree
from cudarun.arguments.dtypes import Array, convert, is_float, scalar_type
from cudarun.arguments.expressions import CASTS, CONSTANTS, Expression, integer_operation
from cudarun.arguments.files import locate
from cudarun.arguments.initializers import load_npy
from cudarun.arguments.types import SCALARS, ScalarType
from cudarun.errors import ArgumentSyntaxError, RequestError

MAX_ELEMENTS = 1 << 31
"""The largest array an expression may make that is larger than all it is made from."""

_CHUNK = 1 << 16

Data: TypeAlias = "int | np.generic | Array | Deferred"
"""A value while it is computed; a plain ``int`` is a literal, which adapts to what it meets."""

Operand: TypeAlias = "int | np.generic | Array"
"""What the functions below compute with: a :class:`Deferred` comes to them chunk by chunk."""


# --- operators on scalars and chunks -------------------------------------------------------------

_FLOAT_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": np.power,
}
_INTEGER_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    **{symbol: _FLOAT_OPERATORS[symbol] for symbol in ("+", "-", "*", "//", "%", "**")},
    "<<": np.left_shift,
    ">>": np.right_shift,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_BITWISE = frozenset("&|^")


def _floating(value: Operand) -> bool:
    return not isinstance(value, int) and is_float(value.dtype)


def _scalar(value: Operand) -> bool:
    return isinstance(value, int | np.generic)


def wide(value: Operand) -> Any:
    """A value as float64: exact for every type but 64-bit integers beyond 2^53."""
    return np.float64(value) if isinstance(value, int) else value.astype(np.float64, copy=False)


def binary(operator: str, left: Operand, right: Operand) -> Operand:
    """``left operator right`` for everything but ``@`` and comparisons."""
    if operator in ("and", "or"):
        combine = np.logical_and if operator == "and" else np.logical_or
        return cast(Operand, combine(truth(left), truth(right)))
    if operator == "/" or _floating(left) or _floating(right):
        if operator not in _FLOAT_OPERATORS:
            raise RequestError(f"{operator!r} is for integers, not for floats")
        return cast(Operand, _FLOAT_OPERATORS[operator](wide(left), wide(right)))
    return _integer_binary(operator, left, right)


def _integer_binary(operator: str, left: Operand, right: Operand) -> Operand:
    if isinstance(left, int) and isinstance(right, int):
        return integer_operation(operator, left, right)
    shift = operator in ("<<", ">>")
    dtype = _integer_dtype(left) if shift else _integer_dtype(left, right)
    if operator in _BITWISE and _is_bool(left) and _is_bool(right):
        dtype = np.dtype(np.bool_)
    if _scalar(left) and _scalar(right):
        exact = integer_operation(operator, int(cast(Any, left)), int(cast(Any, right)))
        return _sized(exact, dtype)
    if shift:
        right = np.minimum(right, np.asarray(64).astype(np.asarray(right).dtype))
    _check_right(operator, right)
    return cast(
        Operand,
        _INTEGER_OPERATORS[operator](_as_integers(left, dtype), _as_integers(right, dtype)),
    )


def _check_right(operator: str, right: Operand) -> None:
    """Refuse what numpy would answer with a warning and a made-up number."""
    if operator in ("//", "%") and not np.all(right):
        raise RequestError(f"'{operator}': integer division by zero")
    if operator in ("**", "<<", ">>") and np.any(np.less(right, 0)):
        raise RequestError(f"'{operator}': the right side has negative integers")


def _is_bool(value: Operand) -> bool:
    return not isinstance(value, int) and value.dtype.kind == "b"


def _integer_dtype(*values: Operand) -> np.dtype[Any]:
    """The type that integer arithmetic of the values is done in."""
    dtypes = [
        np.dtype(np.int32) if v.dtype.kind == "b" else v.dtype
        for v in values
        if not isinstance(v, int)
    ] or [np.dtype(np.int64)]
    for value in values:
        if isinstance(value, int) and not _holds(dtypes[0], value):
            dtypes.append(np.dtype(np.int64 if value < 1 << 63 else np.uint64))
    result = dtypes[0]
    for dtype in dtypes[1:]:
        joint = np.promote_types(result, dtype)
        result = joint if joint.kind in "iu" else np.dtype(np.uint64)
    return result


def _holds(dtype: np.dtype[Any], value: int) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= value <= int(limits.max)


def _sized(value: int, dtype: np.dtype[Any]) -> np.generic:
    """An exact integer as ``dtype``, or 64 bits where it does not fit."""
    if dtype.kind == "b":
        return np.bool_(value)
    wider = (np.dtype(np.int64), np.dtype(np.uint64))
    fitting = next(each for each in (dtype, *wider) if _holds(each, value))
    return cast(np.generic, fitting.type(value))


def _as_integers(value: Operand, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, int):
        return _sized(value, dtype).astype(dtype)
    return value.astype(dtype, copy=False)


def compare(operator: str, left: Operand, right: Operand) -> Operand:
    """A comparison: floats as float64, integers exactly whatever their types."""
    if _floating(left) or _floating(right):
        return cast(Operand, _COMPARISONS[operator](wide(left), wide(right)))
    sides = (_sized(v, np.dtype(np.int64)) if isinstance(v, int) else v for v in (left, right))
    return cast(Operand, _COMPARISONS[operator](*sides))


def truth(value: Operand) -> Any:
    """What is not zero; a NaN is true, as in C."""
    return np.not_equal(wide(value) if _floating(value) else value, 0)


def _unary(operator: str, value: Operand) -> Operand:
    match operator:
        case "not":
            return cast(Operand, np.logical_not(truth(value)))
        case "~":
            if _floating(value):
                raise RequestError("'~' is for integers, not for floats")
            return ~value if isinstance(value, int) else cast(Operand, np.invert(value))
        case "-" if _floating(value):
            return cast(Operand, np.negative(wide(value)))
        case _:
            return value if _floating(value) else binary(operator, 0, value)


# --- elementwise functions -----------------------------------------------------------------------


def _absolute(value: Operand) -> Operand:
    if _floating(value):
        return cast(Operand, np.abs(wide(value)))
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, np.generic):
        return _sized(abs(int(value)), _integer_dtype(value))
    return cast(Operand, np.abs(value.astype(_integer_dtype(value), copy=False)))


def _where(condition: Operand, yes: Operand, no: Operand) -> Operand:
    if _floating(yes) or _floating(no):
        return cast(Operand, np.where(truth(condition), wide(yes), wide(no)))
    both_bool = _is_bool(yes) and _is_bool(no)
    dtype = np.dtype(np.bool_) if both_bool else _integer_dtype(yes, no)
    chosen = np.where(truth(condition), _as_integers(yes, dtype), _as_integers(no, dtype))
    return cast(Operand, chosen)


def _compare_chain(operators: tuple[str, ...], *operands: Operand) -> Operand:
    links = zip(operands, operators, operands[1:], strict=False)
    held = [compare(operator, left, right) for left, operator, right in links]
    return functools.reduce(lambda one, other: cast(Operand, np.logical_and(one, other)), held)


def _of_wide(function: Callable[[Any], Any]) -> Callable[[Operand], Operand]:
    return lambda value: cast(Operand, function(wide(value)))


_ELEMENTWISE: dict[str, Callable[..., Operand]] = {
    "abs": _absolute,
    "where": _where,
    **{
        name: _of_wide(getattr(np, name))
        for name in ("sqrt", "exp", "log", "sin", "cos", "tanh", "isnan")
    },
    **{name: lambda value, scalar=scalar: convert(value, scalar) for name, scalar in CASTS.items()},
}


# --- arrays in chunks ----------------------------------------------------------------------------


class Deferred:
    """An elementwise operation not yet carried out; at least one operand is no scalar."""

    __slots__ = ("function", "operands", "shape")

    def __init__(
        self,
        function: Callable[..., Operand],
        operands: Sequence[Data],
        shape: tuple[int, ...],
    ) -> None:
        self.function = function
        self.operands = operands
        self.shape = shape

    def compute(self, chunk: Mapping[int, Array]) -> Operand:
        """The value over a chunk of each array below, given by the array's ``id``."""
        return self.function(*(_part(operand, chunk) for operand in self.operands))


def _part(data: Data, chunk: Mapping[int, Array]) -> Operand:
    if isinstance(data, Deferred):
        return data.compute(chunk)
    return chunk[id(data)] if isinstance(data, np.ndarray) else data


def _arrays(data: Data) -> Iterator[Array]:
    if isinstance(data, Deferred):
        for operand in data.operands:
            yield from _arrays(operand)
    elif isinstance(data, np.ndarray):
        yield data


def shape_of(data: Data) -> tuple[int, ...]:
    """The shape of a value; ``()`` for a scalar."""
    return () if isinstance(data, int) else data.shape


def joint_shape(operands: Sequence[Data]) -> tuple[int, ...]:
    """The shape that values broadcast to.

    Raises:
        RequestError: They do not, or one of them is a struct, which is no operand.
    """
    for operand in operands:
        if not isinstance(operand, int | Deferred) and operand.dtype.names:
            members = ", ".join(f'["{name}"]' for name in operand.dtype.names)
            raise RequestError(f"a struct has no value of its own: choose a member, {members}")
    shapes = [shape_of(operand) for operand in operands]
    try:
        joint = np.broadcast_shapes(*shapes)
    except ValueError:
        distinct = " and ".join(map(str, dict.fromkeys(shape for shape in shapes if shape)))
        raise RequestError(f"the shapes {distinct} do not go together") from None
    guard_size(math.prod(joint), *operands)
    return joint


def guard_size(count: int, *made_from: Data) -> None:
    """Refuse arrays that would exhaust the machine, unless the user's own are as large."""
    if count > max(MAX_ELEMENTS, *(math.prod(shape_of(data)) for data in made_from), 0):
        raise RequestError(f"an array of {count} elements: expressions make at most {MAX_ELEMENTS}")


def chunks(*operands: Data) -> Iterator[tuple[int, tuple[Operand, ...]]]:
    """The operands, broadcast together, chunk by chunk in index order.

    Yields:
        The flat index of the first element, and a part of each operand: one-dimensional arrays of
        one length, and scalars as they are. An array part is overwritten by the next chunk's.
    """
    arrays = {id(array): array for operand in operands for array in _arrays(operand)}
    if not arrays:
        yield 0, tuple(_part(operand, {}) for operand in operands)
        return
    with _numpy_errors("too many different arrays"):
        iterator = np.nditer(
            list(arrays.values()),
            flags=["external_loop", "buffered", "zerosize_ok"],
            order="C",
            buffersize=_CHUNK,
        )
    if iterator.itersize == 0:  # one empty chunk, so that the types of the results are known
        empty = {key: np.empty(0, array.dtype) for key, array in arrays.items()}
        yield 0, tuple(_part(operand, empty) for operand in operands)
        return
    start = 0
    with iterator:
        for parts in iterator:
            given = cast("tuple[Array, ...]", parts if len(arrays) > 1 else (parts,))
            chunk = dict(zip(arrays, given, strict=True))
            yield start, tuple(_part(operand, chunk) for operand in operands)
            start += next(iter(chunk.values())).size


def materialise(data: Data) -> Any:
    """A value as a numpy scalar or array; a literal becomes a 64-bit integer."""
    if isinstance(data, int):
        return _sized(data, np.dtype(np.int64))
    if not isinstance(data, Deferred):
        return data
    result: Array | None = None
    for start, (part,) in chunks(data):
        chunk = np.asarray(part)
        if result is None:
            result = np.empty(math.prod(data.shape), chunk.dtype)
        result[start : start + chunk.size] = chunk
    assert result is not None, "there is always at least one chunk"
    return result.reshape(data.shape)


def elementwise(function: Callable[..., Operand], *operands: Data) -> Data:
    """Apply an elementwise function: at once to scalars, deferred where there is an array."""
    shape = joint_shape(operands)
    if all(isinstance(operand, int | np.generic) for operand in operands):
        return cast(Data, _plain(function(*operands)))
    return Deferred(function, operands, shape)


def _plain(value: Any) -> Any:
    """An array without axes as the scalar it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


@contextmanager
def errors_naming(expression: Expression) -> Iterator[None]:
    """An operation that is not possible becomes an error that says in which expression."""
    try:
        yield
    except ArgumentSyntaxError:
        raise
    except RequestError as error:
        message = f"{expression}: {error.message}"
        raise RequestError(message, hint=error.hint).at(**error.context) from None


@contextmanager
def _numpy_errors(what: str) -> Iterator[None]:
    """What numpy refuses is a request that cannot be carried out."""
    try:
        yield
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        raise RequestError(f"{what}: {error or 'out of memory'}") from None


# --- functions of whole arrays -------------------------------------------------------------------


def _native(array: Any) -> Any:
    """Types that numpy borrowed from ml_dtypes as float32, which holds them exactly."""
    return array.astype(np.float32) if is_float(array.dtype) and array.dtype.kind != "f" else array


def _accumulator(dtype: np.dtype[Any]) -> type[np.generic]:
    if is_float(dtype):
        return np.float64
    return np.uint64 if dtype.kind == "u" else np.int64


def _reduce(name: str, array: Any, **options: Any) -> Any:
    match name:
        case "sum" | "prod":
            return getattr(np, name)(array, dtype=_accumulator(array.dtype), **options)
        case "mean":
            return np.mean(array, dtype=np.float64, **options)
        case "min" | "max":
            return getattr(np, name)(_native(array), **options)
        case _:
            return getattr(np, name)(truth(array), **options)


def _matrix_product(left: Any, right: Any) -> Any:
    if left.ndim == 0 or right.ndim == 0:
        raise RequestError("'@' is for vectors and matrices; a scalar multiplies with '*'")
    columns = right.shape[-1] if right.ndim > 1 else 1
    rows = left.shape[-2] if left.ndim > 1 else 1
    if left.shape[-1] != right.shape[-2 if right.ndim > 1 else 0]:
        raise RequestError(f"'@': the shapes {left.shape} and {right.shape} do not go together")
    with _numpy_errors("'@'"):
        batches = math.prod(np.broadcast_shapes(left.shape[:-2], right.shape[:-2]))
        guard_size(batches * rows * columns, left, right)
        if _floating(left) or _floating(right):
            return np.matmul(wide(left), wide(right))
        return _integer_product(left, right)


def _integer_product(left: Array, right: Array) -> Any:
    dtype = np.promote_types(_accumulator(left.dtype), _accumulator(right.dtype))
    dtype = dtype if dtype.kind in "iu" else np.dtype(np.uint64)
    if left.size and right.size:
        bound = _magnitude(left) * _magnitude(right) * left.shape[-1]
        if bound < 1 << 53:  # exact in float64, where the product is many times faster
            return np.matmul(wide(left), wide(right)).astype(dtype)
    return np.matmul(left.astype(dtype), right.astype(dtype))


def _magnitude(array: Array) -> int:
    return max(abs(int(array.min())), abs(int(array.max())))


def _arange(bounds: Sequence[Any]) -> Array:
    start, stop, step = {1: (0, *bounds, 1), 2: (*bounds, 1)}.get(len(bounds), tuple(bounds))
    if any(isinstance(b, np.ndarray) for b in bounds):
        raise RequestError("arange counts between scalars")
    if any(_floating(b) for b in bounds):
        start, stop, step = float(start), float(stop), float(step)
        count = math.ceil((stop - start) / step) if step else math.inf
    else:
        start, stop, step = int(start), int(stop), int(step)
        count = -((start - stop) // step) if step else math.inf
    if not 0 <= (count := max(count, 0)) <= MAX_ELEMENTS:
        raise RequestError(f"arange of {count} elements: expressions make at most {MAX_ELEMENTS}")
    if isinstance(start, float):
        return cast(Array, start + np.arange(count) * step)
    with _numpy_errors("arange"):
        return np.arange(start, stop, step, dtype=np.int64)


def _bincount(array: Any, minlength: int = 0) -> Array:
    if array.dtype.kind not in "iub":
        raise RequestError("bincount counts integers")
    if array.size and (int(array.min()) < 0 or int(array.max()) >= MAX_ELEMENTS):
        raise RequestError(f"bincount counts integers from 0 to {MAX_ELEMENTS - 1}")
    if not 0 <= minlength <= MAX_ELEMENTS:
        raise RequestError(f"bincount: minlength={minlength}")
    return np.bincount(np.ravel(array).astype(np.int64), minlength=minlength)


# --- the tree ------------------------------------------------------------------------------------

_REDUCTIONS = frozenset({"sum", "prod", "min", "max", "mean", "all", "any"})
_EXACT = frozenset({"isnan", "all", "any", "bincount", "arange"})


class Evaluator:
    """Evaluates the tree of one expression over given values.

    Args:
        expression: Whose tree it is; errors about names point into its text.
        values: Arrays and numpy scalars by name, after the run.
        old: The same before the run.
        directory: What relative paths in ``load(…)`` start from.
    """

    def __init__(
        self,
        expression: Expression,
        values: Mapping[str, Any],
        old: Mapping[str, Any],
        directory: Path = Path(),
    ) -> None:
        self.expression = expression
        self.values = values
        self.directory = directory
        self.before = self if old is values else _Before(expression, old, values, directory)
        self._loaded: dict[str, Array] = {}

    def result(self) -> Any:
        """The value of the whole expression, as a numpy scalar or array.

        What was computed in float64 from nothing more exact than ``f32`` is given as ``f32``.
        """
        with np.errstate(all="ignore"), errors_naming(self.expression):
            found = materialise(self.value(self.expression.node))
            precision = self.precision(self.expression.node)
            return presented(found, precision)

    # --- values ---

    def value(self, node: tree.Node) -> Data:
        """The value of a node, elementwise operations deferred.

        Raises:
            ArgumentSyntaxError: A name that is not there.
            RequestError: The operation is not possible.
        """
        match node:
            case tree.Number(int(number)):
                return number
            case tree.Number(number):
                return np.float64(number)
            case tree.Name():
                return self._name(node)
            case tree.Sequence(items):
                return self._sequence(items)
            case tree.Unary(operator, operand):
                return elementwise(lambda v: _unary(operator, v), self.value(operand))
            case tree.Binary("@", left, right):
                return cast(Data, _plain(_matrix_product(self.array(left), self.array(right))))
            case tree.Binary(operator, left, right):
                sides = self.value(left), self.value(right)
                return elementwise(lambda a, b: binary(operator, a, b), *sides)
            case tree.Comparison(operands, operators):
                values = map(self.value, operands)
                return elementwise(lambda *v: _compare_chain(operators, *v), *values)
            case tree.Call():
                return self._call(node)
            case tree.Old(operand):
                return self.before.value(operand)
            case tree.Load(path):
                return cast(Data, _plain(self._load(path)))
            case tree.Index(base, items):
                return self._index(base, items)
            case tree.MemberOf(base, member):
                return self._member(base, member)

    def array(self, node: tree.Node) -> Any:
        """The value of a node as a numpy scalar or array."""
        return materialise(self.value(node))

    def _name(self, node: tree.Name) -> Data:
        if node.name in self.values:
            array = np.asarray(self.values[node.name])
            if not array.dtype.names and scalar_type(array.dtype) is None:
                raise RequestError(f"{node.name} holds {array.dtype}: expressions cannot use it")
            return cast(Data, _plain(array))
        if node.name in tree.CONSTANTS:
            constant = CONSTANTS[node.name]
            return np.bool_(constant) if isinstance(constant, bool) else np.float64(constant)
        raise self._unknown(node)

    def _unknown(self, node: tree.Name) -> RequestError:
        return tree.unknown_name(self.expression, node, self.values)

    def _sequence(self, items: Sequence[tree.Node]) -> Array:
        parts = [self.array(item) for item in items]
        if any(map(_floating, parts)):
            parts = [wide(part) for part in parts]
        elif not all(map(_is_bool, parts)):
            dtype = _integer_dtype(*parts)
            parts = [part.astype(dtype) for part in parts]
        with _numpy_errors("[…]"):
            return np.stack(parts)

    def _load(self, path: str) -> Array:
        if path not in self._loaded:
            array = load_npy(locate(path, self.directory))
            if not array.dtype.names and scalar_type(array.dtype) is None:
                raise RequestError(f"{path} holds {array.dtype}: expressions cannot use it")
            self._loaded[path] = array
        return self._loaded[path]

    def _member(self, base: tree.Node, member: str) -> Data:
        value = self.array(base)
        names = value.dtype.names or ()
        if member not in names:
            known = f"its members are {', '.join(names)}" if names else "it is no struct"
            raise RequestError(f'["{member}"]: {known}')
        return cast(Data, _plain(value[member]))

    def _index(self, base: tree.Node, items: Sequence[tree.Node | tree.Slice | tree.Rest]) -> Data:
        array = self.array(base)
        if array.ndim == 0:
            raise RequestError("[…]: a scalar has no elements")
        where = tuple(self._index_item(item) for item in items)
        joint_shape([each for each in where if isinstance(each, np.ndarray)])
        with _numpy_errors("[…]"):
            return cast(Data, _plain(array[where]))

    def _index_item(self, item: tree.Node | tree.Slice | tree.Rest) -> Any:
        if isinstance(item, tree.Rest):
            return ...
        if isinstance(item, tree.Slice):
            parts = (item.start, item.stop, item.step)
            return slice(*(None if part is None else self._integer(part) for part in parts))
        value = self.array(item)
        if value.dtype.kind not in "iub":
            raise RequestError(f"[…]: an index is an integer, not {value.dtype}")
        return value if value.ndim or value.dtype.kind == "b" else int(value)

    def _integer(self, node: tree.Node) -> int:
        """The value of a node that must be one integer."""
        value = self.array(node)
        if value.ndim or value.dtype.kind not in "iu":
            raise RequestError("one integer is wanted for a shape, an axis or a bound")
        return int(value)

    def _integers(self, nodes: Sequence[tree.Node]) -> tuple[int, ...]:
        """Integers written one by one, or as one tuple."""
        if len(nodes) == 1 and isinstance(nodes[0], tree.Sequence):
            nodes = nodes[0].items
        return tuple(map(self._integer, nodes))

    # --- functions ---

    def _call(self, node: tree.Call) -> Data:
        name, arguments = node.function, node.arguments
        if name in _ELEMENTWISE:
            return elementwise(_ELEMENTWISE[name], *map(self.value, arguments))
        first = self.array(arguments[0])
        if first.dtype.names:
            raise RequestError(f'{name}: a struct has no value of its own: name a member, ["…"]')
        options = {keyword: self._option(keyword, value) for keyword, value in node.keywords}
        with _numpy_errors(name):
            return cast(Data, _plain(self._whole(name, first, arguments[1:], options)))

    def _option(self, keyword: str, node: tree.Node) -> Any:
        if keyword == "keepdims":
            return bool(self.array(node))
        if keyword == "axis" and isinstance(node, tree.Sequence):
            return self._integers(node.items)
        return self._integer(node)

    def _whole(
        self, name: str, first: Any, rest: Sequence[tree.Node], options: Mapping[str, Any]
    ) -> Any:
        """A function that needs its arrays whole."""
        if name in _REDUCTIONS:
            return _reduce(name, first, **options)
        match name:
            case "arange":
                return _arange([first, *map(self.array, rest)])
            case "cumsum":
                return np.cumsum(first, dtype=_accumulator(first.dtype), **options)
            case "sort":
                return np.sort(_native(first), **options)
            case "bincount":
                return _bincount(first, **options)
            case "dot":
                return self._dot(first, self.array(rest[0]))
            case "transpose":
                return np.transpose(first, self._integers(rest) or None)
            case "reshape":
                return np.reshape(first, self._integers(rest))
            case _:
                raise AssertionError(f"no such function: {name}")

    @staticmethod
    def _dot(left: Any, right: Any) -> Any:
        if left.ndim > 2 or right.ndim > 2:
            raise RequestError("dot is for vectors and matrices; '@' goes over stacks of them")
        if left.ndim and right.ndim:
            return _matrix_product(left, right)
        return materialise(elementwise(lambda a, b: binary("*", a, b), left, right))

    # --- precision ---

    def precision(self, node: tree.Node) -> ScalarType | None:
        """The least exact floating type that a value is made from; ``None`` where there is none.

        A value cannot be more exact than what it was computed from. A cast says otherwise:
        ``f32(x)`` is taken to be as exact as ``f32``.
        """
        match node:
            case tree.Name(name):
                return self._float_type(self.values.get(name))
            case tree.Load(path):
                return self._float_type(self._load(path))
            case tree.MemberOf():
                return self._float_type(self.array(node))
            case tree.Old(operand):
                return self.before.precision(operand)
            case tree.Call(function) if function in CASTS:
                return CASTS[function] if CASTS[function].is_float else None
            case tree.Call(function) if function in _EXACT:
                return None
            case tree.Call("where", (_, yes, no)):
                return least_exact(self.precision(yes), self.precision(no))
            case tree.Comparison() | tree.Binary("and" | "or") | tree.Unary("not"):
                return None
            case tree.Index(base):
                return self.precision(base)
            case _:
                nodes = (n for n in tree.children(node) if isinstance(n, tree.Node))
                return least_exact(*map(self.precision, nodes))

    @staticmethod
    def _float_type(value: Any) -> ScalarType | None:
        found = None if value is None else scalar_type(np.asarray(value).dtype)
        return found if found and found.is_float else None


class _Before(Evaluator):
    """Evaluates what stands in ``old(…)``: its values are those from before the run."""

    def __init__(
        self,
        expression: Expression,
        values: Mapping[str, Any],
        after: Mapping[str, Any],
        directory: Path,
    ) -> None:
        super().__init__(expression, values, values, directory)
        self.after = after

    def _unknown(self, node: tree.Name) -> RequestError:
        if node.name not in self.after:
            return super()._unknown(node)
        return RequestError(
            f"old({node.name}): it has no value from before the run",
            hint=f"give {node.name} an initialiser, such as zeros",
        )


def presented(value: Any, precision: ScalarType | None) -> Any:
    """A computed value with no more digits than ``precision``, what it was made from, gives it."""
    if value.dtype == np.float64 and precision and precision != SCALARS["f64"]:
        return value.astype(np.float32)
    return value


def least_exact(*types: ScalarType | None) -> ScalarType | None:
    """The floating type with the shortest mantissa."""
    return min(filter(None, types), key=lambda each: each.mantissa_bits, default=None)
