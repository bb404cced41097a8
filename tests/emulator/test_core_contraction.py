"""Which products and sums become one fused multiply-add: those that ptxas fuses, and no others."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from ml_dtypes import bfloat16

from cudarun.emulator.code import Lanewise
from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.faults import DeviceFault
from cudarun.ptx.parser import parse
from tests.emulator.device import Device, run_lanes
from tests.emulator.reference import FORMATS

COUNT = 64
RANDOM = np.random.default_rng(7)
SIZES = {
    "f32": ("f4", "u4"), "f64": ("f8", "u8"), "f16": ("f2", "u2"), "bf16": (bfloat16, "u2"),
}  # fmt: skip


def run(kind: str, text: str, *, results: str = "d") -> tuple[list[list[int]], list[list[int]]]:
    """The operands a, b, c, e of each lane, and its results."""
    number, bits = SIZES[kind]
    given = {name: RANDOM.normal(size=COUNT).astype(number).view(bits) for name in "abce"}
    register = "b16" if kind == "bf16" else kind
    body = f"{{ .reg .{register} t, u; {text} }}"
    found = run_lanes(body, given, dict.fromkeys(results, bits))
    lanes = [[int(given[name][lane]) for name in "abce"] for lane in range(COUNT)]
    return lanes, [[int(values[lane]) for values in found] for lane in range(COUNT)]


def rounded(kind: str, value: Fraction) -> int:
    return FORMATS[kind].rounded(value, "rn", negative_zero=False)


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mul t, %a, %b; add %d, t, %c;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; add %d, %c, t;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; sub %d, t, %c;", lambda a, b, c, e: a * b - c),
        ("mul t, %a, %b; sub %d, %c, t;", lambda a, b, c, e: c - a * b),
        ("mul t, %a, %b; mov u, t; mov t, %e; add %d, %c, u;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; neg u, t; sub %d, u, %c;", lambda a, b, c, e: -a * b - c),
        ("mul t, %a, %b; neg t, t; neg u, t; sub %d, %c, u;", lambda a, b, c, e: c - a * b),
        ("mul t, %a, %b; mov %a, %e; add %d, t, %c;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; mov %a, %e; mov %b, %e; add %d, t, %c;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; mov %a, %e; add %b, t, %e; add %d, t, %c;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %b; mul u, t, %a; sub u, u, t; add %d, t, %c;", lambda a, b, c, e: a * b + c),
        ("mul t, %a, %a; mov %a, t; add %d, %a, %c;", lambda a, b, c, e: a * a + c),
        ("mul %a, %a, %b; add %d, %a, %c; mov %a, %e;", lambda a, b, c, e: a * b + c),
    ],
)
def test_fused(kind: str, text: str, expected: object) -> None:
    for word in ("mul", "add", "sub", "neg"):
        text = text.replace(f"{word} ", f"{word}.{kind} ")
    text = text.replace("mov ", f"mov.b{kind[-2:]} ")
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
        "mul.f32 t, %a, %b; mov.f32 u, t; add.f32 %d, t, %c; mov.f32 %f, u;",
    ],
)
def test_not_fused(text: str) -> None:
    given, found = run("f32", text, results="df")
    value = FORMATS["f32"].value
    for lane, (result, _) in zip(given, found, strict=True):
        a, b, c, _ = map(value, lane)
        assert result == rounded("f32", value(rounded("f32", a * b)) + c)


@pytest.mark.parametrize(("target", "operations"), [("sm_90", 1), ("sm_90, debug", 2)])
def test_nothing_is_fused_for_debugging(target: str, operations: int) -> None:
    text = (
        f".version 8.0\n.target {target}\n.address_size 64\n"
        ".visible .entry test()\n{ .reg .f32 %f<4>; .reg .b32 %r; .shared .f32 s;\n"
        "mov.u32 %r, %tid.x; cvt.rn.f32.u32 %f0, %r; mul.f32 %f1, %f0, %f0;\n"
        "add.f32 %f2, %f1, %f0; st.shared.f32 [s], %f2; ret; }\n"
    )
    blocks = compile_module(parse(text)).code["test"].blocks
    operations_of = [operation for block in blocks for operation in block.operations]
    names = [each.name for each in operations_of if isinstance(each, Lanewise)]
    assert len(names) == 2 + operations
    assert names.count("mul.f32") == operations - 1


def fused(body: str, kind: str) -> int:
    """How many operations of a kernel are fused."""
    text = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry test(.param .b64 to)\n{\n"
        f".reg .b{kind[-2:] if 'x2' not in kind else 32} a, b, c, t, u, d, e; .reg .pred p;\n"
        f".reg .b32 %r; .reg .b64 %to; .shared .b32 s;\n"
        f"ld.param.u64 %to, [to]; mov.u32 %r, %tid.x; setp.gt.u32 p, %r, 3;\n{body}\n"
        + "".join(f"st.global.b{16 if kind == 'f16' else 32} [%to], {name};" for name in "de")
        + "ret; }\n"
    )
    for word in ("mul", "add", "sub", "fma.rn", "neg", "div.full", "div.approx", "div.rn"):
        text = re.sub(rf"\b{word}((?:\.(?:rn|ftz|sat))*) ", rf"{word}\1.{kind} ", text)
    code = compile_module(parse(text)).code["test"]
    return sum(
        isinstance(each, Lanewise) and not each.name
        for block in code.blocks
        for each in block.operations
    )


@pytest.mark.parametrize("division", ["div.full", "div.approx"])
def test_quotients_are_products_with_a_reciprocal(division: str) -> None:
    """As ptxas 13.0 compiles them for sm_90; of two products the first is fused."""
    value, bits = FORMATS["f32"].value, FORMATS["f32"].rounded
    for text, sign in (("add.f32 %d, t, %c", 1), ("sub.f32 %d, %c, t", -1)):
        given, found = run(
            "f32", f"{division}.f32 t, %a, %b; {text}; rcp.approx.f32 %f, %b;", results="df"
        )
        for (a, _, c, _), (result, reciprocal) in zip(given, found, strict=True):
            exact = value(c) + sign * value(a) * value(reciprocal)
            assert result == bits(exact, "rn", negative_zero=False)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("div.full t, a, b; add d, t, c; sub e, c, t;", 2),
        ("div.full.ftz t, a, b; add.ftz d, t, c;", 1),
        ("div.approx.ftz t, a, b; add d, t, c;", 0),
        ("div.full t, a, b; add.rn d, t, c;", 0),
        ("div.full t, a, b; add.sat d, t, c;", 1),
        ("div.full t, a, b; add d, t, c; mul e, t, c;", 0),
        ("div.full t, a, b; mul u, c, a; add d, u, t; add e, u, c;", 1),
        ("div.rn t, a, b; add d, t, c;", 0),
    ],
)
def test_readers_of_a_quotient(body: str, expected: int) -> None:
    """As ptxas 13.0 compiles them for sm_90."""
    assert fused(body, "f32") == expected


def test_an_ignored_destination_changes_no_constant_factor() -> None:
    """The factor that changes is kept in the register of the product."""
    body = "mul t, a, 0f3F000000; mov.b32 %r, 1; ld.shared.v2.f32 {a, _}, [v]; add d, t, c;"
    text = f".shared .align 8 .b8 v[8]; {body}"
    assert fused(text, "f32") == fused(text.replace("{a, _}", "{u, _}"), "f32") == 1


@pytest.mark.parametrize("kind", ["f32", "f16", "f16x2", "bf16x2"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mul t, a, b; add d, t, c; sub e, c, t;", 2),
        ("mul t, a, b; add d, t, c; mul e, t, c;", 0),
        ("mul t, a, b; add d, t, t;", 0),
        ("mul t, a, b; mul u, c, a; add d, t, u; add e, t, c;", 1),
        ("mul t, a, b; mul u, b, c; add d, t, u; add e, t, a; add t, u, c; add d, d, t;", 2),
        ("mul t, a, b; add u, t, c; mul t, u, b; add d, t, c;", 2),
        ("mul t, a, b; bar.sync 0; add d, t, c;", 1),
        ("mul t, a, b; @p add d, t, c; @!p sub d, t, c;", 2),
        ("@p mul t, a, b; @p add d, t, c;", 0),
        ("mul t, a, b; @p mov.b32 %r, 5; add d, t, c;", 1),
        ("mul t, a, b; @p mul t, b, c; add d, t, c;", 0),
        ("mul t, a, b; @p bra X; add d, t, c; X: add e, b, c;", 0),
        ("mul t, a, b; @p bra X; mul u, a, e; X: add d, t, c;", 1),
        ("mul t, a, b; bra X; Y: st.shared.b32 [s], %r; ret; X: add d, t, c; @p bra Y;", 1),
        ("mul t, a, b; @p st.shared.b32 [s], %r; add d, t, c;", 0),
        ("mul t, a, b; @p add d, t, c; @p st.shared.b32 [s], %r;", 1),
        ("mul t, a, b; @p ret; add d, t, c;", 0),
        ("X: mul t, a, b; add d, d, t; @p bra X;", 1),
        ("mul t, a, b; X: add d, d, t; @p bra X;", 0),
    ],
)
def test_readers_of_a_product(body: str, expected: int, kind: str) -> None:
    """As ptxas 13.0 compiles them for sm_90."""
    bare = "bar.sync 0;" in body  # the barrier is an operation of its own
    assert fused(body, kind) - fused("bar.sync 0;" if bare else "", kind) == expected


@pytest.mark.parametrize(("kind", "expected"), [("f32", 1), ("f16", 1), ("f16x2", 2)])
def test_products_with_one_reader_are_fused_first(kind: str, expected: int) -> None:
    """As ptxas 13.0 compiles them for sm_90, unless they are pairs."""
    assert fused("mul t, a, b; mul u, c, a; add e, t, c; add d, t, u;", kind) == expected


@pytest.mark.parametrize("kind", ["f32", "f16", "f16x2"])
@pytest.mark.parametrize(
    ("product", "total", "expected"),
    [
        (".ftz", ".ftz", 1), ("", ".sat", 1), (".ftz", ".ftz.sat", 1), ("", ".ftz", 0),
        (".ftz", "", 0), (".sat", "", 0), (".sat", ".sat", 0), (".rn", "", 0), ("", ".rn", 0),
    ],
)  # fmt: skip
def test_modifiers_of_both(product: str, total: str, expected: int, kind: str) -> None:
    assert fused(f"mul{product} t, a, b; add{total} d, t, c;", kind) == expected


@pytest.mark.parametrize("total", ["", "mul.f32 f, f, f; add.f32 f, f, g; st.shared.f32 [s], f;"])
@pytest.mark.parametrize("guard", ["", "setp.lt.u32 p, r, 3; @p bra X;"])
def test_a_load_without_readers_is_a_fault(guard: str, total: str) -> None:
    """Unlike ptxas, contraction removes only what cannot have a fault."""
    text = (
        ".visible .entry test(.param .u64 to) { .reg .b64 a; .reg .b32 r, q; .reg .pred p;\n"
        ".reg .f32 f, g; .shared .b32 s; mov.f32 f, 0f3F800000; mov.f32 g, f;\n"
        f"ld.param.u64 a, [to]; mov.u32 r, %tid.x; {guard}\n"
        f"ld.global.u32 q, [a+4096]; add.u32 q, q, 1; X: {total} ret; }}"
    )
    device = Device(text)
    with pytest.raises(DeviceFault, match="illegal address in a 4-byte load"):
        device.launch("test", (1,), (8,), device.buffer(np.zeros(4, "u4")))
