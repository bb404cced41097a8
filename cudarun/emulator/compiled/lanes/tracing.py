"""Arrays that record operations: a function over lanes is called with them once, and compiled.

They follow numpy's protocols (``__array_ufunc__``, ``__array_function__``) and its rules of types
and broadcasting. A function that asks for values raises `Untraceable`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from cudarun.emulator.compiled.lanes.operators import (
    OPERATORS,
    TRUTH,
    Untraceable,
    cast,
    directed,
    gathered,
)
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    constant,
    element_of,
    splat,
)
from cudarun.emulator.numerics.arrays import DType

Shape = tuple[int, ...]


class _Storage:
    """The memory of an array and of its views: the bits, and the type that they have."""

    def __init__(self, vector: LaneVector | None, dtype: DType, count: int) -> None:
        self.vector = vector
        self.dtype = dtype
        self.count = count


class TracedArray(NDArrayOperatorsMixin):
    """An array that records operations."""

    __array_priority__ = 1000

    def __init__(
        self,
        code: CodeBuilder,
        storage: _Storage,
        dtype: DType,
        shape: Shape,
        places: tuple[int, ...] | None = None,
    ) -> None:
        self.code = code  # where they are recorded
        self.storage = storage
        self.dtype = dtype  # the type of its items
        self.shape = shape
        # The items of the memory that a view consists of; all of them by default.
        self.places = places

    @classmethod
    def of(
        cls, code: CodeBuilder, vector: LaneVector | None, dtype: npt.DTypeLike, shape: Shape
    ) -> TracedArray:
        """Return an array with these values; without, its items are undefined."""
        kind = np.dtype(dtype)
        return cls(code, _Storage(vector, kind, math.prod(shape)), kind, shape)

    # --- properties ------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of items."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The size of an item in bytes."""
        return self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise Untraceable("a question for values")

    def __array__(self, *arguments: object, **options: object) -> Any:
        raise Untraceable("a conversion to an array of numbers")

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"array.{name}")

    # --- values ----------------------------------------------------------------------------------

    def read(self) -> LaneVector:
        """Return the items as a vector."""
        storage, element = self.storage, element_of(self.dtype)
        if storage.vector is None:
            count = storage.count * storage.dtype.itemsize // self.dtype.itemsize
            vector = LaneVector("zeroinitializer", element, count)
        elif storage.vector.element == "i1" and element != "i1":
            vector = self.code.bitcast(self.code.cast("zext", storage.vector, "i8"), element)
        elif element == "i1" and storage.vector.element != "i1":
            bytes_ = self.code.bitcast(storage.vector, "i8")
            vector = self.code.compare("ne", bytes_, splat("i8", 0, bytes_.count))
        else:
            vector = self.code.bitcast(storage.vector, element)
        return vector if self.places is None else self.code.shuffle(vector, self.places)

    def write(self, vector: LaneVector) -> None:
        """Replace the items."""
        storage = self.storage
        if self.places is not None:
            whole = TracedArray(self.code, storage, self.dtype, (self._items(),)).read()
            chosen = list(range(whole.count))
            for place, target in enumerate(self.places):
                chosen[target] = whole.count + place
            if vector.count < whole.count:
                more = [*range(vector.count), *[0] * (whole.count - vector.count)]
                vector = self.code.shuffle(vector, more)
            vector = self.code.shuffle(whole, chosen, vector)
        if storage.dtype.kind == "b" and vector.element != "i1":
            vector = self.code.compare("ne", vector, splat(vector.element, 0, vector.count))
        elif storage.dtype.kind != "b" and vector.element == "i1":
            vector = self.code.cast("zext", vector, "i8")
        storage.vector = vector

    def _items(self) -> int:
        return self.storage.count * self.storage.dtype.itemsize // self.dtype.itemsize

    def new(
        self, vector: LaneVector, dtype: npt.DTypeLike | None = None, shape: Shape | None = None
    ) -> TracedArray:
        """Return a new array of values."""
        kind = self.dtype if dtype is None else np.dtype(dtype)
        return TracedArray.of(self.code, vector, kind, self.shape if shape is None else shape)

    def values(self, other: object, dtype: DType, shape: Shape) -> LaneVector:
        """Return an operand, an array or a number, as a vector of a type and shape."""
        if not isinstance(other, TracedArray):
            return constant(np.broadcast_to(np.asarray(other).astype(dtype), shape))
        vector = other.read()
        if other.shape != shape:
            places = np.arange(other.size).reshape(other.shape)
            vector = self.code.shuffle(vector, np.broadcast_to(places, shape).reshape(-1).tolist())
        return cast(self.code, vector, other.dtype, dtype)

    # --- methods of arrays -----------------------------------------------------------------------

    def astype(self, dtype: npt.DTypeLike, *arguments: object, **options: object) -> TracedArray:
        """Return converted values."""
        kind = np.dtype(dtype)
        if kind.kind == "V" or self.dtype.kind == "V":
            raise Untraceable(f"astype {kind}")
        return self.new(self.values(self, kind, self.shape), kind)

    def view(self, dtype: npt.DTypeLike) -> TracedArray:
        """Return a view of the same memory as another type."""
        kind = np.dtype(dtype)
        if kind.kind == "V":
            raise Untraceable(f"a view as {kind}")
        if kind.itemsize == self.dtype.itemsize:
            return TracedArray(self.code, self.storage, kind, self.shape, self.places)
        if self.places is not None:
            raise Untraceable("a view of columns as another size")
        last = self.shape[-1] * self.dtype.itemsize // kind.itemsize
        return TracedArray(self.code, self.storage, kind, (*self.shape[:-1], last))

    def reshape(self, *shape: Any) -> TracedArray:
        """Return a view with another shape."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        found = np.empty(self.shape, np.bool_).reshape(wanted).shape
        return TracedArray(self.code, self.storage, self.dtype, found, self.places)

    def copy(self) -> TracedArray:
        """Return a copy."""
        return self.new(self.read())

    def sum(self, axis: int, dtype: npt.DTypeLike | None = None) -> TracedArray:
        """Return the sum along the last axis."""
        if dtype is not None and np.dtype(dtype) != self.dtype:
            return self.astype(dtype).sum(axis)
        if axis not in (1, -1) or self.ndim != 2:
            raise Untraceable("sum of this axis")
        columns = [self[:, place] for place in range(self.shape[1])]
        return reduce(operator.add, columns)

    def multiply_add(self, b: object, c: object) -> TracedArray:
        """Return ``self * b + c``, rounded once."""
        operands = [self.values(each, self.dtype, self.shape) for each in (self, b, c)]
        return self.new(self.code.intrinsic("fma", *operands))

    def directed(self, operation: str, mode: str, *others: object) -> TracedArray:
        """Return the result of an operation on f64, rounded in a mode."""
        operands = [self.values(each, self.dtype, self.shape) for each in (self, *others)]
        return self.new(directed(self.code, operation, mode, operands))

    def gathered_from(self, table: npt.NDArray[Any]) -> TracedArray:
        """Return the items of a constant table that have these indices."""
        vector = gathered(self.code, table, self.values(self, np.dtype(np.int64), self.shape))
        return self.new(vector, table.dtype)

    def __getitem__(self, index: Any) -> TracedArray:
        if isinstance(index, TracedArray):  # the values that lanes of a mask will be given
            return self.copy()
        if isinstance(index, tuple) and any(part is None for part in index):
            shape = np.empty(self.shape, np.bool_)[index].shape
            return TracedArray(self.code, self.storage, self.dtype, shape, self.places)
        places = np.arange(self._items()) if self.places is None else np.array(self.places)
        chosen = places.reshape(self.shape)[index]
        view = tuple(chosen.reshape(-1).tolist())
        return TracedArray(self.code, self.storage, self.dtype, chosen.shape, view)

    def __setitem__(self, index: object, value: object) -> None:
        if isinstance(index, TracedArray):
            mask = self.values(index, np.dtype(np.bool_), self.shape)
            given = self.values(value, self.dtype, self.shape)
            self.write(self.code.select(mask, given, self.read()))
            return
        target = self if index is Ellipsis else self[index]
        target.write(self.values(value, self.dtype, target.shape))

    # --- protocols -------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__" or name not in OPERATORS or "where" in options:
            raise Untraceable(name if method == "__call__" else f"{name}.{method}")
        types = [_kind(each) for each in inputs]
        signature = options.get("dtype")
        if signature is None:
            resolved = ufunc.resolve_dtypes((*types, None))
        else:
            resolved = (np.dtype(signature),) * (len(types) + 1)
        shape = np.broadcast_shapes(*map(_shape, inputs))
        operands = [
            self.values(each, np.dtype(np.bool_) if name in TRUTH else dtype, shape)
            for each, dtype in zip(inputs, resolved, strict=False)
        ]
        dtype = np.dtype(np.bool_) if name in TRUTH else resolved[0]
        vector = OPERATORS[name](self.code, dtype, operands)
        result = self.new(vector, resolved[-1], shape)
        out = options.get("out")
        if not out:
            return result
        (target,) = out
        if not isinstance(target, TracedArray):
            raise Untraceable(f"{name} to an array of numbers")
        target.write(self.values(result, target.dtype, target.shape))
        return target

    def __array_function__(self, function: Any, types: object, arguments: Any, options: Any) -> Any:
        rule = _FUNCTIONS.get(function.__name__)
        if rule is None:
            raise Untraceable(function.__name__)
        return rule(self, *arguments, **options)


def _kind(value: Any) -> Any:
    """Return the type of an operand, for numpy's rules; that of a number without a type is weak."""
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    return value.dtype if hasattr(value, "dtype") else type(value)


