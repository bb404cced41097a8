"""Functions over lanes, traced and compiled: the bits of numpy's, for a sample of all forms.

``.ci/run`` compares all recorded forms on the compiled engine (``tests/golden/test_isa.py``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import chain, islice

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.code import ConstantUse, Lanewise
from cudarun.emulator.compiled.jit import MachineCode, object_files
from cudarun.emulator.compiled.lanes.lowering import (
    LaneFunctions,
    LaneType,
    lane_type,
    lower,
    results_of,
)
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    splat,
)
from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.numerics import formats, rounding
from cudarun.emulator.numerics.temporaries import temporaries_of
from cudarun.ptx.parser import parse
from tests.golden.isa.enumeration import CHAPTERS, cases
from tests.golden.isa.kernel import Group

EVERY = 18
NOT_COMPILED = {"div", "fma", "mul", "rcp", "sqrt", "mad"}
"""Opcodes whose directed rounding of f64 asks for the values of lanes."""
ROUNDS = 4
SPECIAL = {
    1: [0, 1, 127, 128, 255],
    2: [0, 0x8000, 1, 0x3C00, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x7BFF, 0x7F80, 0x0080, 0xFFFF],
    4: [0, 1 << 31, 1, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00001, 0x7F800001, 0x007FFFFF,
        0x7F7FFFFF, 31, 32, 33, 255, 0x4F000000, 0xFFFFFFFF],
    8: [0, 1 << 63, 1, 0x3FF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
        0x7FEFFFFFFFFFFFFF, 0x000FFFFFFFFFFFFF, 0x43E0000000000000, 63, 64],
}  # fmt: skip
Array = npt.NDArray[np.generic]


def operations() -> Iterator[Lanewise]:
    """The lanewise operations of a sample of all recorded cases."""
    seen = set()
    for chapter in CHAPTERS:
        chosen = [*islice(cases(chapter), 0, None, EVERY)]
        for target in sorted({case.target for case in chosen}):
            text = Group([case for case in chosen if case.target == target]).text
            for code in compile_module(parse(text)).code.values():
                for operation in chain.from_iterable(block.operations for block in code.blocks):
                    if isinstance(operation, Lanewise) and operation.function not in seen:
                        seen.add(operation.function)
                        yield operation


def loaded(code: CodeBuilder, place: int, kind: LaneType) -> LaneVector:
    pointer = code.scalar(f"getelementptr ptr, ptr %given, i64 {place}")
    at = code.scalar(f"load ptr, ptr {pointer}")
    count = WIDTH * kind.elements
    if kind.element == "i1":
        value = code.vector(f"load <{count} x i8>, ptr {at}, align 1", "i8", count)
        return code.compare("ne", value, splat("i8", 0, count))
    return code.vector(f"load {kind.type}, ptr {at}, align 1", kind.element, count)


def define_test(module: ModuleText, name: str, operation: Lanewise) -> None:
    """Define a function that calls a lane function with arrays in memory."""
    code = CodeBuilder(module)
    given = [loaded(code, n, lane_type(use)) for n, use in enumerate(operation.sources)]
    kinds = [lane_type(use) for use in operation.destinations]
    for place, value in enumerate(results_of(code, name, given, kinds)):
        pointer = code.scalar(f"getelementptr ptr, ptr %found, i64 {place}")
        at = code.scalar(f"load ptr, ptr {pointer}")
        stored = code.cast("zext", value, "i8") if value.element == "i1" else value
        code.line(f"store {stored.typed}, ptr {at}, align 1")
    code.line("ret void")
    head = f"define void @test.{name}(ptr %given, ptr %found) {{"
    module.define(f"test.{name}", "\n".join([head, *code.lines, "}"]))


def values(kind: LaneType, random: np.random.Generator) -> Array:
    """Random bits, small numbers, and special values."""
    count = WIDTH * kind.elements
    if kind.dtype == np.bool_:
        return random.integers(0, 2, count).astype(np.bool_).reshape(kind.shape())
    unsigned = np.dtype(f"u{kind.dtype.itemsize}")
    bits = random.integers(0, 256, count * unsigned.itemsize).astype(np.uint8).view(unsigned)
    small = random.integers(0, 70, count).astype(unsigned)
    special = random.choice(np.array(SPECIAL[unsigned.itemsize], unsigned), count)
    which = random.integers(0, 3, count)
    chosen = np.where(which == 0, bits, np.where(which == 1, small, special))
    return chosen.astype(unsigned).view(kind.dtype).reshape(kind.shape())


def both_nan(operands: list[Array]) -> npt.NDArray[np.bool_]:
    """The lanes with several NaN of f64, of which numpy's choice depends on the lane."""
    count = np.zeros(WIDTH, np.int64)
    for operand in operands:
        if operand.dtype == np.float64:
            count += np.isnan(operand)
    return count > 1


