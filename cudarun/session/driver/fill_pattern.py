"""The contents of memory without an initializer, which identify items that are never written.

Each byte is 0xA5. Floats are NaN, so that a result computed from one passes no check: a signaling
NaN where the type has one, which no operation returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cudarun.arguments.dtypes import Array, DType

_BYTE = b"\xa5"
_SIGNALING = {
    "float8_e5m2": b"\x7d",
    "float16": b"\xa5\x7d",
    "bfloat16": b"\xa5\x7f",
    "float32": b"\xa5\xa5\xa5\x7f",
    "float64": b"\xa5\xa5\xf5\x7f" * 2,  # equal halves, so that the device can fill words
}
_NANS = _SIGNALING | {"float8_e4m3fn": b"\x7f"}
_SURE_BYTES = 16  # bytes of the pattern in a row that no result has by chance


def fill_pattern(dtype: DType) -> bytes:
    """Return the bytes of an item; the padding of a struct has them, too."""
    if dtype.subdtype is not None:
        base, _ = dtype.subdtype
        return fill_pattern(base) * (dtype.itemsize // base.itemsize)
    item = bytearray(_NANS.get(dtype.name) or _BYTE * dtype.itemsize)
    for field, offset, *_ in (dtype.fields or {}).values():
        item[offset : offset + field.itemsize] = fill_pattern(field)
    return bytes(item)


def unwritten_items(data: Array) -> Array:
    """Return which items of a flat array still have the fill pattern in every byte.

    An item of 8 or 16 bits can have it by chance, as a result, unless it is a signaling NaN: then
    it counts only among others that have it.
    """
    size, pattern = data.itemsize, fill_pattern(data.dtype)
    if size in (1, 2, 4, 8):
        found: Array = data.view(f"u{size}") == int.from_bytes(pattern, "little")
        by_chance = size < 4 and data.dtype.name not in _SIGNALING
        return _runs(found, _SURE_BYTES // size) if by_chance and found.any() else found
    rows = data.view(np.uint8).reshape(data.size, size)
    whole: Array = (rows == np.frombuffer(pattern, np.uint8)).all(axis=1)
    return whole


def without_common_pattern(one: Array, other: Array) -> tuple[Array, Array]:
    """Return arrays with 0 for each float that has the fill pattern in both: NaN equals nothing.

    Args:
        one: Numbers or structs.
        other: An array of the same shape; if it is of another type, both are returned unchanged.
    """
    if one.dtype != other.dtype or not (one.dtype.names or _common_pattern(one, other).any()):
        return one, other
    one, other = one.copy(), other.copy()
    _clear_common_pattern(one, other)
    return one, other


def _clear_common_pattern(one: Array, other: Array) -> None:
    for name in one.dtype.names or ():
        _clear_common_pattern(one[name], other[name])
    if one.dtype.names is None:
        common = _common_pattern(one, other)
        one[common], other[common] = 0, 0


def _common_pattern(one: Array, other: Array) -> Array:
    if one.dtype.name not in _NANS:
        return np.zeros(one.shape, np.bool_)
    bits, pattern = f"u{one.itemsize}", int.from_bytes(fill_pattern(one.dtype), "little")
    both: Array = (one.view(bits) == pattern) & (other.view(bits) == pattern)
    return both


def _runs(found: Array, least: int) -> Array:
    """Return the true items that are in a run of at least ``least``."""
    edges = np.flatnonzero(np.diff(found, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= least
    change = np.zeros(found.size + 1, np.int8)
    change[starts[long]], change[ends[long]] = 1, -1
    return np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)