def _shape(value: npt.ArrayLike) -> Shape:
    return value.shape if isinstance(value, TracedArray) else np.shape(value)


# --- functions of numpy --------------------------------------------------------------------------


def _copyto(
    any_: TracedArray, target: object, source: object, casting: str = "", where: object = True
) -> None:
    if not isinstance(target, TracedArray):
        raise Untraceable("copyto an array of numbers")
    vector = target.values(source, target.dtype, target.shape)
    if where is not True:
        mask = target.values(where, np.dtype(np.bool_), target.shape)
        vector = target.code.select(mask, vector, target.read())
    target.write(vector)


def _where(
    any_: TracedArray, condition: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike
) -> TracedArray:
    shape = np.broadcast_shapes(_shape(condition), _shape(a), _shape(b))
    kinds = [each.dtype if hasattr(each, "dtype") else each for each in (a, b)]
    dtype = np.result_type(*kinds)
    mask = any_.values(condition, np.dtype(np.bool_), shape)
    chosen = any_.code.select(mask, any_.values(a, dtype, shape), any_.values(b, dtype, shape))
    return any_.new(chosen, dtype, shape)


def _full_like(
    any_: TracedArray, a: TracedArray, fill_value: object = 0, dtype: npt.DTypeLike | None = None
) -> TracedArray:
    kind = a.dtype if dtype is None else np.dtype(dtype)
    return a.new(constant(np.full(a.size, fill_value, kind)), kind)