def pointers(arrays: list[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(len(arrays), 1))(*[each.ctypes.data for each in arrays])


def test_forms() -> None:
    random = np.random.default_rng(17)
    module = ModuleText()
    functions = LaneFunctions(module)
    compiled = {}
    with np.errstate(all="ignore"):
        for operation in operations():
            try:
                name = functions.name_of(operation)
            except Untraceable:
                assert operation.site.text.split(".")[0] in NOT_COMPILED, operation.site.text
                assert "f64" in operation.site.text
                continue
            if operation.destinations and f"test.{name}" not in compiled:
                define_test(module, name, operation)
                compiled[f"test.{name}"] = operation
    assert len(compiled) > 250
    code = MachineCode(module.symbols, object_files(module.text()))
    call_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    for name, operation in compiled.items():
        call = call_type(code.address(name))
        for _ in range(ROUNDS):
            given = [
                np.broadcast_to(use.value, lane_type(use).shape()).copy()
                if isinstance(use, ConstantUse)
                else values(lane_type(use), random)
                for use in operation.sources
            ]
            kinds = [lane_type(use) for use in operation.destinations]
            wanted = [np.zeros(kind.shape(), kind.dtype) for kind in kinds]
            found = [np.zeros(kind.shape(), kind.dtype) for kind in kinds]
            scratch = [np.zeros(wanted[0].shape, d) for d in temporaries_of(operation.function)]
            call(pointers(given), pointers(found))
            with np.errstate(all="ignore"):
                operation.function(*[each.copy() for each in given], *wanted, *scratch)
            skipped = both_nan(given)
            for a, b in zip(found, wanted, strict=True):
                a[skipped] = b[skipped]
                assert a.tobytes() == b.tobytes(), (operation.site.text, given, a, b)


@pytest.mark.parametrize(
    ("number_format", "dtype"), [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)]
)
def test_eight_bit_formats_by_their_bits(number_format: str, dtype: type) -> None:
    """The rules for traced arrays equal those of ml_dtypes."""
    every = np.arange(256, dtype=np.uint8)
    wide = formats._widened(every, number_format)
    expected = every.view(dtype).astype(np.float32)
    assert np.array_equal(wide, expected, equal_nan=True)
    largest = expected[np.isfinite(expected)].max()
    bits = np.random.default_rng(1).integers(0, 1 << 32, 20000, dtype=np.uint32)
    steps = np.linspace(-largest, largest, 4001, dtype=np.float32)
    between = (expected[:-1] + expected[1:]) / 2
    some = np.concatenate([bits.view(np.float32), steps, between, expected])
    numbers = np.clip(some[np.isfinite(some)], -largest, largest)
    narrow = formats._narrowed(numbers, number_format, rounding.NEAREST)
    assert np.array_equal(narrow, numbers.astype(dtype).view(np.uint8))


def test_what_asks_for_values_is_not_compiled() -> None:
    def branches(a: Array, d: Array) -> None:
        if a.any():
            d[...] = a

    kind = LaneType(np.dtype(np.uint32))
    with pytest.raises(Untraceable, match=r"array\.any"):
        lower(ModuleText(), "f", branches, [kind], [kind])
