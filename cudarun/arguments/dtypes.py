"""numpy dtypes of the argument types, with the device's layout.

A buffer of vectors or arrays has their axes last (``float4[n]`` is an array of shape ``(n, 4)``),
a buffer of structs has a structured dtype with explicit offsets and the padding at the end.
ml_dtypes is imported only when a type needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cudarun.arguments import types
from cudarun.arguments.scanner import IDENTIFIER

Array: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]
NumpyValue: TypeAlias = np.generic | Array  # a scalar or an array
Values: TypeAlias = Mapping[str, Any]
"""The values of names in an expression: arrays, and numpy scalars."""

_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
_BY_DTYPE_NAME = {name: types.SCALARS[scalar] for scalar, name in _ML_DTYPES.items()}


@cache
def scalar_dtype(scalar: types.ScalarType) -> DType:
    """Return the dtype of a scalar type."""
    if scalar.name in _ML_DTYPES:
        import ml_dtypes

        borrowed: DType = np.dtype(getattr(ml_dtypes, _ML_DTYPES[scalar.name]))
        return borrowed
    if scalar.kind is types.Kind.BOOL:
        return np.dtype(np.bool_)
    letter = {types.Kind.SIGNED: "i", types.Kind.UNSIGNED: "u", types.Kind.FLOAT: "f"}[scalar.kind]
    return np.dtype(f"{letter}{scalar.size}")


def struct_dtype(struct: types.StructType) -> DType:
    """Return the structured dtype with the device's offsets, without pointer members."""
    layout = struct.layout
    fields = [
        (name, np.dtype((element_dtype(member.type), types.inner_shape(member.type))), offset)
        for name, member, offset in zip(
            struct.member_names, struct.members, layout.offsets, strict=True
        )
        if not isinstance(member.type, types.PointerType | types.OpaqueType)
    ]
    return np.dtype(
        {
            "names": [name for name, _, _ in fields],
            "formats": [dtype for _, dtype, _ in fields],
            "offsets": [offset for _, _, offset in fields],
            "itemsize": layout.size,
        }
    )


def element_dtype(element: types.Type) -> DType:
    """Return the dtype of an element's scalars: that of ``f32`` for ``float4``.

    :func:`cudarun.arguments.types.inner_shape` returns the axes.
    """
    match types.innermost(element):
        case types.ScalarType() as scalar:
            return scalar_dtype(scalar)
        case types.StructType() as struct:
            return struct_dtype(struct)
        case types.PointerType():
            return np.dtype(np.uint64)
        case types.OpaqueType():
            raise AssertionError("an object of the driver is not in a buffer")


def scalar_type(dtype: DType) -> types.ScalarType | None:
    """Return the scalar type of a dtype; ``None`` where there is none, as for complex numbers."""
    if dtype.name in _BY_DTYPE_NAME:
        return _BY_DTYPE_NAME[dtype.name]
    if dtype.kind == "b":
        return types.SCALARS["bool"]
    if dtype.kind not in "iuf":
        return None
    return types.SCALARS.get(f"{dtype.kind}{8 * dtype.itemsize}")


def element_type(dtype: DType) -> types.Type | None:
    """Return the type of an array's items: a scalar, ``float2`` for complex64, or a struct.

    ``None`` where there is none, as for a struct that is not laid out as in C++.
    """
    scalar = scalar_type(dtype)
    if scalar is not None:
        return scalar
    if dtype.kind == "c":
        return {8: types.VECTORS["float2"], 16: types.VECTORS["double2"]}.get(dtype.itemsize)
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        element = element_type(base)
        for count in reversed(shape):
            element = None if element is None else types.ArrayType(element, count)
        return element
    if dtype.fields is None:
        return None
    members: list[types.StructMember] = []
    end = 0
    for name in dtype.names or ():
        field, offset, *_ = dtype.fields[name]
        fitting = (e for e in _member_types(field) if types.align_up(end, e.alignment) == offset)
        element = next(fitting, None)
        if element is None:
            return None
        members.append(types.StructMember(name if IDENTIFIER.fullmatch(name) else None, element))
        end = offset + element.size
    struct = types.StructType(tuple(members))
    return struct if struct.size == dtype.itemsize else None


