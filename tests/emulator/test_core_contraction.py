"""Which products and sums become one fused multiply-add: those that ptxas fuses, and no others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cudarun.emulator.code import Lanewise
from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.parser import parse
from tests.emulator.device import run_lanes
from tests.emulator.reference import FORMATS

COUNT = 64
RANDOM = np.random.default_rng(7)
SIZES = {"f32": ("f4", "u4"), "f64": ("f8", "u8")}


def run(kind: str, text: str, *, results: str = "d") -> tuple[list[list[int]], list[list[int]]]:
    """The operands a, b, c, e of each lane, and its results."""
    number, bits = SIZES[kind]
    given = {name: RANDOM.normal(size=COUNT).astype(number).view(bits) for name in "abce"}
    body = f"{{ .reg .{kind} t, u; {text} }}"
    found = run_lanes(body, given, dict.fromkeys(results, bits))
    lanes = [[int(given[name][lane]) for name in "abce"] for lane in range(COUNT)]
    return lanes, [[int(values[lane]) for values in found] for lane in range(COUNT)]


def rounded(kind: str, value: Fraction) -> int:
    return FORMATS[kind].rounded(value, "rn", negative_zero=False)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mul t, %a, %b; add %d, t, %c;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; add %d, %c, t;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; sub %d, t, %c;", lambda a, b, c, e: a * b - c),
        ("mul t, %a, %b; sub %d, %c, t;", lambda a, b, c, e: c - a * b),
    ],
)
def test_fused(kind: str, text: str, expected: object) -> None:
    for word in ("mul", "add", "sub"):
        text = text.replace(f"{word} ", f"{word}.{kind} ")
    given, found = run(kind, text)
    for lane, (result,) in zip(given, found, strict=True):
        values = [FORMATS[kind].value(bits) for bits in lane]
        assert result == rounded(kind, expected(*values))  # type: ignore[operator]


def test_of_two_products_the_first_is_fused() -> None:
    given, found = run("f32", "mul.f32 t, %a, %b; mul.f32 u, %c, %e; add.f32 %d, u, t;")
    value = FORMATS["f32"].value
    for lane, (result,) in zip(given, found, strict=True):
        a, b, c, e = map(value, lane)
        assert result == rounded("f32", c * e + value(rounded("f32", a * b)))


@pytest.mark.parametrize(
    "text",
    [
        "mul.rn.f32 t, %a, %b; add.f32 %d, t, %c;",
        "mul.f32 t, %a, %b; add.rn.f32 %d, t, %c;",
        "mul.ftz.f32 t, %a, %b; add.f32 %d, t, %c;",
        "mul.f32 t, %a, %b; add.f32 %d, t, %c; add.f32 u, t, t; mov.f32 %f, u;",
        "mul.f32 t, %a, %b; mov.f32 u, %c; mov.f32 t, t; add.f32 %d, t, u;",
    ],
)
def test_not_fused(text: str) -> None:
    given, found = run("f32", text, results="df")
    value = FORMATS["f32"].value
    for lane, (result, _) in zip(given, found, strict=True):
        a, b, c, _ = map(value, lane)
        assert result == rounded("f32", value(rounded("f32", a * b)) + c)


def test_operands_that_have_changed_are_not_used() -> None:
    text = "mul.f32 t, %a, %b; mov.b32 %a, %e; add.f32 %d, t, %c; mov.b32 %f, %a;"
    given, found = run("f32", text, results="df")
    value = FORMATS["f32"].value
    for lane, (result, _) in zip(given, found, strict=True):
        a, b, c, _ = map(value, lane)
        assert result == rounded("f32", value(rounded("f32", a * b)) + c)


@pytest.mark.parametrize(("target", "operations"), [("sm_90", 1), ("sm_90, debug", 2)])
def test_nothing_is_fused_for_debugging(target: str, operations: int) -> None:
    text = (
        f".version 8.0\n.target {target}\n.address_size 64\n"
        ".visible .entry test()\n{ .reg .f32 %f<4>; .reg .b32 %r; mov.u32 %r, %tid.x;\n"
        "cvt.rn.f32.u32 %f0, %r; mul.f32 %f1, %f0, %f0; add.f32 %f2, %f1, %f0; ret; }\n"
    )
    blocks = compile_module(parse(text)).code["test"].blocks
    operations_of = [operation for block in blocks for operation in block.operations]
    names = [each.name for each in operations_of if isinstance(each, Lanewise)]
    assert len(names) == 2 + operations
    assert names.count("mul.f32") == operations - 1
