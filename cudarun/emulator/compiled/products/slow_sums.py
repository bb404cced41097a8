"""A column of a product of floats in f64, for all numbers: infinities, NaN and any exponents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cudarun.emulator.compiled.lanes.lowering import traced
from cudarun.emulator.compiled.lanes.permutations import counted
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    splat,
)
from cudarun.emulator.compiled.products.elements import load, load_single, scaled, store
from cudarun.emulator.compiled.products.shapes import MatrixShape
from cudarun.emulator.numerics.formats import element
from cudarun.emulator.numerics.products import LEAST_SUM, NOTHING, rounded_sum, shortened

Array = npt.NDArray[np.generic]

_BIAS = 1023


def define_exact_column(module: ModuleText, shape: MatrixShape) -> str:
    """Define ``name(a, b, c, d)`` of the numbers of a column, and return its name."""
    name = f"column.{shape.name}"
    code = CodeBuilder(module)
    rows = shape.rows
    code.label("entry")
    code.line(f"%largest = alloca <{rows} x i32>, align 64")
    code.line(f"%total = alloca <{rows} x double>, align 64")
    c = code.cast("fpext", load(code, "%c", "float", "0", rows), "double")
    least = shape.least[element(shape.types["c"])]
    result = c
    for start in range(0, shape.depth, shape.run):
        first = _greater(code, _exponents(code, c, least), splat("i32", LEAST_SUM, rows))
        code.line(f"store {first.typed}, ptr %largest")
        with counted(code, shape.run) as step:
            a, b = _operands(code, shape, code.scalar(f"add i64 {step}, {start}"))
            of_a = _exponents(code, a, shape.least[element(shape.types["a"])])
            of_b = _exponents(code, b, shape.least[element(shape.types["b"])])
            before = load(code, "%largest", "i32", "0", rows)
            most = _greater(code, before, code.binary("add", of_a, of_b))
            code.line(f"store {most.typed}, ptr %largest")
        largest = load(code, "%largest", "i32", "0", rows)
        kept = code.binary("sub", splat("i32", shape.kept, rows), largest)
        scale = _power(code, kept)
        begin = code.intrinsic("trunc", code.binary("fmul", c, scale))
        code.line(f"store {begin.typed}, ptr %total")
        with counted(code, shape.run) as step:
            a, b = _operands(code, shape, code.scalar(f"add i64 {step}, {start}"))
            product = code.binary("fmul", code.binary("fmul", a, b), scale)
            before = load(code, "%total", "double", "0", rows)
            total = code.binary("fadd", before, code.intrinsic("trunc", product))
            code.line(f"store {total.typed}, ptr %total")
        back = _power(code, code.binary("sub", splat("i32", 0, rows), kept))
        exact = code.binary("fmul", load(code, "%total", "double", "0", rows), back)
        result = rounded(code, shape, exact)
        least = shape.least[element(shape.types["d"])]
        single = result if result.element == "float" else code.cast("fpext", result, "float")
        c = code.cast("fpext", single, "double")
    store(code, result, "%d", "0")
    code.line("ret void")
    code.define(f"void @{name}(ptr %a, ptr %b, ptr %c, ptr %d)")
    return name


def _operands(code: CodeBuilder, shape: MatrixShape, place: str) -> tuple[LaneVector, LaneVector]:
    rows = shape.rows
    by_row = scaled(code, place, rows)
    a = load(code, "%a", "float", by_row, rows)
    if shape.sparsity is not None:
        b = load(code, "%b", "float", by_row, rows)
    else:
        b = load_single(code, "%b", "float", place, rows)
    return code.cast("fpext", a, "double"), code.cast("fpext", b, "double")


def rounded(code: CodeBuilder, shape: MatrixShape, exact: LaneVector) -> LaneVector:
    """Round sums in f64."""
    target, rows = shape.types["d"], shape.rows
    shortens = shape.by_warpgroup and shape.has_eight_bits and target.name == "f32"
    name = f"rounded.{target.name}.{rows}.{int(shortens)}"

    def function(total: Array, d: Array) -> None:
        result = rounded_sum(total, target.name)
        np.copyto(d, shortened(result) if shortens else result)

    return traced(code, name, function, [np.dtype(np.float64)], target.dtype, [exact])


def _exponents(code: CodeBuilder, values: LaneVector, least: int) -> LaneVector:
    """Return the exponents of f64; infinities and NaN have that of 0.5, as in numpy's frexp."""
    count = values.count
    bits = code.bitcast(values, "i64")
    field = code.binary("and", code.binary("lshr", bits, splat("i64", 52, count)),
                        splat("i64", 0x7FF, count))  # fmt: skip
    biased = code.cast("trunc", field, "i32")
    special = code.compare("eq", biased, splat("i32", 0x7FF, count))
    biased = code.select(special, splat("i32", _BIAS - 1, count), biased)
    exponent = code.binary("sub", biased, splat("i32", _BIAS, count))
    exponent = _greater(code, exponent, splat("i32", least, count))
    size = code.binary("shl", bits, splat("i64", 1, count))
    zero = code.compare("eq", size, splat("i64", 0, count))
    return code.select(zero, splat("i32", NOTHING, count), exponent)


def _greater(code: CodeBuilder, a: LaneVector, b: LaneVector) -> LaneVector:
    return code.intrinsic("smax", a, b)


def _power(code: CodeBuilder, exponent: LaneVector) -> LaneVector:
    """Return powers of two, of exponents in the range of f64."""
    biased = code.binary("add", exponent, splat("i32", _BIAS, exponent.count))
    wide = code.cast("sext", biased, "i64")
    return code.bitcast(code.binary("shl", wide, splat("i64", 52, wide.count)), "double")