def _member_types(field: DType) -> Iterator[types.Type]:
    """Yield the types that a field can have: arrays and vectors differ in their alignment only."""
    element = element_type(field)
    if element is not None:
        yield element
    if isinstance(element, types.VectorType):
        yield types.ArrayType(element.element, element.count)
    if isinstance(element, types.ArrayType):
        for vector in types.VECTORS.values():
            if (vector.element, vector.count) == (element.element, element.count):
                yield vector


def is_float(dtype: DType) -> bool:
    """Return whether a dtype is floating, including ml_dtypes' (their ``kind`` is not ``f``)."""
    return dtype.kind == "f" or dtype.name in _BY_DTYPE_NAME


def with_other_contents(array: Array, where: Array, which: str) -> Array:
    """Return a copy of an array with other numbers at some places.

    Args:
        where: The places: a mask over its leading axes.
        which: ``0``, ``largest`` or ``smallest``; infinities, where a type has them.
    """
    copy = np.array(array)
    for name in array.dtype.names or ():
        copy[name] = with_other_contents(array[name], where, which)
    if array.dtype.names is None:
        if is_float(array.dtype):
            contents = {"largest": np.inf, "smallest": -np.inf}
        elif array.dtype.kind == "b":
            contents = {"largest": True, "smallest": False}
        else:
            bounds = np.iinfo(array.dtype)
            contents = {"largest": bounds.max, "smallest": bounds.min}
        copy[where] = contents.get(which, 0)
    return copy


def convert(
    values: npt.ArrayLike, scalar: types.ScalarType, declared: types.ScalarType | None = None
) -> Array:
    """Convert numbers to a type as a cast on the device does.

    To an integer: towards zero, clamped to its range (``cvt.rzi`` of the PTX manual, 9.7.9.21); a
    NaN becomes 0, but to 64 bits or from ``f64`` the number with only the highest bit set.
    From an integer: wrapped. To a float: rounded once to nearest even.

    Args:
        declared: The floating type of the numbers on the device; by default that of the array.
    """
    source = np.asarray(values)
    target = scalar_dtype(scalar)
    with np.errstate(all="ignore"):
        if scalar.is_integer and is_float(source.dtype):
            declared = declared or scalar_type(source.dtype)
            highest = scalar.size == 8 or declared in (None, types.SCALARS["f64"])
            nan = 1 << (8 * scalar.size - 1) if highest else 0
            floats = source.astype(np.float64)
            unknown = np.isnan(floats)
            whole = np.trunc(np.where(unknown, 0.0, floats))
            # The largest 64-bit integers have no float64: what reaches the bound is set explicitly.
            above = whole >= float(scalar.maximum)
            below = whole <= float(scalar.minimum)
            result = np.where(above | below, 0.0, whole).astype(target)
            result = np.where(above, np.array(scalar.maximum, target), result)
            result = np.where(below, np.array(scalar.minimum, target), result)
            return np.where(unknown, np.array(nan, f"u{scalar.size}").view(target), result)
        if scalar.name in _ML_DTYPES and source.dtype != target:
            return _round_to_odd(source).astype(target)
        return source.astype(target)


def _round_to_odd(values: Array) -> Array:
    """Convert to float32, rounding to odd: the last bit is set where the value is inexact.

    ml_dtypes converts float64 through float32 and so rounds twice; from a float32 rounded to
    odd the second rounding gives the result of a single one.
    """
    exact = values.astype(np.float64)
    single = exact.astype(np.float32)
    back = single.astype(np.float64)
    inexact = (back != exact) & np.isfinite(back) & np.isfinite(exact)
    if not inexact.any():
        return single
    toward_zero = np.where(
        np.abs(back) > np.abs(exact), np.nextafter(single, np.float32(0)), single
    )
    odd = (toward_zero.view(np.uint32) | np.uint32(1)).view(np.float32)
    result: Array = np.where(inexact, odd, single)
    return result


def by_value(element: types.Type, data: bytes) -> NumpyValue:
    """Decode a value passed by value: a numpy scalar, an array or a structured scalar."""
    array = np.frombuffer(data, element_dtype(element)).reshape(types.inner_shape(element)).copy()
    found: NumpyValue = array[()]
    return found
