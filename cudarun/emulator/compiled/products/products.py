"""The code of ``mma``, ``wmma.mma`` and ``wgmma.mma_async``: ``native/products.c`` multiplies.

The operands are in columns of the scratch, from where a function takes them, as does the caller if
it has to execute the instruction. There is one function per shape and types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.lanes.lowering import traced
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    constant,
    element_of,
    vector_type,
)
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.products.shapes import MatrixProduct
from cudarun.emulator.compiled.state.sites import pass_values
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.fragments import shape_of
from cudarun.emulator.machine.lanes import indices, of
from cudarun.emulator.machine.matrices import Multiply, WarpMultiply, numbers
from cudarun.emulator.machine.threads import WARPGROUP
from cudarun.emulator.machine.warpgroups import MultiplyAsync
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.fused import fused_f64
from cudarun.emulator.numerics.products import rounded_sum, shortened, with_addend
from cudarun.emulator.numerics.rounding import NEAREST
from cudarun.emulator.numerics.types import Type

_ROWS = 16  # of a vector in C, and of a warp of a warpgroup
_EIGHT = 8  # numbers of a vector of f64
_ROOM = 16  # numbers behind a matrix that vectors can reach
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class ProductOfWarp:
    """A product of a warpgroup that is executed for one of its warps.

    The other lanes get the operands of the first lane of the warp: they do not change its rows.
    """

    def __init__(self, action: MultiplyAsync) -> None:
        self.action = action

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Multiply, or raise the fault; the arguments are those of the warp."""
        own = indices(active.lanes)
        threads = active.batch.threads.threads
        block = own[0] // threads * threads
        first = block + (own[0] - block) // WARPGROUP * WARPGROUP
        last = min(first + WARPGROUP, block + threads)
        lanes = first + np.flatnonzero(active.batch.alive[first:last])
        group = Active(active.batch, active.path, active.frame, of(lanes))
        group.site = active.site
        places = np.flatnonzero(np.isin(lanes, own))
        given = []
        for source in sources:
            values = np.repeat(source[:1], len(lanes), axis=0)
            values[places] = source
            given.append(values)
        results = tuple(np.repeat(each[:1], len(lanes), axis=0) for each in destinations)
        self.action(group, tuple(given), results)
        for destination, result in zip(destinations, results, strict=True):
            np.copyto(destination, result[places])


class MatrixProducts(AccessRules):
    """The code of the instructions."""

    def multiply(self, operation: Action, mask: str) -> None:
        """Compile ``mma`` or ``wmma.mma``."""
        code, action = self._code, operation.action
        assert isinstance(action, Multiply | WarpMultiply)
        if not _is_compiled(action):
            self._accesses.call(operation, mask)
            return
        name = _define(code.module, _product(operation))

        def multiplied() -> Sequence[LaneVector]:
            pass_values(code, sources)
            code.line(f"call void @{name}(ptr %ctx)")
            return ()

        full, sources = code.scalar(f"icmp eq i32 {mask}, -1"), self._sources(operation)
        results = self._executed_unless(full, operation, sources, mask, multiplied)
        self._finish(operation, results)

    def multiply_by_warpgroup(self, operation: Action, mask: str) -> None:
        """Compile ``wgmma.mma_async``: each warp computes its 16 rows of the product.

        The caller executes it if lanes of the warpgroup are missing, if operands that have to be
        uniform are not, or if a matrix is beyond shared memory.
        """
        code, action = self._code, operation.action
        assert isinstance(action, MultiplyAsync)
        name = _define(code.module, _product_of_group(operation))
        sources = self._sources(operation)
        pass_values(code, sources)
        done = code.scalar(f"call i32 @{name}(ptr %ctx, i32 %warp, i32 {mask})")
        good = code.scalar(f"icmp ne i32 {done}, 0")
        of_warp = replace(operation, action=ProductOfWarp(action))
        results = self._executed_unless(good, of_warp, sources, mask, tuple)
        self._finish(operation, results)


def _is_compiled(action: Multiply | WarpMultiply) -> bool:
    """Return whether a product is compiled, and not executed by the caller.

    The caller executes f64 with directed rounding, of which the NaN are those of numpy's order of
    operands, and raises the fault of a selector.
    """
    if action.types["a"].name == "f64":
        return action.mode == NEAREST
    return not isinstance(action, Multiply) or not action.sparsity or action.sparsity.valid


