"""Products of matrices in memory, with the sums of the tensor cores (``numerics/products.py``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cudarun.emulator.compiled.lowering import LaneType, lower
from cudarun.emulator.compiled.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    splat,
    vector_type,
)
from cudarun.emulator.numerics.formats import element
from cudarun.emulator.numerics.fused import fused_f64
from cudarun.emulator.numerics.products import KEPT, LEAST, LEAST_SUM, NOTHING, rounded_sum
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.records import dataclass

Array = npt.NDArray[np.generic]
_BIAS = 1023
_LEAST_INTEGER, _MOST_INTEGER = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """The shape and the types of a product.

    Attributes:
        m: Rows of A and D.
        n: Columns of B and D.
        k: Columns of A, rows of B.
        run: The number of products that are added at once.
        types: The types of ``d``, ``a``, ``b``, ``c``.
        satfinite: Clamp integers.
    """

    m: int
    n: int
    k: int
    run: int
    types: dict[str, Type]
    satfinite: bool

    @property
    def is_float(self) -> bool:
        """True unless the elements are integers."""
        return self.types["a"].kind is TypeKind.FLOAT

    @property
    def result_bytes(self) -> int:
        """The size of an element of the result."""
        return self.types["d"].dtype.itemsize

    @property
    def result(self) -> str:
        """The LLVM type of an element of the result."""
        return LaneType(self.types["d"].dtype).element


def memory_type(shape: MatrixShape) -> str:
    """Return the LLVM type of the elements of A, B and C in memory."""
    return "double" if shape.is_float else "i32"


def define_product(module: ModuleText, name: str, shape: MatrixShape) -> None:
    """Define ``name(a, b, c, d)``, which multiplies matrices in memory row by row."""
    code = CodeBuilder(module)
    code.label("entry")
    exponents = shape.is_float and shape.types["a"].name != "f64"
    if exponents:
        for which, count in (("a", shape.m * shape.k), ("b", shape.k * shape.n)):
            code.line(f"%{which}.exponents = alloca [{count} x i32], align 64")
            least = LEAST[element(shape.types[which])]
            for start in range(0, count, 32):
                values = _loaded(code, f"%{which}", "double", start, 32)
                _store(code, _exponents(code, values, least), f"%{which}.exponents", start)
    code.line("br label %row")
    code.label("row")
    code.line("%i = phi i64 [ 0, %entry ], [ %i.next, %row ]")
    kind = memory_type(shape)
    code.line(f"%row.k = mul i64 %i, {shape.k}")
    code.line(f"%row.n = mul i64 %i, {shape.n}")
    code.line(f"%a.row = getelementptr {kind}, ptr %a, i64 %row.k")
    code.line(f"%c.row = getelementptr {kind}, ptr %c, i64 %row.n")
    code.line(f"%d.row = getelementptr {shape.result}, ptr %d, i64 %row.n")
    if exponents:
        code.line("%a.row.exponents = getelementptr i32, ptr %a.exponents, i64 %row.k")
    c = _loaded(code, "%c.row", kind, 0, shape.n)
    if exponents:
        result = _by_runs(code, shape, c)
    elif shape.is_float:
        result = _chain(code, shape, c)
    else:
        result = _of_integers(code, shape, c)
    _store(code, result, "%d.row", 0)
    code.line("%i.next = add i64 %i, 1")
    code.line(f"%more = icmp ult i64 %i.next, {shape.m}")
    code.line("br i1 %more, label %row, label %end")
    code.label("end")
    code.line("ret void")
    head = f"define internal void @{name}(ptr %a, ptr %b, ptr %c, ptr %d) noinline #0 {{"
    module.define(name, "\n".join([head, *code.lines, "}"]))


def _loaded(code: CodeBuilder, pointer: str, kind: str, start: int, count: int) -> LaneVector:
    at = code.scalar(f"getelementptr {kind}, ptr {pointer}, i64 {start}")
    return code.vector(f"load {vector_type(kind, count)}, ptr {at}, align 4", kind, count)


def _store(code: CodeBuilder, value: LaneVector, pointer: str, start: int) -> None:
    at = code.scalar(f"getelementptr {value.element}, ptr {pointer}, i64 {start}")
    code.line(f"store {value.typed}, ptr {at}, align 2")


def _single(code: CodeBuilder, pointer: str, kind: str, place: int, count: int) -> LaneVector:
    """Load one element for all columns."""
    at = code.scalar(f"getelementptr {kind}, ptr {pointer}, i64 {place}")
    return code.broadcast(kind, code.scalar(f"load {kind}, ptr {at}, align 4"), count)


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
    return code.select(code.compare("sgt", a, b), a, b)


def _power(code: CodeBuilder, exponent: LaneVector) -> LaneVector:
    """Return powers of two, of exponents in the range of f64."""
    biased = code.binary("add", exponent, splat("i32", _BIAS, exponent.count))
    wide = code.cast("sext", biased, "i64")
    return code.bitcast(code.binary("shl", wide, splat("i64", 52, wide.count)), "double")


def _by_runs(code: CodeBuilder, shape: MatrixShape, c: LaneVector) -> LaneVector:
    """Add each run of products to the result of the previous ones."""
    count, target = shape.n, shape.types["d"]
    least, result = LEAST[element(shape.types["c"])], c
    name = f"rounded.{target.name}.{count}"
    if not code.module.defines(name):

        def rounded(total: Array, d: Array) -> None:
            np.copyto(d, rounded_sum(total, target.name))

        double, narrow = LaneType(np.dtype(np.float64)), LaneType(target.dtype)
        code.module.define(name, lower(code.module, name, rounded, [double], [narrow], width=count))
    for start in range(0, shape.k, shape.run):
        places = range(start, start + shape.run)
        largest = _greater(code, _exponents(code, c, least), splat("i32", LEAST_SUM, count))
        for k in places:
            a = _single(code, "%a.row.exponents", "i32", k, count)
            b = _loaded(code, "%b.exponents", "i32", k * shape.n, count)
            largest = _greater(code, largest, code.binary("add", a, b))
        kept = code.binary("sub", splat("i32", KEPT, count), largest)
        scale = _power(code, kept)
        total = code.intrinsic("trunc", code.binary("fmul", c, scale))
        for k in places:
            a = _single(code, "%a.row", "double", k, count)
            b = _loaded(code, "%b", "double", k * shape.n, count)
            product = code.binary("fmul", code.binary("fmul", a, b), scale)
            total = code.binary("fadd", total, code.intrinsic("trunc", product))
        back = _power(code, code.binary("sub", splat("i32", 0, count), kept))
        exact = code.binary("fmul", total, back)
        kind = vector_type(shape.result, count)
        result = code.vector(f"call {kind} @{name}({exact.typed})", shape.result, count)
        least = LEAST[element(target)]
        c = result
        if c.element == "half":
            c = code.cast("fpext", c, "float")
        c = code.cast("fpext", c, "double")
    return result


def _chain(code: CodeBuilder, shape: MatrixShape, c: LaneVector) -> LaneVector:
    """Compute f64 by consecutive fused multiply-adds along k."""
    count, name = shape.n, f"fused.{shape.n}"
    if not code.module.defines(name):
        double = LaneType(np.dtype(np.float64))
        text = lower(code.module, name, fused_f64, [double] * 3, [double], width=count)
        code.module.define(name, text)
    for k in range(shape.k):
        a = _single(code, "%a.row", "double", k, count)
        b = _loaded(code, "%b", "double", k * shape.n, count)
        given = ", ".join(value.typed for value in (a, b, c))
        c = code.vector(f"call {c.type} @{name}({given})", "double", count)
    return c


def _of_integers(code: CodeBuilder, shape: MatrixShape, c: LaneVector) -> LaneVector:
    count = shape.n
    total = splat("i32", 0, count)
    for k in range(shape.k):
        a = _single(code, "%a.row", "i32", k, count)
        b = _loaded(code, "%b", "i32", k * shape.n, count)
        total = code.binary("add", total, code.binary("mul", a, b))
    wide = code.binary("add", code.cast("sext", total, "i64"), code.cast("sext", c, "i64"))
    if shape.satfinite:
        most, least = splat("i64", _MOST_INTEGER, count), splat("i64", _LEAST_INTEGER, count)
        wide = code.select(code.compare("sgt", wide, most), most, wide)
        wide = code.select(code.compare("slt", wide, least), least, wide)
    return code.cast("trunc", wide, "i32")
