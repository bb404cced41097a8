"""The code of ``wgmma.mma_async``: each warp computes its 16 rows of the product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import AccessCode
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.permutations import counted, permuted
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, ModuleText, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.products.elements import load, scaled, store
from cudarun.emulator.compiled.products.matrices import (
    put_sums,
    register_numbers,
    result_words,
    results_table,
    sums_table,
)
from cudarun.emulator.compiled.products.shapes import MatrixShape
from cudarun.emulator.compiled.products.sums import define_product
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field, pointer_to
from cudarun.emulator.compiled.state.registers import WarpRegisters
from cudarun.emulator.compiled.state.sites import call_back, pass_values, take_results
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.lanes import indices, of
from cudarun.emulator.machine.matrices import accumulator_places, left_matrix
from cudarun.emulator.machine.threads import WARPGROUP
from cudarun.emulator.machine.warpgroups import MultiplyAsync
from cudarun.emulator.numerics.arrays import Arrays

_ROWS = 16  # of a warp
_PARTS = 2  # chunks of a line of A along k


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


class WarpgroupProducts(AccessRules):
    """The code of the instruction.

    The operands are in columns of the scratch, from where a function takes them, as does the caller
    if it has to execute the instruction.

    Args:
        accesses: Compiles the call of the interpreter.
        is_whole: Returns whether all lanes of the warpgroup are there, given the active ones.
    """

    def __init__(
        self,
        code: CodeBuilder,
        registers: WarpRegisters,
        accesses: AccessCode,
        is_whole: Callable[[str], str],
    ) -> None:
        super().__init__(code, registers, accesses)
        self._is_whole = is_whole

    def multiply(self, operation: Action, mask: str) -> None:
        """Compile ``wgmma.mma_async``."""
        code, action = self._code, operation.action
        assert isinstance(action, MultiplyAsync)
        name = define_warp_product(code.module, action, len(operation.sources))
        sources = self._sources(operation)
        kinds = [lane_type(use) for use in operation.destinations]
        pass_values(code, sources)
        whole, slow, done = (code.fresh(stem) for stem in ("whole", "slow", "done"))
        code.line(f"br i1 {self._is_whole(mask)}, label %{whole}, label %{slow}, !prof !1")
        code.label(whole)
        scratch = field(code, "%ctx", layout.SCRATCH, "ptr")
        good = code.scalar(f"call i1 @{name}(ptr %ctx, ptr {scratch}, i32 %warp)")
        code.line(f"br i1 {good}, label %{done}, label %{slow}, !prof !1")
        code.label(slow)
        of_warp = replace(operation, action=ProductOfWarp(action))
        answer = call_back(code, self._accesses.site(of_warp, tuple(kinds)), mask)
        wrong = code.scalar(f"icmp eq i32 {answer}, {layout.FAULT}")
        code.line(f"br i1 {wrong}, label %fault, label %{done}")
        code.label(done)
        self._finish(operation, take_results(code, len(sources), kinds))


def define_warp_product(module: ModuleText, action: MultiplyAsync, sources: int) -> str:
    """Define ``name(ctx, scratch, warp)``, which returns whether it has multiplied.

    It has not if operands that have to be uniform are not, or if a matrix is beyond shared memory.
    """
    depth = action.k // 2 if action.sparsity else action.k
    shape = MatrixShape(
        _ROWS, action.n, depth, depth, action.types, action.satfinite,
        "and" if action.types["a"].name == "b1" else "", sparsity=action.sparsity,
        by_warpgroup=True, negated=action.negated[0] != action.negated[1],
    )  # fmt: skip
    turned = "".join(str(int(each)) for each in action.transposed)
    name = f"wgmma.{shape.name}.{action.left_registers}.{turned}"
    if module.defines(name):
        return name
    code = CodeBuilder(module)
    code.label("entry")
    sizes = {
        "a": (shape.words * _ROWS, "i32"),
        "b": (shape.columns * shape.right_words, "i32"),
        "c": (shape.columns * _ROWS, shape.addend), "d": (shape.columns * _ROWS, shape.result),
    }  # fmt: skip
    for which, (size, kind) in sizes.items():
        code.line(f"%{which} = alloca [{size} x {kind}], align 64")
    first = action.accumulators
    b_place = first + (action.left_registers or 1)
    keep = _column(code, sources - 1)
    read = [call(code, "i32", "are_equal", f"ptr {keep}, i64 1")]
    if action.left_registers:
        _left_from_registers(code, shape, first, action.left_registers)
    else:
        given = f"ptr %ctx, i32 {first}, i32 %warp, i32 {int(action.transposed[0])}, ptr %a"
        read.append(call(code, "i32", "read_left", given))
    parts = f"i64 {_PARTS * (1 + (shape.sparsity is not None))}, i32 {int(action.transposed[1])}"
    given = f"ptr %ctx, i32 {b_place}, i64 {shape.columns}, {parts}, ptr %b"
    read.append(call(code, "i32", "read_right", given))
    every = reduce(lambda a, b: code.scalar(f"and i32 {a}, {b}"), read)
    good = code.scalar(f"icmp ne i32 {every}, 0")
    code.line(f"br i1 {good}, label %inside, label %refused, !prof !1")
    code.label("refused")
    code.line("ret i1 false")
    code.label("inside")
    kept = code.scalar(f"icmp ne i8 {code.scalar(f'load i8, ptr {keep}')}, 0")
    registers = action.accumulators * 8 // shape.columns  # of eight columns
    _take_sums(code, shape, registers, kept)
    metadata = _column(code, b_place + 1)
    product = define_product(module, shape)
    code.line(f"call void @{product}(ptr %a, ptr %b, ptr %c, ptr %d, ptr {metadata})")
    _pass_results(code, shape, registers, sources)
    code.line("ret i1 true")
    code.define(f"i1 @{name}(ptr %ctx, ptr %scratch, i32 %warp)")
    return name


def _column(code: CodeBuilder, place: int) -> str:
    return pointer_to(code, "%scratch", place * layout.COLUMN_BYTES)


def _left_from_registers(code: CodeBuilder, shape: MatrixShape, first: int, count: int) -> None:
    """Write the words of A in registers to memory: by number of the word, and row."""
    registers = [
        load(code, _column(code, first + number), "i32", "0", WIDTH) for number in range(count)
    ]
    table = left_matrix(register_numbers(count).T[None, :, :, None], shape.rows, shape.words)[0]
    for number, row in enumerate(table.T):
        store(code, permuted(code, registers, row), "%a", str(number * shape.rows))


def _eight_columns(code: CodeBuilder, group: str, which: str, kind: str) -> str:
    """Return the pointer to eight columns of C or D."""
    at = scaled(code, group, 8 * _ROWS)
    return code.scalar(f"getelementptr {kind}, ptr %{which}, i64 {at}")


def _of_group(code: CodeBuilder, first: int, group: str, registers: int, number: int) -> str:
    """Return the pointer to the column of the scratch with a register of eight columns."""
    bytes_ = layout.COLUMN_BYTES
    at = scaled(code, group, registers * bytes_, (first + number) * bytes_)
    return pointer_to(code, "%scratch", at)


def _take_sums(code: CodeBuilder, shape: MatrixShape, registers: int, kept: str) -> None:
    """Write C from registers to memory, or zeros."""
    eight = replace(shape, columns=8)
    row, column = accumulator_places(8 * _ROWS // WIDTH)
    table = sums_table(eight, row, np.broadcast_to(column, row.shape), registers)
    with counted(code, shape.columns // 8) as group:
        words = [
            load(code, _of_group(code, 0, group, registers, number), "i32", "0", WIDTH)
            for number in range(registers)
        ]
        columns = _eight_columns(code, group, "c", shape.addend)
        for number, places in enumerate(table):
            found = permuted(code, words, places)
            zero = splat("i32", 0, _ROWS)
            text = f"select i1 {kept}, {found.typed}, {zero.typed}"
            put_sums(code, eight, code.vector(text, "i32", _ROWS), columns, number)


def _pass_results(code: CodeBuilder, shape: MatrixShape, registers: int, first: int) -> None:
    """Write D from memory to registers."""
    row, column = accumulator_places(8 * _ROWS // WIDTH)
    column = np.broadcast_to(column, row.shape)
    table = results_table(replace(shape, columns=8), row, column, shape.types["d"])
    with counted(code, shape.columns // 8) as group:
        columns = _eight_columns(code, group, "d", shape.result)
        words = result_words(code, shape, columns, 8)
        for number, places in enumerate(table):
            found = permuted(code, words, places)
            store(code, found, _of_group(code, first, group, registers, number), "0")
