"""Products of matrices in memory, with the sums of the tensor cores (``numerics/products.py``).

A column of the result is a vector with an element for each row, and is computed by itself. Floats
are multiplied in f32, where products are exact, as long as exponents are in a range in which all
sums are; columns with others, or with a negative zero in C, are computed in f64.

In memory, A has a vector of rows for each place along k, and B, C and D have column after column.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cudarun.base.process import IS_X86
from cudarun.emulator.compiled.lanes.lowering import traced
from cudarun.emulator.compiled.lanes.permutations import counted
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    constant,
    splat,
)
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.products.elements import (
    WORDS_AT_ONCE,
    MatrixElements,
    beyond,
    exponents,
    greater,
    load,
    load_single,
    scaled,
    store,
)
from cudarun.emulator.compiled.products.shapes import MatrixShape
from cudarun.emulator.numerics.formats import element
from cudarun.emulator.numerics.fused import fused_f64
from cudarun.emulator.numerics.products import rounded_sum, shortened, with_addend

Array = npt.NDArray[np.generic]

_BIAS, _FRACTION = 127, 23
_LIMIT = 100  # of the exponents of C in f32
_FLOOR = -101  # the least exponent of a sum in f32
_PRODUCTS = 8  # of which the sum, with C, fits into 32 bits
_TO_SINGLE = 0xFFFFFFFFE0000000  # the bits of f64 that f32 has
_LEAST_INTEGER, _MOST_INTEGER = -(1 << 31), (1 << 31) - 1


def define_product(module: ModuleText, shape: MatrixShape) -> str:
    """Define ``name(a, b, c, d, metadata)``, which multiplies matrices, and return its name.

    A has its words, by number of the word and row; B its words, by column and number; C f32, f64 or
    integers, by column and row; so has D, f16 included. Metadata is that of a sparse A, as a word
    for each lane of a warp.
    """
    name = f"product.{shape.name}"
    if module.defines(name):
        return name
    module.define(name, "")  # also while it is being defined
    code = CodeBuilder(module)
    code.label("entry")
    if shape.is_double:
        _chains(code, shape)
    elif shape.op:
        given = shape.rows, shape.columns, shape.words, shape.op == "xor"
        numbers = ", ".join(f"i32 {int(number)}" for number in given)
        call(code, "void", "count_bits", f"ptr %a, ptr %b, ptr %c, ptr %d, {numbers}")
    else:
        _columns(code, shape)
    code.line("ret void")
    code.define(f"void @{name}(ptr %a, ptr %b, ptr %c, ptr %d, ptr %metadata)")
    return name


def _columns(code: CodeBuilder, shape: MatrixShape) -> None:
    """Multiply floats or integers of less than 64 bits."""
    rows, columns, depth = shape.rows, shape.columns, shape.depth
    kind, places = ("float", depth) if shape.is_float else ("i32", depth // 2)
    sparse = shape.sparsity is not None
    right = rows if sparse else columns
    for which, size in (("a", places * rows), ("b", places * right)):
        code.line(f"%{which}.values = alloca [{size} x {kind}], align 64")
        short = "i32" if which == "a" or sparse else "i16"
        count = size // 2 if short == "i32" else size
        code.line(f"%{which}.exponents = alloca [{count} x {short}], align 64")
        code.line(f"%{which}.flags = alloca <{max(rows, WORDS_AT_ONCE)} x i1>")
    a_wide = MatrixElements(shape, "a").left(code, "%a", "%a.values", "%a.exponents")
    wide = a_wide
    elements = MatrixElements(shape, "b")
    if shape.sparsity is not None:
        code.line(f"%b.words = alloca [{shape.words * rows} x i32], align 64")
        code.line(f"%b.places = alloca [{2 * shape.words * rows * 2} x i32], align 64")
        _find_units(code, shape)
    else:
        b_wide = elements.right(code, "%b", "%b.values", "%b.exponents")
        wide = code.scalar(f"or i1 {a_wide}, {b_wide}")
    if shape.is_float:
        _define_exact_column(code.module, shape)
        code.line(f"%sum = alloca <{rows} x {shape.result}>, align 64")
        code.line(f"%zero = alloca <{rows} x float>, align 64")
        code.line(f"store <{rows} x float> zeroinitializer, ptr %zero, align 64")
    with counted(code, columns) as column:
        values, found = "%b.values", "%b.exponents"
        if sparse:
            at = scaled(code, column, shape.right_words)
            line = code.scalar(f"getelementptr i32, ptr %b, i64 {at}")
            given = f"i32 {rows}, i32 {shape.words}, i32 {_unit_bytes(shape)}"
            arguments = f"ptr {line}, ptr %b.places, ptr %b.words, {given}"
            call(code, "void", "select_words", arguments)
            b_wide = elements.left(code, "%b.words", values, found)
            wide = code.scalar(f"or i1 {a_wide}, {b_wide}")
        else:
            at = scaled(code, column, places)
            values = code.scalar(f"getelementptr {kind}, ptr {values}, i64 {at}")
            found = code.scalar(f"getelementptr i16, ptr {found}, i64 {at}")
        place = scaled(code, column, rows)
        c = load(code, "%c", shape.addend, place, rows)
        right_side = _Right(shape, values, found)
        if not shape.is_float:
            total = _of_integers(code, shape, right_side, c)
        else:
            total = _of_floats(code, shape, right_side, c, (wide, place))
        store(code, total, "%d", place)


def _of_floats(
    code: CodeBuilder, shape: MatrixShape, right: _Right, c: LaneVector, of_column: tuple[str, str]
) -> LaneVector:
    """Return a column: in f32, or in f64 if it has to be.

    Args:
        right: The column of B.
        c: The column of C.
        of_column: Whether it has to be computed in f64, and the index of its first element.
    """
    (wide, place), rows = of_column, shape.rows
    start = LaneVector("zeroinitializer", "float", rows) if shape.adds_last else c
    total, bad = _by_runs(code, shape, right, start)
    store(code, total, "%sum", "0")
    strange = code.scalar(f"or i1 {bad}, {wide}")
    slow, done = code.fresh("slow"), code.fresh("done")
    code.line(f"br i1 {strange}, label %{slow}, label %{done}, !prof !2")
    code.label(slow)
    c_at = "%zero"
    if not shape.adds_last:
        c_at = code.scalar(f"getelementptr float, ptr %c, i64 {place}")
    code.line(
        f"call void @column.{shape.name}(ptr %a.values, ptr {right.values}, ptr {c_at}, ptr %sum)"
    )
    code.line(f"br label %{done}")
    code.label(done)
    total = load(code, "%sum", shape.result, "0", rows)
    if shape.adds_last:
        total = _with_addend(code, shape, total, c)
    return total


class _Right:
    """A column of B: numbers and exponents, for all rows or for each row of a sparse A."""

    def __init__(self, shape: MatrixShape, values: str, found: str) -> None:
        self.shape, self.values, self.found = shape, values, found

    def value(self, code: CodeBuilder, place: int) -> LaneVector:
        """Return the number at a place along k, or the pair of integers."""
        kind, rows = "float" if self.shape.is_float else "i32", self.shape.rows
        if self.shape.sparsity is not None:
            return load(code, self.values, kind, str(place * rows), rows)
        return load_single(code, self.values, kind, str(place), rows)

    def exponents(self, code: CodeBuilder, pair: int) -> LaneVector:
        """Return the pair of exponents of two places."""
        rows = self.shape.rows
        if self.shape.sparsity is not None:
            return load(code, self.found, "i32", str(pair * rows), rows)
        return load_single(code, self.found, "i32", str(pair), rows)


# --- floats --------------------------------------------------------------------------------------


def _by_runs(
    code: CodeBuilder, shape: MatrixShape, right: _Right, c: LaneVector
) -> tuple[LaneVector, str]:
    """Add each run of products to the result of the previous ones.

    Returns:
        The sums, and whether some of them are wrong.
    """
    rows = shape.rows
    bad = splat("i1", 0, rows)
    least, result = shape.least[element(shape.types["c"])], c
    for start in range(0, shape.depth, shape.run):
        of_c = exponents(code, c, least)
        negative = code.compare("eq", code.bitcast(c, "i32"), splat("i32", 1 << 31, rows))
        wrong = code.binary("or", beyond(code, of_c, _LIMIT), negative)
        bad = code.binary("or", bad, wrong)
        largest = _largest(code, shape, right, start, of_c)
        scale = _power(code, code.binary("sub", splat("i32", shape.kept, rows), largest))
        total = _total(code, shape, right, start, c, scale)
        down = code.binary("sub", largest, splat("i32", shape.kept, rows))
        result = _rounded(code, shape, total, _power(code, down))
        least = shape.least[element(shape.types["d"])]
        c = result if result.element == "float" else code.cast("fpext", result, "float")
    flags = code.scalar(f"bitcast {bad.typed} to i{rows}")
    return result, code.scalar(f"icmp ne i{rows} {flags}, 0")


def _power(code: CodeBuilder, exponent: LaneVector) -> LaneVector:
    """Return powers of two."""
    biased = code.binary("add", exponent, splat("i32", _BIAS, exponent.count))
    bits = code.binary("shl", biased, splat("i32", _FRACTION, exponent.count))
    return code.bitcast(bits, "float")


def _largest(
    code: CodeBuilder, shape: MatrixShape, right: _Right, start: int, of_c: LaneVector
) -> LaneVector:
    """Return the largest exponents of a run: pairs of 16 bits are compared together."""
    rows = shape.rows
    most: LaneVector | None = None
    for pair in range(start // 2, (start + shape.run) // 2):
        a = load(code, "%a.exponents", "i32", str(pair * rows), rows)
        b = right.exponents(code, pair)
        both = code.binary("add", code.bitcast(a, "i16"), code.bitcast(b, "i16"))
        most = both if most is None else greater(code, most, both)
    assert most is not None
    words = code.bitcast(most, "i32")
    sixteen = splat("i32", 16, rows)
    lower = code.binary("ashr", code.binary("shl", words, sixteen), sixteen)
    found = greater(code, lower, code.binary("ashr", words, sixteen))
    return greater(code, greater(code, found, of_c), splat("i32", _FLOOR, rows))


def _total(
    code: CodeBuilder,
    shape: MatrixShape,
    right: _Right,
    start: int,
    c: LaneVector,
    scale: LaneVector,
) -> LaneVector:
    """Return the sums of a run, as integers in f64."""
    rows = shape.rows
    group = code.cast("fptosi", code.binary("fmul", c, scale), "i32")
    groups = []
    most = _PRODUCTS if shape.kept > 16 else shape.run
    for number, place in enumerate(range(start, start + shape.run)):
        a = load(code, "%a.values", "float", str(place * rows), rows)
        product = code.binary("fmul", a, right.value(code, place))
        term = code.cast("fptosi", code.binary("fmul", product, scale), "i32")
        if number and number % most == 0:
            groups.append(group)
            group = term
        else:
            group = code.binary("add", group, term)
    wide = [code.cast("sitofp", each, "double") for each in (*groups, group)]
    total = wide[0]
    for each in wide[1:]:
        total = code.binary("fadd", total, each)
    return total


def _rounded(
    code: CodeBuilder, shape: MatrixShape, total: LaneVector, down: LaneVector
) -> LaneVector:
    """Round sums, which are neither subnormal nor infinite, and scale them back."""
    rows = shape.rows
    if shape.result != "float":
        exact = code.binary("fmul", total, code.cast("fpext", down, "double"))
        return _rounded_exactly(code, shape, exact)
    kept = _TO_SINGLE
    if shape.kept < _FRACTION:
        kept = -1 << 52 - shape.kept & (1 << 64) - 1
    bits = code.binary("and", code.bitcast(total, "i64"), splat("i64", kept, rows))
    single = code.cast("fptrunc", code.bitcast(bits, "double"), "float")
    return code.binary("fmul", single, down)


def _with_addend(
    code: CodeBuilder, shape: MatrixShape, total: LaneVector, c: LaneVector
) -> LaneVector:
    """Add C to a sum."""
    target, rows = shape.types["d"], shape.rows
    name = f"with.addend.{target.name}.{rows}"

    def added(result: Array, c: Array, d: Array) -> None:
        np.copyto(d, with_addend(result, c, target.name))

    kinds = target.dtype, np.dtype(np.float32)
    return traced(code, name, added, kinds, target.dtype, [total, c])


def _chains(code: CodeBuilder, shape: MatrixShape) -> None:
    """Compute f64 by consecutive fused multiply-adds along k."""
    rows, name, double = shape.rows, f"chained.{shape.rows}", np.dtype(np.float64)
    with counted(code, shape.columns) as column:
        place = scaled(code, column, rows)
        total = load(code, "%c", "double", place, rows)
        for k in range(shape.depth):
            a = load(code, "%a", "double", str(k * rows), rows)
            b = load_single(code, "%b", "double", scaled(code, column, shape.depth, k), rows)
            total = traced(code, name, fused_f64, [double] * 3, double, [a, b, total])
        store(code, total, "%d", place)


def _define_exact_column(module: ModuleText, shape: MatrixShape) -> None:
    """Define ``column.SHAPE(a, b, c, d)`` of the numbers of a column, which computes in f64."""
    code, rows = CodeBuilder(module), shape.rows
    code.label("entry")
    code.line(f"%total = alloca <{rows} x double>, align 64")
    code.line(f"%single = alloca <{rows} x float>, align 64")
    c = "%c"
    least = [shape.least[element(shape.types[which])] for which in "abc"]
    for start in range(0, shape.depth, shape.run):
        numbers = rows, start, shape.run, shape.kept, *least, shape.sparsity is not None
        given = ", ".join(f"i32 {int(number)}" for number in numbers)
        call(code, "void", "sum_exactly", f"ptr %a, ptr %b, ptr {c}, ptr %total, {given}")
        result = _rounded_exactly(code, shape, load(code, "%total", "double", "0", rows))
        single = result if result.element == "float" else code.cast("fpext", result, "float")
        c, least[2] = "%single", shape.least[element(shape.types["d"])]
        store(code, single, c, "0")
    store(code, result, "%d", "0")
    code.line("ret void")
    code.define(f"void @column.{shape.name}(ptr %a, ptr %b, ptr %c, ptr %d)")


def _rounded_exactly(code: CodeBuilder, shape: MatrixShape, exact: LaneVector) -> LaneVector:
    """Round sums in f64."""
    target, rows = shape.types["d"], shape.rows
    shortens = shape.by_warpgroup and shape.has_eight_bits and target.name == "f32"
    name = f"rounded.{target.name}.{rows}.{int(shortens)}"

    def function(total: Array, d: Array) -> None:
        result = rounded_sum(total, target.name)
        np.copyto(d, shortened(result) if shortens else result)

    return traced(code, name, function, [np.dtype(np.float64)], target.dtype, [exact])


# --- sparse matrices -----------------------------------------------------------------------------


def _unit_bytes(shape: MatrixShape) -> int:
    return 2 if shape.types["a"].bits >= 16 else 1


def _find_units(code: CodeBuilder, shape: MatrixShape) -> None:
    """Write the places of the units of B that the elements of A are multiplied by."""
    sparsity, bits = shape.sparsity, f"units.{shape.name}"
    assert sparsity is not None
    table = constant((32 * sparsity.lane + sparsity.shift).astype(np.uint32))
    code.module.define(bits, f"@{bits} = internal constant {table.typed}")
    given = f"i32 {shape.rows}, i32 {sparsity.chunks}, i32 {_unit_bytes(shape)}"
    arguments = f"ptr %metadata, ptr @{bits}, ptr %b.places, {given}"
    call(code, "void", "find_units", arguments)


# --- integers ------------------------------------------------------------------------------------


def _of_integers(code: CodeBuilder, shape: MatrixShape, right: _Right, c: LaneVector) -> LaneVector:
    rows = shape.rows
    total = splat("i32", 0, rows)
    for place in range(shape.depth // 2):
        a = load(code, "%a.values", "i32", str(place * rows), rows)
        total = code.binary("add", total, _pair_products(code, a, right.value(code, place)))
    if not shape.satfinite:
        return code.binary("add", total, c)
    wide = code.binary("add", code.cast("sext", total, "i64"), code.cast("sext", c, "i64"))
    wide = code.intrinsic("smin", wide, splat("i64", _MOST_INTEGER, rows))
    wide = code.intrinsic("smax", wide, splat("i64", _LEAST_INTEGER, rows))
    return code.cast("trunc", wide, "i32")


def _pair_products(code: CodeBuilder, a: LaneVector, b: LaneVector) -> LaneVector:
    """Return the sums of the products of two pairs of 16 bits: one instruction on x86."""
    if not IS_X86:
        half = splat("i32", 16, a.count)
        upper = [code.binary("ashr", x, half) for x in (a, b)]
        lower = [code.binary("ashr", code.binary("shl", x, half), half) for x in (a, b)]
        return code.binary("add", code.binary("mul", *upper), code.binary("mul", *lower))
    function = "@llvm.x86.avx2.pmadd.wd"
    code.module.declare(f"declare <8 x i32> {function}(<16 x i16>, <16 x i16>)")
    parts = []
    for start in range(0, a.count, 8):
        given = [code.bitcast(code.shuffle(x, range(start, start + 8)), "i16") for x in (a, b)]
        text = f"call <8 x i32> {function}({given[0].typed}, {given[1].typed})"
        parts.append(code.vector(text, "i32", 8))
    while len(parts) > 1:
        parts = [
            code.shuffle(x, range(2 * x.count), y)
            for x, y in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]