def _product(operation: Action) -> MatrixProduct:
    """Return the product of ``mma`` or ``wmma.mma``."""
    action = operation.action
    assert isinstance(action, Multiply | WarpMultiply)
    a, b, c = action.counts
    places = {"a": 0, "b": a, "c": a + b, "metadata": a + b + c, "d": len(operation.sources)}
    types = action.types
    if isinstance(action, Multiply):
        return MatrixProduct(
            action.m, action.n, action.a_elements, action.run, types, places, action.satfinite,
            action.op, action.mode, action.sparsity,
        )  # fmt: skip
    m, n, k = shape_of(action.words["shape"])
    if n > m:  # the transposed matrices are multiplied
        m, n = n, m
        types = types | {"a": types["b"], "b": types["a"]}
        places |= {"a": places["b"], "b": places["a"]}
    return MatrixProduct(m, n, k, action.run, types, places, action.satfinite, mode=action.mode)


def _product_of_group(operation: Action) -> MatrixProduct:
    """Return the rows of one warp of the product of ``wgmma.mma_async``."""
    action, count = operation.action, len(operation.sources)
    assert isinstance(action, MultiplyAsync)
    a, b = action.accumulators, action.accumulators + (action.left_registers or 1)
    depth = action.k // 2 if action.sparsity else action.k
    return MatrixProduct(
        _ROWS, action.n, depth, depth, action.types,
        {"a": a, "b": b, "c": 0, "metadata": b + 1, "keep": count - 1, "d": count},
        action.satfinite, "and" if action.types["a"].name == "b1" else "",
        sparsity=action.sparsity, by_warpgroup=True,
        negated=action.negated[0] != action.negated[1],
        in_registers=bool(action.left_registers),
        across=(action.transposed[0], action.transposed[1]),
    )  # fmt: skip


# --- functions -----------------------------------------------------------------------------------


def _define(module: ModuleText, product: MatrixProduct) -> str:
    """Define the function of a product, of the context, and of a warp of a warpgroup."""
    facts = product.numbers()
    types = ".".join(product.types[which].name for which in "dabc")
    name = f"product.{types}.{'.'.join(map(str, facts.values()))}"
    if product.sparsity is not None:
        name += f".sparse{product.sparsity.selector}"
    if module.defines(name):
        return name
    listed = ", ".join(f"i32 {number}" for number in facts.values())
    constants = f"[{len(facts)} x i32]"
    module.define(f"{name}.facts", f"@{name}.facts = internal constant {constants} [{listed}]")
    code = CodeBuilder(module)
    size = 8 if product.is_double else 4
    for which, count in (
        ("a", product.rows * product.words),
        ("b", product.columns * product.right_words),
        *((each, product.rows * product.columns) for each in "cd"),
    ):
        code.line(f"%{which} = alloca [{(count + _ROOM) * size} x i8], align 64")
        room = code.scalar(f"getelementptr i8, ptr %{which}, i64 {count * size}")
        code.line(f"store <{_ROOM * size} x i8> zeroinitializer, ptr {room}, align 4")
    functions = _functions(module, product, name)
    given = f"ptr @{name}.facts, ptr %a, ptr %b, ptr %c, ptr %d, {functions}"
    if product.by_warpgroup:
        group = f"ptr %ctx, i32 %warp, i32 %mask, {given}"
        code.line(f"ret i32 {call(code, 'i32', 'multiply_group', group, inline=True)}")
        code.define(f"i32 @{name}(ptr %ctx, i32 %warp, i32 %mask)", "hidden noinline")
    else:
        call(code, "void", "multiply_warp", f"ptr %ctx, {given}", inline=True)
        code.line("ret void")
        code.define(f"void @{name}(ptr %ctx)", "hidden noinline")
    return name


def _functions(module: ModuleText, product: MatrixProduct, name: str) -> str:
    """Define the functions over numbers that a product needs; return the arguments."""
    if product.is_double:
        return f"{'ptr null, ' * 6}ptr @{_define_chain(module)}"
    if not product.is_float:
        return f"ptr {_metadata(module, product)}, {', '.join(['ptr null'] * 6)}"
    target = product.types["d"]
    a, b = (_define_conversion(module, product.types[which]) for which in "ab")
    rounding = _define_rounding(module, target, shortens=product.shortens)
    add = _define_addition(module, target)
    code = CodeBuilder(module)
    given = f"ptr @{name}.facts, ptr %a, ptr %b, ptr %c, ptr %sums, ptr @{rounding}"
    call(code, "void", "sum_exactly", given, inline=True)
    code.line("ret void")
    code.define(f"void @{name}.exact(ptr %a, ptr %b, ptr %c, ptr %sums)")
    functions = ", ".join(f"ptr @{each}" for each in (a, b, rounding, add, f"{name}.exact"))
    return f"ptr {_metadata(module, product)}, {functions}, ptr null"


