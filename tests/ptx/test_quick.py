"""Quick parsing and the grammar make the same trees, and the same errors."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cudarun.ptx import parser, variables
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import LazyModule, parse
from cudarun.ptx.tree import Function, Module

ROOT = Path(__file__).parents[2]
FOLDERS = ("samples", "tests/emulator/nvcc", "tests/emulator/triton", "tests/images/golden")
REAL_TEXTS = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.ptx"))

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
STATEMENTS = [
    "add.s32 %r1, %r2, %r3;",
    "add.s32 %r1,%r2 , %r3 ;",
    "add.s32\n\t%r1,\n%r2, -5 ;",
    "add.s32 %r1, %r2, 0x1F;",
    "add.s32 %r1, %r2, 010;",
    "add.s32 %r1, %r2, -0;",
    "add.s32 %r1, %r2, 18446744073709551615;",
    "add.s32 %r1, %r2, 5U;",
    "add.s32 %r1, %r2, 1+2;",
    "add.s32 %r1, %r2, (1+2)*3;",
    "add.s32 %r1, %r2 /* b */, %r3; // c",
    "// a comment; with, marks\nadd.s32 %r1, %r2, %r3;",
    "/* two\nlines */ add.s32 %r1, %r2, %r3;",
    "add . s32 %r1, %r2, %r3;",
    "add.rn.f32 %f1, 0f3F800000, 0F40000000;",
    "add.rn.f64 %d1, 0d3FF0000000000000, 1.5;",
    "add.rn.f32 %f1, .5, 1e3;",
    "add.s32 r1, r<2>, r3;",
    "add.s32 a, b, a;",
    "mov.u64 %rd1, table;",
    "mov.u64 %rd1, table+8;",
    "mov.u64 %rd1, table[2];",
    "mov.u32 %r1, %tid.x;",
    "mov.u32 %r1, %tid . x;",
    "mov.u32 %r1, WARP_SZ;",
    "mov.b32 {%rs1, %rs2}, %r1;",
    "mov.b32 {%rs1,_}, %r1;",
    "mov.b32 {}, %r1;",
    "mov.b32 %r1, {h, %rs2};",
    "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];",
    "ld.global.f32 %f1, [%rd1 + -16];",
    "ld.global.f32 %f1, [%rd1-16];",
    "ld.global.f32 %f1, [ table + 4 ];",
    "ld.global.f32 %f1, [%rd1].unified;",
    "ld.param.u64 %rd1, [p];",
    "ld.shared.f32 %f1, [16];",
    "st.global.L2::cache_hint.f32 [%rd1], %f1, %rd2;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r1], [%rd1, {%r2, %r3}], [%r4];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;",
    "shfl.sync.bfly.b32 %r1 | %p1, %r2, 16, 31, -1;",
    "setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3;",
    "setp.eq.and.s32 %p1|%p2, %r1, %r2, ! %p3;",
    "vmad.s32.u32.u32 %r1, %r2.b0, -%r3.h1, %r4;",
    "@%p1 bra L1;",
    "@!%p1 bra.uni L1;",
    "@ %p1 bra L1;",
    "@p bra L1;",
    "@% bra L1;",
    "@!% ret;",
    "L1: add.s32 %r1, %r2, %r3;",
    "L1:add.s32 %r1, %r2, %r3;",
    "L1: .loc 1 22 7",
    "L1: L2 : L3:L4: add.s32 %r1, %r2, %r3;",
    "L1: /* a */ add.s32 %r1, %r2, %r3;",
    "$L1: ret; %L2: ret; 3L: ret;",
    "L1:: ret;",
    "L1: ; ret;",
    "L1: .reg .b32 %x; ret;",
    "ts: .branchtargets L1, L2;",
    "ts:.branchtargets L1;",
    "ts: // a\n/* b */ .calltargets f;",
    "ts: .branchtargetsX L1;",
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);",
    "ret;",
    "ret ;",
    "ret",
    "call f;",
    "call (%r1), f, (%r2, %r3);",
    "call.uni (%r1), %rd1, (%r2), proto;",
    ".loc 1 22 7",
    ".loc 1 22 7, function_name L1, inlined_at 1 3 4",
    ".loc\t1 22 7\n, function_name L1+4, inlined_at 1 3 4",
    ".loc 1 22",
    ".loc 01 022 7",
    ".loc 1 22 7 // next\nadd.s32 %r1, %r2, %r3;",
    ".pragma \"nounroll\";",
    "{ .reg .b32 a; add.s32 a, b, a; } add.s32 a, b, a;",
    "{ .reg .b32 table; mov.u32 table, 1; } mov.u64 %rd1, table;",
    ".param .b32 %x; st.param.b32 [%x], %r1; mov.u32 %r1, %x;",
    "mov.u32 %r1, %x; { .param .b32 %x; st.param.b32 [%x+0], %r1; }",
    "add.s32 %r1, %r2, %r3,;",
    "add.s32 %r1, , %r3;",
    "add.s32 ,;",
    "add.s32 %r1 %r2;",
    "add.s32 %r1, `;",
    "add.s32 %r1, {%r2;",
    "add.s32 %r1, %r2};",
    "add.s32 %r1, [%r2;",
    "add.s32 %r1, %r2+4;",
    "add.s32 %r1, \"text\";",
    "add.5 %r1, %r2;",
    "add.2d %r1, %r2;",
    "add.2 %r1, %r2;",
    "mov.u32 %r1, generic;",
]  # fmt: skip
VALUES = [
    "x[] = {1, 2, 3}",
    "x[4] = {1, 2,3 , -4}",
    "x[2] = {1, 2, 3}",
    "x[2][2] = {{1}, {2, 3}}",
    "x[] = {}",
    "x[] = {1, 2,}",
    "x[] = {0x10, 010, 5U}",
    "x[] = {0f3F800000, 0d3FF0000000000000, 1.5}",
    "x[] = {1+1, y}",
    "x[] = {generic(y), 0xFF(y)}",
    "x[] = {1 /* one */, 2}",
    "x = {1}",
    "x = 1",
]


def outcome(work: Callable[[], object]) -> object:
    """The result of a function, or the diagnostics of its error."""
    try:
        return work()
    except PtxError as error:
        return error.diagnostics


def contents(module: Module) -> tuple[object, ...]:
    """All of a module but its text."""
    return (
        module.version, module.targets, module.address_size, module.functions, module.variables,
        module.files, module.aliases,
    )  # fmt: skip


@pytest.fixture
def grammar_alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """Parse without the quick expressions."""

    def by_grammar(text: str) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(parser._ModuleParser, "_plain_instructions", lambda *_: False)
            patch.setattr(variables, "_NUMBERS", re.compile("(?!)"))
            return outcome(lambda: contents(parse(text)))

    return by_grammar


def quickly(text: str) -> object:
    return outcome(lambda: contents(parse(text)))


def lazily(text: str) -> object:
    """Parse the bodies one by one, the last first."""

    def read() -> tuple[object, ...]:
        lazy = LazyModule(text)
        functions: list[Function] = []
        errors = []
        for function in reversed(lazy.module.functions):
            try:
                functions.insert(0, lazy.read(function))
            except PtxError as error:
                errors.append(error)
        if errors:
            raise errors[-1]
        return (*contents(lazy.module)[:3], tuple(functions), *contents(lazy.module)[4:])

    return outcome(read)


def kernel(body: str) -> str:
    declared = ".global .f32 table[9];\n.visible .entry k(.param .u64 p) {\n"
    registers = (
        ".reg .b32 %r<9>, a, b, r<4>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; "
        ".reg .pred %p<4>, p; .reg .b16 %rs<4>, h;\n"
    )
    return f"{HEADER}{declared}{registers}{body}\nret;\n}}\n"


def test_a_plain_statement_takes_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser._ModuleParser, "_instruction", None)
    parse(kernel("@!%p1 add.s32 %r1, %r2, -5; ld.global.v2.f32 {%f1, %f2}, [%rd1+8];"))


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement: str, grammar_alone: Callable[[str], object]) -> None:
    text = kernel(f"{statement}\nadd.s32 %r1, %r2, %r3;")
    assert quickly(text) == lazily(text) == grammar_alone(text)


@pytest.mark.parametrize("value", VALUES)
def test_initial_values(value: str, grammar_alone: Callable[[str], object]) -> None:
    text = f"{HEADER}.global .u32 y;\n.global .u32 {value};\n.global .u64 z;"
    assert quickly(text) == lazily(text) == grammar_alone(text)


@pytest.mark.parametrize("path", REAL_TEXTS, ids=lambda path: path.name)
def test_real_texts(path: Path, grammar_alone: Callable[[str], object]) -> None:
    text = path.read_text(encoding="ascii")
    assert quickly(text) == lazily(text) == grammar_alone(text)


@pytest.mark.parametrize("seed", range(100))
def test_damaged_texts(seed: int, grammar_alone: Callable[[str], object]) -> None:
    draw = random.Random(seed)
    text = (ROOT / "samples" / "softmax.ptx").read_text(encoding="ascii")
    for _ in range(draw.randint(1, 2)):
        place, length = draw.randrange(len(text)), draw.choice([0, 1, 1, 2, 20])
        mark = draw.choice(["", ";", ",", "{", "}", "*/", "`", '"', "(", "%", " 7"])
        text = text[:place] + mark + text[place + length :]
    assert quickly(text) == lazily(text) == grammar_alone(text)


def test_a_body_sees_only_what_is_declared_before_it() -> None:
    functions = ".func f() { mov.u64 %rd1, late[1]; ret; }\n.global .f32 late[4];\n"
    text = f"{HEADER}{functions}.func g() {{ mov.u64 %rd1, late[1]; ret; }}\n"
    lazy = LazyModule(text)
    f, g = lazy.module.functions
    assert lazy.read(g).body
    with pytest.raises(PtxError, match="Unknown symbol 'late'"):
        lazy.read(f)
    assert lazy.read(g).body


def test_declarations_do_not_need_bodies() -> None:
    body = 'add `; "{" /* { */ // {'
    lazy = LazyModule(f"{HEADER}.entry k() {{ {{ }} }}\n.entry l() {{ {body}\n}}")
    assert [function.name for function in lazy.module.functions] == ["k", "l"]
    with pytest.raises(PtxError, match="near '`'"):
        lazy.read(lazy.module.functions[1])
