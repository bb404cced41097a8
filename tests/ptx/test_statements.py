"""The grammar of statements; their meaning was checked against ptxas 13.0."""

import pytest

from cudarun.ptx.tree import (
    Address,
    Block,
    BranchTargets,
    CallPrototype,
    Float,
    Instruction,
    Integer,
    Label,
    LineMark,
    Minus,
    Negated,
    Pair,
    Position,
    Register,
    Sink,
    SymbolOffset,
    SymbolReference,
    TupleAddress,
    Vector,
)
from tests.ptx.parsed import module, operands, reg, statement, statements


class TestStatements:
    def test_an_instruction(self):
        add = statement("  add.rn.ftz.f32 \t%f1, %f2, %f3 ; // sum")
        assert add == Instruction(
            "add", ("rn", "ftz", "f32"), (reg("%f1"), reg("%f2"), reg("%f3")), Position(6, 3)
        )
        assert add.name == "add.rn.ftz.f32"

    def test_an_instruction_over_several_lines_stands_where_it_begins(self):
        assert statement("\n add\n .u32\n%r1,\n1, 2;").position == Position(7, 2)

    def test_guards(self):
        assert statement("@%p1 bra L;").guard == reg("%p1")
        assert statement("@!%p1 bra L;").guard == Negated(reg("%p1"))
        assert statement("@ ! p ret;").guard == Negated(reg("p"))
        assert statement("  @%p1 ret;").position == Position(6, 3)

    def test_labels(self):
        first, second, ret, last = statements("$L__BB0_1: M: ret;\nend:")
        assert first == Label("$L__BB0_1", Position(6, 1))
        assert second == Label("M", Position(6, 12))
        assert ret.opcode == "ret"
        assert last == Label("end", Position(7, 1))

    def test_blocks(self):
        block = statement("{ // callseq 0, 0\n.reg .b32 t;\n{ trap; }\n}")
        assert isinstance(block, Block)
        assert block.position == Position(6, 1)
        inner = block.statements[1]
        assert isinstance(inner, Block)
        assert inner.statements == (Instruction("trap", (), (), Position(8, 3)),)

    def test_line_marks(self):
        assert statements(
            ".loc 1 9 44\n"
            ".loc\t2 107 3, function_name $L__info_string0, inlined_at 1 8 79\n"
            ".loc 2 108 4, function_name $L__info_string0+12, inlined_at 1 8 79"
        ) == (
            LineMark(1, 9, 44, None, Position(6, 1)),
            LineMark(2, 107, 3, (1, 8, 79), Position(7, 1)),
            LineMark(2, 108, 4, (1, 8, 79), Position(8, 1)),
        )

    def test_variables_of_a_function(self):
        depot, param = statements(".local .align 16 .b8 d[16];\n.param .b64 param0;")
        assert (depot.space, depot.alignment, depot.dimensions) == ("local", 16, (16,))
        assert (param.space, param.type) == ("param", "b64")

    def test_pragmas_are_dropped(self):
        assert statements('.pragma "nounroll";') == ()

    def test_a_file_may_be_named_inside_a_function(self):
        assert module('.entry k() { .file 3 "x.h" }').files == {3: "x.h"}

    def test_branch_and_call_targets(self):
        assert statements("t: .branchtargets L, M;\nc: .calltargets f;") == (
            BranchTargets("t", "branchtargets", ("L", "M"), Position(6, 1)),
            BranchTargets("c", "calltargets", ("f",), Position(7, 1)),
        )

    def test_call_prototypes(self):
        full, none, bare = statements(
            "p : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 16 .b8 _[16]);\n"
            "q: .callprototype _ () .noreturn;\n"
            "r: .callprototype _;"
        )
        assert isinstance(full, CallPrototype)
        assert [v.type for v in full.results] == ["b32"]
        assert [(v.type, v.alignment, v.dimensions) for v in full.parameters] == [
            ("b32", None, ()),
            ("b8", 16, (16,)),
        ]
        assert (none.results, none.parameters, bare.parameters) == ((), (), ())