def _clip(any_: TracedArray, a: Any, a_min: Any, a_max: Any) -> Any:
    return np.minimum(np.maximum(a, a_min), a_max)


def _stack(any_: TracedArray, arrays: list[Any], axis: int = 0) -> TracedArray:
    first = arrays[0]
    if axis != 1 or len(arrays) > 2:
        raise Untraceable("stack of this axis")
    shape = (len(first), len(arrays))
    vectors = [any_.values(each, first.dtype, _shape(first)) for each in arrays]
    if len(vectors) == 1:
        return any_.new(vectors[0], first.dtype, shape)
    order = np.arange(2 * len(first)).reshape(2, -1).T.reshape(-1).tolist()
    return any_.new(any_.code.shuffle(vectors[0], order, vectors[1]), first.dtype, shape)


def _concatenate(any_: TracedArray, arrays: list[Any], axis: int = 0) -> TracedArray:
    first, second = arrays
    if axis != 1:
        raise Untraceable("concatenate along this axis")
    places = np.arange(first.size + second.size)
    parts = [
        part.reshape(each.shape)
        for part, each in zip(np.split(places, [first.size]), arrays, strict=True)
    ]
    order = np.concatenate(parts, axis=1)
    vector = any_.code.shuffle(first.read(), order.reshape(-1).tolist(), second.read())
    return any_.new(vector, first.dtype, order.shape)


def _broadcast_to(any_: TracedArray, a: Any, shape: Shape) -> TracedArray:
    return any_.new(any_.values(a, a.dtype, shape), a.dtype, shape)


def _broadcast_arrays(any_: TracedArray, *arrays: Any) -> list[TracedArray]:
    shape = np.broadcast_shapes(*map(_shape, arrays))
    return [_broadcast_to(any_, each, shape) for each in arrays]


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "copyto": _copyto,
    "where": _where,
    "clip": _clip,
    "stack": _stack,
    "concatenate": _concatenate,
    "broadcast_to": _broadcast_to,
    "broadcast_arrays": _broadcast_arrays,
    "full_like": _full_like,
    "zeros_like": lambda any_, a, dtype=None: _full_like(any_, a, 0, dtype),
    "ones_like": lambda any_, a, dtype=None: _full_like(any_, a, 1, dtype),
    "empty_like": lambda any_, a, dtype=None: _full_like(any_, a, 0, dtype),
    "may_share_memory": lambda any_, a, b: False,
}
