"""The code of ``mma`` and ``wmma.mma``: one function per shape and types.

It writes the elements that lanes hold to matrices in memory, multiplies them row by row, a vector
for the columns, and reads the elements of the result back. Sums follow ``numerics/products.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.accesses import AccessCode
from cudarun.emulator.compiled.lowering import LaneType, lane_type, lower
from cudarun.emulator.compiled.operators import Untraceable
from cudarun.emulator.compiled.registers import WarpRegisters
from cudarun.emulator.compiled.sums import MatrixShape, define_product, memory_type
from cudarun.emulator.compiled.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    constant,
    splat,
    vector_type,
)
from cudarun.emulator.machine.matrices import (
    Multiply,
    WarpMultiply,
    accumulator_places,
    fragment,
    left_matrix,
    numbers,
    right_matrix,
    shape_of,
)
from cudarun.emulator.numerics.rounding import NEAREST
from cudarun.emulator.numerics.types import Type, TypeKind

Array = npt.NDArray[np.int64]
_FLOATS = ("f16", "bf16", "tf32")


class ElementPlaces(NamedTuple):
    """Row and column in a matrix of the elements that lanes hold, by lane and number."""

    row: Array
    column: Array


class MatrixCode:
    """The code of matrix products.

    Args:
        code: Where it goes.
        registers: The registers.
        accesses: Compiles the call of the interpreter for incomplete warps.
    """

    def __init__(self, code: CodeBuilder, registers: WarpRegisters, accesses: AccessCode) -> None:
        self._code = code
        self._registers = registers
        self._accesses = accesses

    def multiply(self, operation: Action, mask: str) -> None:
        """Compile ``mma`` or ``wmma.mma``."""
        code, action = self._code, operation.action
        assert isinstance(action, Multiply | WarpMultiply)
        sources = [self._registers.source(use) for use in operation.sources]
        kinds = [lane_type(use) for use in operation.destinations]
        name = _define(code.module, operation, sources)
        whole, part, join = (code.fresh(stem) for stem in ("whole", "part", "join"))
        full = code.scalar(f"icmp eq i32 {mask}, -1")
        code.line(f"br i1 {full}, label %{whole}, label %{part}, !prof !1")
        code.label(part)
        executed = self._accesses.executed(operation, sources, mask)
        after = code.fresh("after")
        code.line(f"br label %{after}")
        code.label(after)
        code.line(f"br label %{join}")
        code.label(whole)
        given = ", ".join(value.typed for value in sources)
        types = "{ " + ", ".join(kind.type for kind in kinds) + " }"
        together = code.scalar(f"call {types} @{name}({given})")
        results = [
            code.vector(f"extractvalue {types} {together}, {place}", kind.element)
            for place, kind in enumerate(kinds)
        ]
        code.line(f"br label %{join}")
        code.label(join)
        joined = []
        for a, b in zip(results, executed, strict=True):
            text = f"phi {a.type} [ {a.name}, %{whole} ], [ {b.name}, %{after} ]"
            joined.append(code.vector(text, a.element, a.count))
        for use, value in zip(operation.destinations, joined, strict=True):
            self._registers.write(use, value)


def _define(module: ModuleText, operation: Action, sources: list[LaneVector]) -> str:
    """Define the function of a product, and return its name."""
    action = operation.action
    assert isinstance(action, Multiply | WarpMultiply)
    types, counts = action.types, action.counts
    shape = MatrixShape(*shape_of(action.words["shape"]), action.run, types, action.satfinite)
    is_float = types["a"].name in _FLOATS
    is_integer = types["a"].kind is not TypeKind.FLOAT and types["a"].bits == 8
    is_double = types["a"].name == "f64" and action.mode == NEAREST
    if not (is_float or is_integer or is_double):
        raise Untraceable(f"a product of {types['a'].name}")
    if isinstance(action, Multiply):
        if action.sparsity:
            raise Untraceable("a product of a sparse matrix")
        places = _places(action, [use.type.bits for use in operation.sources], shape)  # type: ignore[union-attr]
        kind = "mma"
    else:
        places = _warp_places(operation)
        kind = f"wmma.{action.words.get('alayout', '')}.{action.words.get('blayout', '')}"
    names = ".".join(types[which].name for which in "dabc")
    name = f"{kind}.m{shape.m}n{shape.n}k{shape.k}.{names}.{int(action.satfinite)}"
    if module.defines(name):
        return name
    module.define(name, "")  # also while it is being defined
    define_product(module, f"product.{name}", shape)
    code = CodeBuilder(module)
    for which, rows, columns in (
        ("a", shape.m, shape.k), ("b", shape.k, shape.n), ("c", shape.m, shape.n),
    ):  # fmt: skip
        code.line(f"%{which}.at = alloca [{rows * columns} x {memory_type(shape)}], align 64")
    code.line(f"%d.at = alloca [{shape.m * shape.n} x {shape.result}], align 64")
    start = 0
    for which, count, columns in zip("abc", counts, (shape.k, shape.n, shape.n), strict=True):
        given = [
            LaneVector(f"%r{start + n}", sources[start + n].element, sources[start + n].count)
            for n in range(count)
        ]
        start += count
        _scatter(code, which, given, types[which], places[which], columns, memory_type(shape))
    code.line(f"call void @product.{name}(ptr %a.at, ptr %b.at, ptr %c.at, ptr %d.at)")
    kinds = [lane_type(use) for use in operation.destinations]
    _return(code, kinds, places["d"], shape)
    parameters = ", ".join(f"{value.type} %r{n}" for n, value in enumerate(sources))
    types_text = "{ " + ", ".join(kind.type for kind in kinds) + " }"
    head = f"define internal {types_text} @{name}({parameters}) noinline #0 {{"
    module.define(name, "\n".join([head, *code.lines, "}"]))
    return name


def _places(action: Multiply, bits: list[int], shape: MatrixShape) -> dict[str, ElementPlaces]:
    """Return the places of the elements of ``mma``."""
    a_count, b_count, _ = action.counts
    of_a, of_b = bits[0] // shape.types["a"].bits, bits[a_count] // shape.types["b"].bits
    lanes = np.arange(WIDTH)
    left = lanes[:, None] * a_count * of_a + np.arange(a_count * of_a)
    right = lanes[:, None] * b_count * of_b + np.arange(b_count * of_b)
    a = left_matrix(left.reshape(1, WIDTH, a_count, of_a), shape.m, shape.k)[0]
    b = right_matrix(right.reshape(1, WIDTH, b_count, of_b), shape.k, shape.n)[0]
    row, column = accumulator_places(shape.m * shape.n // WIDTH)
    sums = ElementPlaces(row, np.broadcast_to(column, row.shape))
    return {"a": _inverse(a), "b": _inverse(b), "c": sums, "d": sums}


def _inverse(numbers_: Array) -> ElementPlaces:
    """Return the places of elements from a matrix with their numbers."""
    order = np.argsort(numbers_, axis=None)
    row, column = np.unravel_index(order, numbers_.shape)
    return ElementPlaces(row.reshape(WIDTH, -1), column.reshape(WIDTH, -1))


def _warp_places(operation: Action) -> dict[str, ElementPlaces]:
    """Return the places of the elements of ``wmma.mma``; copies of the same are left out."""
    action = operation.action
    assert isinstance(action, WarpMultiply)
    found, start = {}, 0
    uses = (*operation.sources, *operation.destinations)
    counts = (*action.counts, len(operation.destinations))
    for which, count in zip("abcd", counts, strict=True):
        dtype = lane_type(uses[start]).dtype
        start += count
        held = fragment(action.words, which, action.types[which], count, dtype)
        once = held.count if which == "d" else held.once
        found[which] = ElementPlaces(held.row[:, :once], held.column[:, :once])
    return found


def _scatter(
    code: CodeBuilder,
    which: str,
    registers: list[LaneVector],
    ptx_type: Type,
    places: ElementPlaces,
    columns: int,
    stored: str,
) -> None:
    """Write the elements in registers to a matrix in memory, as f64 or integers."""
    name = f"numbers.{ptx_type.name}"
    dtype = np.dtype(np.float64 if ptx_type.kind is TypeKind.FLOAT else np.int64)
    if not code.module.defines(name):

        def convert(a: npt.NDArray[np.generic], d: npt.NDArray[np.generic]) -> None:
            np.copyto(d, numbers(a, ptx_type))

        text = lower(code.module, name, convert, [LaneType(ptx_type.dtype)], [LaneType(dtype)])
        code.module.define(name, text)
    element = LaneType(ptx_type.dtype).element
    kind = LaneType(dtype)
    scatter = f"@llvm.masked.scatter.v32{_letter(stored)}.v32p0"
    value_type = vector_type(stored)
    code.module.declare(f"declare void {scatter}({value_type}, <32 x ptr>, i32, <32 x i1>)")
    true = splat("i1", True).typed
    for number in range(places.row.shape[1]):
        value = _element(code, registers, number, element)
        wide = code.vector(f"call {kind.type} @{name}({value.typed})", kind.element)
        if stored == "i32":
            wide = code.cast("trunc", wide, "i32")
        at = places.row[:, number] * columns + places.column[:, number]
        index = constant(at.astype(np.int32))
        pointers = code.scalar(f"getelementptr {stored}, ptr %{which}.at, {index.typed}")
        code.line(f"call void {scatter}({wide.typed}, <32 x ptr> {pointers}, i32 4, {true})")


def _letter(element: str) -> str:
    return {"double": "f64", "float": "f32", "half": "f16"}.get(element, element)


def _element(
    code: CodeBuilder, registers: list[LaneVector], number: int, element: str
) -> LaneVector:
    """Return one of the elements that every lane holds in its registers."""
    whole = code.bitcast(registers[0], element)
    each = whole.count // WIDTH
    register = code.bitcast(registers[number // each], element)
    return code.shuffle(register, range(number % each, register.count, each))


def _return(
    code: CodeBuilder, kinds: list[LaneType], places: ElementPlaces, shape: MatrixShape
) -> None:
    """Return the registers with the elements of the result."""
    element = shape.result
    integer = element if element.startswith("i") else f"i{8 * shape.result_bytes}"
    each = places.row.shape[1] // len(kinds)
    gather = f"@llvm.masked.gather.v32{integer}.v32p0"
    kind = vector_type(integer)
    code.module.declare(f"declare {kind} {gather}(<32 x ptr>, i32, <32 x i1>, {kind})")
    true = splat("i1", True).typed
    types = "{ " + ", ".join(each_kind.type for each_kind in kinds) + " }"
    together = "poison"
    for number, lane_kind in enumerate(kinds):
        parts = []
        for part in range(each):
            place = number * each + part
            at = places.row[:, place] * shape.n + places.column[:, place]
            index = constant(at.astype(np.int32))
            pointers = code.scalar(f"getelementptr {integer}, ptr %d.at, {index.typed}")
            given = f"<32 x ptr> {pointers}, i32 {shape.result_bytes}, {true}, {kind} poison"
            parts.append(code.vector(f"call {kind} {gather}({given})", integer))
        value = parts[0]
        if each > 1:
            order = [place for lane in range(WIDTH) for place in (lane, WIDTH + lane)]
            value = code.shuffle(parts[0], order, parts[1])
        value = code.bitcast(value, lane_kind.element)
        together = code.scalar(f"insertvalue {types} {together}, {value.typed}, {number}")
    code.line(f"ret {types} {together}")