class TestOperands:
    @pytest.mark.parametrize(
        ("text", "operand"),
        [
            ("%r1", Register("%r1")),
            ("%tid.x", Register("%tid.x")),
            ("%clock64", Register("%clock64")),
            ("%r2.b0", Register("%r2.b0")),
            ("%r2.h1", Register("%r2.h1")),
            ("%v.r", Register("%v.r")),
            ("_", Sink()),
            ("table", SymbolReference("table")),
            ("$L__BB0_1", SymbolReference("$L__BB0_1")),
            ("table+16", SymbolOffset(SymbolReference("table"), 16)),
            ("table+-16", SymbolOffset(SymbolReference("table"), -16)),
            ("17", Integer(17)),
            ("-17", Integer(-17)),
            ("0xffffffffU", Integer(0xFFFFFFFF, unsigned=True)),
            ("(1<<4)|3", Integer(19)),
            ("!0", Integer(1)),
            ("WARP_SZ", Integer(32)),
            ("0f3F800000", Float(0x3F800000, 32)),
            ("0d3FF0000000000000", Float(0x3FF0000000000000, 64)),
            ("1.5", Float(0x3FF8000000000000, 64)),
            ("!%p1", Negated(Register("%p1"))),
            ("-%r1.b0", Minus(Register("%r1.b0"))),
            ("%r1|%p1", Pair(Register("%r1"), Register("%p1"))),
            ("_|%p1", Pair(Sink(), Register("%p1"))),
            ("%p1|_", Pair(Register("%p1"), Sink())),
            ("{%f1, %f2}", Vector((Register("%f1"), Register("%f2")))),
            ("{_, %r2}", Vector((Sink(), Register("%r2")))),
            ("{1, 0f00000000}", Vector((Integer(1), Float(0, 32)))),
            ("[table]", Address(SymbolReference("table"))),
            ("[table+4]", Address(SymbolReference("table"), 4)),
            ("[%rd1]", Address(Register("%rd1"))),
            ("[%rd1+-8]", Address(Register("%rd1"), -8)),
            ("[%rd1 + (3 << 2)]", Address(Register("%rd1"), 12)),
            ("[param0+0]", Address(SymbolReference("param0"))),
            ("[16]", Address(None, 16)),
            ("[-4]", Address(None, -4)),
        ],
    )
    def test_forms(self, text, operand):
        assert operands(f"op {text};") == (operand,)
        assert operands(f"op %r9, {text}, %r8;") == (reg("%r9"), operand, reg("%r8"))

    def test_several_operands_in_one_pair_of_brackets(self):
        coordinates = Vector((reg("%f1"), reg("%f2")))
        assert operands("tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];")[1] == (
            TupleAddress(Address(reg("%rd1")), (coordinates,))
        )
        assert operands("tex.2d.v4.f32.f32 %f3, [t, s, {%f1, %f2}];")[1] == (
            TupleAddress(Address(SymbolReference("t")), (SymbolReference("s"), coordinates))
        )

    def test_bulk_tensor_copies(self):
        assert operands(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            " [%r1], [%rd1, {%r2, 0}], [%r3+8], %rd4;"
        ) == (
            Address(reg("%r1")),
            TupleAddress(Address(reg("%rd1")), (Vector((reg("%r2"), Integer(0))),)),
            Address(reg("%r3"), 8),
            reg("%rd4"),
        )

    def test_unified_is_a_modifier_wherever_it_stands(self):
        assert statement("ld.global.u32 %r1, [%rd1].unified;").modifiers == (
            "global",
            "u32",
            "unified",
        )


class TestNames:
    """Whether a name is a register depends on what is declared around it."""

    def test_a_register_needs_no_percent_sign(self):
        assert operands(".reg .b32 a, b; add.u32 a, b, c;") == (
            reg("a"),
            reg("b"),
            SymbolReference("c"),
        )

    def test_nor_does_a_family_of_them(self):
        assert operands(".reg .b32 r<3>; op r0, r2, r3, r;") == (
            reg("r0"),
            reg("r2"),
            SymbolReference("r3"),
            SymbolReference("r"),
        )

    def test_a_variable_may_have_a_percent_sign(self):
        assert operands(".local .b32 %a[4]; mov.u64 %rd1, %a;") == (
            reg("%rd1"),
            SymbolReference("%a"),
        )

    def test_an_instruction_may_be_named_like_a_register(self):
        assert operands(".reg .b32 add; add.u32 add, add, 1;") == (
            reg("add"),
            reg("add"),
            Integer(1),
        )

    def test_a_block_hides_and_reveals(self):
        block, after = statements("{ .reg .b32 t; mov.b32 t, 1; }\nop t;")
        assert block.statements[1].operands[0] == reg("t")
        assert after.operands == (SymbolReference("t"),)

    def test_a_variable_hides_a_register(self):
        _, block = statements(".reg .b32 t; { .shared .b32 t; op t; }")
        assert block.statements[1].operands == (SymbolReference("t"),)

    def test_registers_of_one_function_are_unknown_in_the_next(self):
        parsed = module(".func f() { .reg .b32 t; op t; }\n.func g() { op t; }")
        assert parsed.functions[1].body[0].operands == (SymbolReference("t"),)

    def test_an_element_of_a_vector_register(self):
        assert operands(".reg .v4 .f32 v; mov.f32 v.x, v.w;") == (reg("v.x"), reg("v.w"))

    @pytest.mark.parametrize("type_", ["b8", "u32", "f64"])
    def test_an_indexed_array_is_the_address_of_the_element(self, type_):
        size = {"b8": 1, "u32": 4, "f64": 8}[type_]
        declared = f".shared .{type_} a[9];"
        assert operands(f"{declared} ld.shared.{type_} %x, a[3];")[1] == (
            Address(SymbolReference("a"), 3 * size)
        )
        assert operands(f"{declared} mov.u32 %x, a[3];")[1] == SymbolOffset(
            SymbolReference("a"), 3 * size
        )


class TestCalls:
    """``results, callee, arguments`` and, where it is indirect, the prototype."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("call f;", ((), "f", ())),
            ("call f, ();", ((), "f", ())),
            ("call (), f, ();", ((), "f", ())),
            ("call f, (a);", ((), "f", ("a",))),
            ("call (r), f;", (("r",), "f", ())),
            ("call.uni (r), \nf, \n(\na, \nb\n);", (("r",), "f", ("a", "b"))),
        ],
    )
    def test_direct(self, text, expected):
        results, callee, arguments = operands(text)
        names = tuple(tuple(s.name for s in v.elements) for v in (results, arguments))
        assert (names[0], callee.name, names[1]) == expected

    @pytest.mark.parametrize(
        "text",
        ["call (r), %rd1, (a), p;", "call (r), \n%rd1, \n(\na\n)\n, p;"],
    )
    def test_indirect(self, text):
        assert operands(text) == (
            Vector((SymbolReference("r"),)),
            reg("%rd1"),
            Vector((SymbolReference("a"),)),
            SymbolReference("p"),
        )

    def test_indirect_without_results_or_arguments(self):
        none = Vector(())
        assert operands("call %rd1, p;") == (none, reg("%rd1"), none, SymbolReference("p"))

    def test_constants_and_registers_as_arguments(self):
        assert operands("call (%r1), f, (%r2, 3, 0f00000000);") == (
            Vector((reg("%r1"),)),
            SymbolReference("f"),
            Vector((reg("%r2"), Integer(3), Float(0, 32))),
        )
