"""The seam between the functions over lanes and the compiler of kernels, which traces them.

The compiler calls a function once with arrays that record operations instead of numbers. Such an
array has no values, so a function must not ask whether some lane is special: `any_of` answers "yes"
for it, and the general path is recorded.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics.arrays import Array


def is_traced(a: Array) -> bool:
    """Return whether an array records operations."""
    return not isinstance(a, np.ndarray)


def any_of(condition: Array) -> bool:
    """Return whether a condition is true in any lane; for arrays without values: yes."""
    return is_traced(condition) or bool(condition.any())


def contiguous(a: Array) -> Array:
    """Return an array whose items follow each other in memory."""
    return a if is_traced(a) else np.ascontiguousarray(a)


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    """Return ``a * b + c`` of arrays that record operations, rounded once by the processor."""
    result: Array = a.multiply_add(b, c)  # type: ignore[attr-defined]
    return result


def directed(operation: str, mode: str, *operands: Array) -> Array:
    """Return the result of an operation on f64 that the processor rounds in a mode.

    Args:
        operation: ``"multiply"``, ``"divide"``, ``"sqrt"`` or ``"multiply_add"``.
        mode: ``"rz"``, ``"rm"`` or ``"rp"``.
        operands: Arrays that record operations.
    """
    first, *others = operands
    result: Array = first.directed(operation, mode, *others)  # type: ignore[attr-defined]
    return result


def gathered(table: Array, index: Array) -> Array:
    """Return the items of a constant table, which nothing else changes or frees, by their index."""
    if is_traced(index):
        result: Array = index.gathered_from(table)  # type: ignore[attr-defined]
        return result
    return table.take(index)
