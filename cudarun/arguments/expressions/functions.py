"""The functions of the expression language that need whole arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from cudarun.arguments.dtypes import Array, DType, NumpyValue, is_float
from cudarun.arguments.expressions.deferral import MAX_ELEMENTS, guard_size, numpy_errors
from cudarun.arguments.expressions.operators import integer_dtype, is_bool, is_floating, truth, wide
from cudarun.base.errors import RequestError

REDUCTIONS = frozenset(
    {"sum", "prod", "min", "max", "mean", "median", "std", "var"}
    | {"all", "any", "argmin", "argmax", "count_nonzero"}
)
"""The functions that reduce an array to one value."""


def native(array: NumpyValue) -> NumpyValue:
    """Return arrays of ml_dtypes' types as float32, which represents them exactly."""
    return array.astype(np.float32) if is_float(array.dtype) and array.dtype.kind != "f" else array


def accumulator(dtype: DType) -> type[np.generic]:
    """Return the type in which sums and products of a type are accumulated."""
    if is_float(dtype):
        return np.float64
    return np.uint64 if dtype.kind == "u" else np.int64


def reduce(name: str, array: NumpyValue, **options: Any) -> Any:
    """Call one of :data:`REDUCTIONS`; ``options`` are numpy's.

    Raises:
        RequestError: An array without elements has more rows than expressions make elements; or a
            mean, median, deviation or variance of no elements, or of ``ddof`` or fewer.
    """
    if not array.size:
        guard_size(math.prod(extent for extent in array.shape if extent))
    try:
        match name:
            case "sum" | "prod":
                return getattr(np, name)(array, dtype=accumulator(array.dtype), **options)
            case "mean" | "std" | "var":
                return getattr(np, name)(array, dtype=np.float64, **options)
            case "median":
                return np.median(wide(array), **options)
            case "min" | "max" | "argmin" | "argmax":
                return getattr(np, name)(native(array), **options)
            case _:
                return getattr(np, name)(truth(array), **options)
    except RuntimeWarning:  # which numpy prints, and returns NaN
        raise RequestError(f"{name}: there are too few elements") from None


def matrix_product(left: NumpyValue, right: NumpyValue) -> Any:
    """Return ``left @ right``: floats in float64, integers in 64 bits."""
    if left.ndim == 0 or right.ndim == 0:
        raise RequestError("'@' requires vectors or matrices; use '*' for scalars")
    columns = right.shape[-1] if right.ndim > 1 else 1
    rows = left.shape[-2] if left.ndim > 1 else 1
    if left.shape[-1] != right.shape[-2 if right.ndim > 1 else 0]:
        raise RequestError(f"'@': the shapes {left.shape} and {right.shape} do not match")
    with numpy_errors("'@'"):
        batches = math.prod(np.broadcast_shapes(left.shape[:-2], right.shape[:-2]))
        guard_size(batches * rows * columns, left, right)
        if is_floating(left) or is_floating(right):
            return np.matmul(wide(left), wide(right))
        dtype = np.promote_types(accumulator(left.dtype), accumulator(right.dtype))
        dtype = dtype if dtype.kind in "iu" else np.dtype(np.uint64)
        if left.size and right.size:
            bound = _magnitude(left) * _magnitude(right) * left.shape[-1]
            if bound < 1 << 53:  # exact in float64, whose product is many times faster
                return np.matmul(wide(left), wide(right)).astype(dtype)
        return np.matmul(left.astype(dtype), right.astype(dtype))


def _magnitude(array: NumpyValue) -> int:
    return max(abs(int(array.min())), abs(int(array.max())))


def arange(bounds: Sequence[Any], *given: Array) -> Array:
    """Return the numbers of ``[stop]``, ``[start, stop]`` or ``[start, stop, step]`` as i64 or f64.

    Args:
        given: The arrays of the launch; so many numbers are no claim on more memory.
    """
    start, stop, step = {1: (0, *bounds, 1), 2: (*bounds, 1)}.get(len(bounds), tuple(bounds))
    if any(isinstance(b, np.ndarray) for b in bounds):
        raise RequestError("arange requires scalars")
    exact = not any(is_floating(b) for b in bounds)
    start, stop, step = map(int if exact else float, (start, stop, step))
    if not step:
        raise RequestError("arange: the step is 0")
    steps = -((start - stop) // step) if exact else (stop - start) / step
    count = max(math.ceil(steps), 0)
    guard_size(count, *given)
    if not exact:
        return cast(Array, start + np.arange(count) * step)
    with numpy_errors("arange"):
        return np.arange(start, stop, step, dtype=np.int64)


def bincount(array: NumpyValue, minlength: int = 0) -> Array:
    """Count the occurrences of each integer from 0."""
    if array.dtype.kind not in "iub":
        raise RequestError("bincount requires integers")
    if array.size and (int(array.min()) < 0 or int(array.max()) >= MAX_ELEMENTS):
        raise RequestError(f"bincount requires integers from 0 to {MAX_ELEMENTS - 1}")
    if not 0 <= minlength <= MAX_ELEMENTS:
        raise RequestError(f"bincount: minlength={minlength}")
    return np.bincount(np.ravel(array).astype(np.int64), minlength=minlength)


def same_type(parts: Sequence[NumpyValue]) -> list[Any]:
    """Convert arrays to their joint type: float64, bool, or integers as operators have them."""
    if any(map(is_floating, parts)):
        return [wide(part) for part in parts]
    if all(map(is_bool, parts)):
        return [*parts]
    dtype = integer_dtype(*parts)
    return [part.astype(dtype) for part in parts]


def close(
    left: NumpyValue, right: NumpyValue, *, equal_nan: bool = False, **tolerances: Any
) -> Any:
    """Return ``numpy.isclose`` of two arrays, with numpy's default tolerances."""
    given = {name: float(each) for name, each in tolerances.items()}
    return np.isclose(wide(left), wide(right), equal_nan=equal_nan, **given)


def einsum(subscripts: str, operands: Sequence[NumpyValue]) -> Any:
    """Return ``numpy.einsum``: floats in float64, integers in 64 bits."""
    inputs, arrow, output = subscripts.partition("->")
    labels = inputs.split(",")
    if [len(each) for each in labels] != [operand.ndim for operand in operands]:
        shapes = ", ".join(str(operand.shape) for operand in operands)
        raise RequestError(f"einsum: {subscripts!r} does not match arrays of shape {shapes}")
    sizes = {
        label: size
        for names, operand in zip(labels, operands, strict=True)
        for label, size in zip(names, operand.shape, strict=True)
    }
    if not arrow:
        output = "".join(label for label in sizes if inputs.count(label) == 1)
    guard_size(math.prod(sizes.get(label, 1) for label in output), *operands)
    parts = same_type(operands)
    dtype = accumulator(parts[0].dtype)
    return np.einsum(subscripts, *(part.astype(dtype, copy=False) for part in parts))


def repeated(name: str, array: NumpyValue, times: tuple[int, ...], **options: Any) -> Any:
    """Return ``numpy.repeat`` or ``numpy.tile``."""
    guard_size(math.prod((array.size, *times)))
    if name == "tile":
        return np.tile(array, times)
    if len(times) != 1:
        raise RequestError("repeat requires one number")
    return np.repeat(array, times[0], **options)
