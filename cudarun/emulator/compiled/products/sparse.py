"""The words of B that the elements of a sparse A are multiplied by (``machine/sparsity.py``)."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.compiled.lanes.permutations import counted, permuted
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, ModuleText, constant, splat
from cudarun.emulator.compiled.products.elements import load, scaled, store
from cudarun.emulator.compiled.products.shapes import MatrixShape

_UNITS = 4  # of a chunk along k


def define_selection(module: ModuleText, shape: MatrixShape) -> str:
    """Define the selection of the words of a column, and return its name.

    ``name.places(metadata, places)`` writes the places in a column, in bytes, by unit and row;
    ``name(column, places, words)`` writes the words by number and row.
    """
    name = f"selected.{shape.name}"
    _define_places(module, f"{name}.places", shape)
    code = CodeBuilder(module)
    rows, unit = shape.rows, _unit_bits(shape)
    gather = f"@llvm.masked.gather.v{rows}i32.v{rows}p0"
    kind = f"<{rows} x i32>"
    module.declare(f"declare {kind} {gather}(<{rows} x ptr>, i32, <{rows} x i1>, {kind})")
    each = 32 // unit
    true = splat("i1", True, rows).typed
    code.label("entry")
    with counted(code, shape.words) as number:
        word = splat("i32", 0, rows)
        for turn in range(each):
            at = scaled(code, number, each * rows, turn * rows)
            place = load(code, "%places", "i32", at, rows)
            aligned = code.binary("and", place, splat("i32", -4, rows))
            pointers = code.scalar(f"getelementptr i8, ptr %column, {aligned.typed}")
            given = f"<{rows} x ptr> {pointers}, i32 4, {true}, {kind} poison"
            found = code.vector(f"call {kind} {gather}({given})", "i32", rows)
            inside = code.binary("and", place, splat("i32", 3, rows))
            shift = code.binary("shl", inside, splat("i32", 3, rows))
            low = code.binary("lshr", found, shift)
            low = code.binary("and", low, splat("i32", (1 << unit) - 1, rows))
            moved = code.binary("shl", low, splat("i32", turn * unit, rows))
            word = code.binary("or", word, moved)
        store(code, word, "%words", scaled(code, number, rows))
    code.line("ret void")
    code.define(f"void @{name}(ptr %column, ptr %places, ptr %words)")
    return name


def _unit_bits(shape: MatrixShape) -> int:
    return 16 if shape.types["a"].bits >= 16 else 8


def _define_places(module: ModuleText, name: str, shape: MatrixShape) -> None:
    sparsity, rows = shape.sparsity, shape.rows
    assert sparsity is not None
    code = CodeBuilder(module)
    code.label("entry")
    metadata = load(code, "%metadata", "i32", "0", WIDTH)
    size = _unit_bits(shape) // 8
    for chunk in range(sparsity.chunks):
        words = permuted(code, [metadata], sparsity.lane[:, chunk].astype(np.int64))
        shifts = constant(sparsity.shift[:, chunk].astype(np.uint32))
        nibbles = code.binary("lshr", words, shifts)
        for which in range(2):
            two = code.binary("lshr", nibbles, splat("i32", 2 * which, rows))
            two = code.binary("and", two, splat("i32", 3, rows))
            unit = code.binary("add", two, splat("i32", _UNITS * chunk, rows))
            place = code.binary("mul", unit, splat("i32", size, rows))
            store(code, place, "%places", str((2 * chunk + which) * rows))
    code.line("ret void")
    code.define(f"void @{name}(ptr %metadata, ptr %places)")
