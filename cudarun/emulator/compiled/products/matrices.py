"""The code of ``mma`` and ``wmma.mma``: one function per shape and types.

It writes the words that lanes hold to matrices in memory, multiplies these (``sums.py``), and reads
the words of the result back.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cudarun.base.records import dataclass
from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.lanes.lowering import lane_type, results_of, returned
from cudarun.emulator.compiled.lanes.permutations import permuted
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    splat,
)
from cudarun.emulator.compiled.products.elements import load, store
from cudarun.emulator.compiled.products.shapes import MatrixShape
from cudarun.emulator.compiled.products.sums import define_product
from cudarun.emulator.machine.matrices import (
    Multiply,
    WarpMultiply,
    accumulator_places,
    fragment,
    left_matrix,
    right_matrix,
    shape_of,
)
from cudarun.emulator.numerics.rounding import NEAREST
from cudarun.emulator.numerics.types import Type

Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """The registers of ``mma`` and ``wmma.mma`` with the words of matrices.

    A register is numbered by 32 times its place among those of its matrix, plus the lane.
    """

    shape: MatrixShape  # The product. If its matrices are transposed, A and B are exchanged.
    left: Array  # the registers with the words of A, by number of the word and row
    right: Array  # those of B, by column and number
    sums: Array  # those of C, by column, or two columns together, and row
    results: Array  # the places in D, by register and lane, in the order of ``sums``
    exchanged: bool  # True if the left matrix is B


class MatrixCode(AccessRules):
    """The code of matrix products."""

    def multiply(self, operation: Action, mask: str) -> None:
        """Compile ``mma`` or ``wmma.mma``."""
        code, action = self._code, operation.action
        assert isinstance(action, Multiply | WarpMultiply)
        sources = self._sources(operation)
        if not _is_compiled(action):
            self._accesses.call(operation, mask)
            return
        kinds = [lane_type(use) for use in operation.destinations]
        name = _define(code.module, operation, sources)
        full = code.scalar(f"icmp eq i32 {mask}, -1")
        self._finish(
            operation,
            self._executed_unless(
                full, operation, sources, mask, lambda: results_of(code, name, sources, kinds)
            ),
        )


def _is_compiled(action: Multiply | WarpMultiply) -> bool:
    """Return whether a product is compiled, and not executed by the caller.

    The caller executes f64 with directed rounding, of which the NaN are those of numpy's order of
    operands, and raises the fault of a selector.
    """
    if action.types["a"].name == "f64":
        return action.mode == NEAREST
    return not isinstance(action, Multiply) or not action.sparsity or action.sparsity.valid


def _define(module: ModuleText, operation: Action, sources: list[LaneVector]) -> str:
    """Define the function of a product of registers, and return its name."""
    action = operation.action
    assert isinstance(action, Multiply | WarpMultiply)
    if isinstance(action, Multiply):
        places = _places(action)
        kind = "mma"
    else:
        places = _warp_places(operation)
        kind = f"wmma.{action.words.get('alayout', '')}.{action.words.get('blayout', '')}"
    shape = places.shape
    name = f"{kind}.{shape.name}"
    if module.defines(name):
        return name
    module.define(name, "")  # also while it is being defined
    product = define_product(module, shape)
    code = CodeBuilder(module)
    word = "i64" if shape.is_double else "i32"
    sizes = {
        "a": (places.left.size, word), "b": (places.right.size, word),
        "c": (shape.rows * shape.columns, shape.addend),
        "d": (shape.rows * shape.columns, shape.result), "metadata": (WIDTH, "i32"),
    }  # fmt: skip
    for which, (size, kind) in sizes.items():
        code.line(f"%{which} = alloca [{size} x {kind}], align 64")
    given = [
        code.bitcast(LaneVector(f"%r{number}", value.element, value.count), word)
        for number, value in enumerate(sources)
    ]
    a_count, b_count, c_count = action.counts
    a, b = given[:a_count], given[a_count : a_count + b_count]
    c = given[a_count + b_count : a_count + b_count + c_count]
    if places.exchanged:
        a, b = b, a
    for number, row in enumerate(places.left):
        store(code, permuted(code, a, row), "%a", str(number * shape.rows))
    store(code, permuted(code, b, places.right), "%b", "0")
    for number, column in enumerate(places.sums):
        put_sums(code, shape, permuted(code, c, column), "%c", number)
    if shape.sparsity is not None:
        store(code, given[a_count + b_count + c_count], "%metadata", "0")
    code.line(f"call void @{product}(ptr %a, ptr %b, ptr %c, ptr %d, ptr %metadata)")
    columns = result_words(code, shape, "%d", shape.columns)
    kinds = [lane_type(use) for use in operation.destinations]
    result = returned(
        code,
        [
            code.bitcast(permuted(code, columns, registers), kind.element)
            for registers, kind in zip(places.results, kinds, strict=False)
        ],
    )
    parameters = ", ".join(f"{value.type} %r{n}" for n, value in enumerate(sources))
    code.define(f"{result} @{name}({parameters})")
    return name


def _places(action: Multiply) -> WordPlaces:
    """Return the places of the words of ``mma``."""
    a_count, b_count, c_count = action.counts
    types, m, n = action.types, action.m, action.n
    shape = MatrixShape(
        m, n, action.a_elements, action.run, types, action.satfinite, action.op, action.mode,
        action.sparsity,
    )  # fmt: skip
    k = action.a_elements if shape.is_double else shape.words
    right_words = k if shape.is_double else shape.right_words
    a, b = (register_numbers(count).T[None, :, :, None] for count in (a_count, b_count))
    left = left_matrix(a, m, k)[0].T
    right = right_matrix(b, right_words, n)[0].T
    row, column = accumulator_places(m * n // WIDTH)
    column = np.broadcast_to(column, row.shape)
    sums = sums_table(shape, row, column, c_count)
    results = results_table(shape, row, column, types["d"])
    return WordPlaces(shape, left, right, sums, results, exchanged=False)


def register_numbers(count: int) -> Array:
    """Return the numbers of some registers, by register and lane."""
    return np.arange(count * WIDTH).reshape(count, WIDTH)


def _warp_places(operation: Action) -> WordPlaces:
    """Return the places of the words of ``wmma.mma``, of copies those of the first one."""
    action = operation.action
    assert isinstance(action, WarpMultiply)
    fragments, start = {}, 0
    uses = (*operation.sources, *operation.destinations)
    counts = (*action.counts, len(operation.destinations))
    for which, count in zip("abcd", counts, strict=True):
        dtype = lane_type(uses[start]).dtype
        start += count
        fragments[which] = fragment(action.words, which, action.types[which], count, dtype)
    m, n, k = shape_of(action.words["shape"])
    exchanged = n > m  # pairs are along rows then
    types, matrices = dict(action.types), [fragments["a"], fragments["b"]]
    if exchanged:
        types["a"], types["b"] = types["b"], types["a"]
        m, n = n, m
    shape = MatrixShape(m, n, k, action.run, types, action.satfinite, mode=action.mode)
    words = k if shape.is_double else shape.words
    tables = []
    for matrix, lines, turned in zip(matrices, (m, n) if not exchanged else (n, m), (False, True),
                                     strict=True):  # fmt: skip
        line, step = (matrix.row, matrix.column)[:: -1 if turned else 1]
        each = k // words
        table = np.zeros((lines, words), dtype=np.int64)
        numbers_ = np.arange(matrix.once) // each * WIDTH + np.arange(WIDTH)[:, None]
        first = slice(0, matrix.once, each)
        table[line[:, first], step[:, first] // each] = numbers_[:, first]
        tables.append(table)
    if exchanged:
        tables.reverse()
    turn = -1 if exchanged else 1
    c, d = fragments["c"], fragments["d"]
    row, column = (c.row[:, : c.once], c.column[:, : c.once])[::turn]
    sums = sums_table(shape, row, column, action.counts[2])
    row, column = (d.row, d.column)[::turn]
    results = results_table(shape, row, column, types["d"])
    return WordPlaces(shape, tables[0].T, tables[1], sums, results, exchanged)


def _together(ptx_type: Type) -> int:
    """Return the elements of C or D in a register."""
    return 2 if ptx_type.name == "f16" else 1


def sums_table(shape: MatrixShape, row: Array, column: Array, registers: int) -> Array:
    """Return the registers with C, of rows and columns by lane and element."""
    each = _together(shape.types["c"])
    table = np.zeros((shape.columns // each, shape.rows), dtype=np.int64)
    first = slice(0, row.shape[1], each)
    once = row.shape[1] // each
    table[column[:, first] // each, row[:, first]] = register_numbers(registers)[:once].T
    return table


def results_table(shape: MatrixShape, row: Array, column: Array, ptx_type: Type) -> Array:
    """Return the places of D, of rows and columns by lane and element."""
    each = _together(ptx_type)
    first = slice(0, row.shape[1], each)
    found: Array = (column[:, first] // each * shape.rows + row[:, first]).T
    return found


def put_sums(
    code: CodeBuilder, shape: MatrixShape, words: LaneVector, columns: str, number: int
) -> None:
    """Write the words of a column of C, or of two columns of f16, to memory."""
    if shape.types["c"].name != "f16":
        store(code, code.bitcast(words, shape.addend), columns, str(number * shape.rows))
        return
    for half in range(2):
        value = words
        if half:
            value = code.binary("lshr", words, splat("i32", 16, words.count))
        value = code.bitcast(code.cast("trunc", value, "i16"), "half")
        at = str((2 * number + half) * shape.rows)
        store(code, code.cast("fpext", value, "float"), columns, at)


def result_words(
    code: CodeBuilder, shape: MatrixShape, columns: str, count: int
) -> list[LaneVector]:
    """Return the words of some columns of D in memory, of two columns of f16 together."""
    rows, found = shape.rows, []
    word = "i64" if shape.is_double else "i32"
    for number in range(count // _together(shape.types["d"])):
        if shape.result != "half":
            found.append(load(code, columns, word, str(number * rows), rows))
            continue
        low, high = (
            load(code, columns, "i16", str((2 * number + half) * rows), rows) for half in range(2)
        )
        upper = code.binary("shl", code.cast("zext", high, "i32"), splat("i32", 16, rows))
        found.append(code.binary("or", code.cast("zext", low, "i32"), upper))
    return found