def _metadata(module: ModuleText, product: MatrixProduct) -> str:
    """Return the constant with the bits of metadata where chunks of rows have their places."""
    if product.sparsity is None:
        return "null"
    table = constant((32 * product.sparsity.lane + product.sparsity.shift).astype(np.uint32))
    name = f"metadata.{product.sparsity.chunks}.{product.sparsity.selector}.{product.rows}"
    name += f".{product.types['a'].bits}"
    module.define(name, f"@{name} = internal constant {table.typed}")
    return f"@{name}"


def _load(code: CodeBuilder, pointer: str, kind: str, count: int = _ROWS) -> LaneVector:
    return code.vector(f"load {vector_type(kind, count)}, ptr {pointer}, align 4", kind, count)


def _define_function(code: CodeBuilder, result: LaneVector, to: str, head: str) -> str:
    """Define a function that stores its result to memory; return its name."""
    code.line(f"store {result.typed}, ptr {to}, align 4")
    code.line("ret void")
    code.define(f"void @{head}", "internal alwaysinline")
    return head.partition("(")[0]


def _define_conversion(module: ModuleText, ptx_type: Type) -> str:
    """Define the conversion of elements to f32."""

    def convert(a: Array, d: Array) -> None:
        np.copyto(d, numbers(a, ptx_type).astype(np.float32))

    code, dtype = CodeBuilder(module), ptx_type.dtype
    name = f"numbers.{ptx_type.name}"
    bits = _load(code, "%elements", "i32")
    if ptx_type.bits < 32:
        bits = code.cast("trunc", bits, f"i{ptx_type.bits}")
    given = [code.bitcast(bits, element_of(dtype))]
    found = traced(code, f"{name}.traced", convert, [dtype], _SINGLE, given)
    return _define_function(code, found, "%numbers", f"{name}(ptr %elements, ptr %numbers)")


def _define_rounding(module: ModuleText, target: Type, *, shortens: bool) -> str:
    """Define the rounding of sums in f64 to the type of D, as f32."""

    def rounded(total: Array, d: Array) -> None:
        result = rounded_sum(total, target.name)
        np.copyto(d, shortened(result) if shortens and target.name == "f32" else result)

    code, name = CodeBuilder(module), f"rounded.{target.name}.{int(shortens)}"
    given = [_load(code, "%sums", "double")]
    found = _single(code, traced(code, f"{name}.traced", rounded, [_DOUBLE], target.dtype, given))
    return _define_function(code, found, "%results", f"{name}(ptr %sums, ptr %results)")


def _define_addition(module: ModuleText, target: Type) -> str:
    """Define the addition of C to sums of the type of D, as f32."""

    def added(result: Array, c: Array, d: Array) -> None:
        np.copyto(d, with_addend(result, c, target.name))

    code, name = CodeBuilder(module), f"with.addend.{target.name}"
    sums, c = _load(code, "%sums", "float"), _load(code, "%c", "float")
    if element_of(target.dtype) == "half":
        sums = code.cast("fptrunc", sums, "half")
    kinds = target.dtype, _SINGLE
    found = _single(code, traced(code, f"{name}.traced", added, kinds, target.dtype, [sums, c]))
    return _define_function(code, found, "%sums", f"{name}(ptr %sums, ptr %c)")


def _single(code: CodeBuilder, value: LaneVector) -> LaneVector:
    return value if value.element == "float" else code.cast("fpext", value, "float")


def _define_chain(module: ModuleText) -> str:
    """Define the addition of products of f64 with one number of B."""
    code, name = CodeBuilder(module), "chained"
    a, sums = (_load(code, each, "double", _EIGHT) for each in ("%a", "%sums"))
    b = code.broadcast("double", code.scalar("load double, ptr %b, align 8"), _EIGHT)
    found = traced(code, f"{name}.traced", fused_f64, [_DOUBLE] * 3, _DOUBLE, [a, b, sums])
    return _define_function(code, found, "%sums", f"{name}(ptr %a, ptr %b, ptr %sums)")
