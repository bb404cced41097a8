"""Constant tables of the lane functions in compiled code: the memory of their numpy arrays."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy.typing as npt

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, element_of


def gathered(code: CodeBuilder, table: npt.NDArray[Any], index: LaneVector) -> LaneVector:
    """Return items of a table, which outlives the code, by their indices of type ``i64``."""
    element, module, count = element_of(table.dtype), code.module, index.count
    # By the contents, so that cached machine code never finds another table under its name.
    symbol = f"table_{hashlib.sha256(table.tobytes()).hexdigest()[:16]}"
    module.symbols[symbol] = table.ctypes.data
    module.declare(f"@{symbol} = external global {element}")
    letter = {"float": "f32", "double": "f64"}.get(element, element)
    gather = f"@llvm.masked.gather.v{count}{letter}.v{count}p0"
    kind, places = f"<{count} x {element}>", f"<{count} x ptr>"
    module.declare(f"declare {kind} {gather}({places}, i32, <{count} x i1>, {kind})")
    items = code.scalar(f"getelementptr {element}, ptr @{symbol}, {index.typed}")
    return code.vector(
        f"call {kind} {gather}({places} {items}, i32 {table.itemsize}, "
        f"<{count} x i1> splat (i1 true), {kind} poison)",
        element,
        count,
    )
