"""The grammar, rule by rule. What the text should mean was checked against ptxas 13.0."""

import pytest

from cudarun.ptx.lexer import SourceLines
from cudarun.ptx.parser import parse
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
    SymbolValue,
    TupleAddress,
    Variable,
    Vector,
)

HEADER = ".version 8.7\n.target sm_90\n.address_size 64\n"


def module(text):
    return parse(HEADER + text)


def variables(text):
    return module(text).variables


def variable(text):
    (only,) = variables(text)
    return only


def statements(body):
    (function,) = module(f".entry k()\n{{\n{body}\n}}").functions
    return function.body


def statement(body):
    (only,) = statements(body)
    return only


def operands(body):
    """The operands of the last statement."""
    return statements(body)[-1].operands


def reg(name):
    return Register(name)


class TestModule:
    def test_header(self):
        parsed = parse(".version 8.10\n.target sm_90a, debug\n.address_size 64")
        assert parsed.version == (8, 10)
        assert parsed.targets == ("sm_90a", "debug")
        assert parsed.address_size == 64

    def test_later_target_directives_add_to_the_first(self):
        parsed = module(".target debug\n.global .u32 x;\n.target sm_90, texmode_independent\n")
        assert parsed.targets == ("sm_90", "debug", "sm_90", "texmode_independent")
        assert [v.name for v in parsed.variables] == ["x"]

    def test_the_address_size_may_be_left_out(self):
        assert parse(".version 9.0 .target sm_90").address_size == 64

    def test_lines_are_those_of_the_text_whatever_ends_them(self):
        parsed = parse(".version 8.7\r\n.target sm_90 // x\n\n")
        lines = SourceLines(parsed.text)
        expected = [".version 8.7", ".target sm_90 // x", "", ""]
        assert [lines[number] for number in (1, 2, 3, 4)] == expected
        assert [lines[number] for number in (4, 2, 2, 3, 1)] == [
            *("", expected[1]),
            *expected[1:3],
            expected[0],
        ]
        with pytest.raises(IndexError):
            lines[5]

    def test_nul_characters_at_the_end_are_dropped(self):
        assert parse(HEADER + ".global .u32 x;\0\0").variables[0].name == "x"

    def test_files(self):
        parsed = module('.file 1 "a.cu"\n.file\t2 "/b/c.h", 1699, 12\n')
        assert parsed.files == {1: "a.cu", 2: "/b/c.h"}

    def test_sections_are_passed_over(self):
        parsed = module(
            ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90\n{ .b8 1 }\n.b32 .debug_line\n}\n"
            ".section .debug_macinfo { }\n.global .u32 x;"
        )
        assert [v.name for v in parsed.variables] == ["x"]

    def test_pragmas_are_dropped(self):
        assert module('.pragma "nounroll", "used";').variables == ()

    def test_aliases(self):
        parsed = module(".func f(){ret;}\n.func g();\n.alias g, f;")
        assert parsed.aliases == {"g": "f"}


class TestVariables:
    def test_plain(self):
        assert variable(".global .u32 x;") == Variable("global", "u32", "x", Position(4, 1))

    def test_everything_before_the_name(self):
        assert variable(
            ".visible .global .attribute(.managed, .unified(19, 95)) .align 16 .v4 .f32 v[2];"
        ) == Variable(
            "global",
            "f32",
            "v",
            Position(4, 1),
            alignment=16,
            vector=4,
            dimensions=(2,),
            linkage="visible",
            attributes=("managed", "unified(19, 95)"),
        )

    def test_the_alignment_may_stand_before_the_attribute(self):
        x = variable(".global .align 4 .attribute(.managed) .u32 x;")
        assert (x.alignment, x.attributes) == (4, ("managed",))

    @pytest.mark.parametrize("linkage", ["extern", "visible", "weak", "common"])
    def test_linkage(self, linkage):
        assert variable(f".{linkage} .global .u32 x;").linkage == linkage

    def test_dimensions(self):
        assert variable(".extern .shared .align 16 .b8 s[];").dimensions == (None,)
        assert variable(".global .b8 t[2][3];").dimensions == (2, 3)
        assert variable(".extern .global .b8 t[][0x10];").dimensions == (None, 16)

    def test_several_in_one_declaration_have_positions_of_their_own(self):
        x, y, z = variables(".global .u32 x = 1, y,\n z[2];")
        assert [v.name for v in (x, y, z)] == ["x", "y", "z"]
        assert [v.position for v in (x, y, z)] == [Position(4, 1), Position(4, 21), Position(5, 2)]
        assert (x.initial, y.initial, z.dimensions) == ((Integer(1),), None, (2,))

    def test_opaque_types(self):
        assert variable(".global .texref t;").type == "texref"
        assert variable(".tex .u32 t;").space == "tex"

    def test_registers_in_a_family(self):
        family = statement(".reg .b32 %r<10>;")
        assert (family.name, family.count) == ("%r", 10)


class TestInitialisers:
    @pytest.mark.parametrize(
        ("text", "initial"),
        [
            (".global .u32 x = (1 << 4) | 3;", (Integer(19),)),
            (".global .f32 x = 0f3F800000;", (Float(0x3F800000, 32),)),
            (".global .f64 x = -1.5;", (Float(0xBFF8000000000000, 64),)),
            (".global .b8 x[4] = {97, 98};", (Integer(97), Integer(98))),
            (".global .u32 x[2] = {};", ()),
            (".global .b8 x[2][3] = {{1,2},{3}};", tuple(map(Integer, (1, 2, 3)))),
            (".global .b8 x[][2] = {{1},{2},{}};", tuple(map(Integer, (1, 2, 0, 0, 0, 0)))),
            (".const .v2 .u8 x[2] = {{1,2},{3,4}};", tuple(map(Integer, (1, 2, 3, 4)))),
            (".global .v4 .u32 x = {1,2,3,4};", tuple(map(Integer, (1, 2, 3, 4)))),
            (".global .b8 x[2][2][2] = {{{1},{2}},{{3,4}}};", tuple(map(Integer, (1, 2, 3, 4)))),
            (".global .u32 x = WARP_SZ;", (Integer(32),)),
        ],
    )
    def test_numbers_lie_in_memory_order(self, text, initial):
        assert variable(text).initial == initial

    @pytest.mark.parametrize(
        ("text", "initial"),
        [
            (".global .u64 x = f;", SymbolValue("f")),
            (".global .u64 x = a+4+4;", SymbolValue("a", 8)),
            (".global .u64 x = a + -4;", SymbolValue("a", -4)),
            (".global .u64 x = generic(a);", SymbolValue("a", generic=True)),
            (".global .u64 x = generic(a)+4;", SymbolValue("a", 4, generic=True)),
            (".global .u64 x = generic;", SymbolValue("generic")),
            (".global .u8 x = 0xff00(a);", SymbolValue("a", mask=0xFF00)),
            (".global .u8 x = 0xFF(a+4);", SymbolValue("a", 4, mask=0xFF)),
            (".global .u8 x = 0xFF(generic(a)+4);", SymbolValue("a", 4, generic=True, mask=0xFF)),
        ],
    )
    def test_addresses(self, text, initial):
        assert variable(text).initial == (initial,)

    def test_addresses_in_an_array(self):
        x = variable(".global .u64 x[3] = {generic($str), $str$1, 0};")
        assert x.initial == (SymbolValue("$str", generic=True), SymbolValue("$str$1"), Integer(0))


class TestFunctions:
    def function(self, text):
        (only,) = module(text).functions
        return only

    def test_an_entry(self):
        k = self.function(
            ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .f32 n\n)\n{ret;}"
        )
        assert (k.name, k.is_entry, k.linkage, k.results) == ("k", True, "visible", ())
        assert k.parameters == (
            Variable("param", "u64", "k_param_0", Position(5, 2)),
            Variable("param", "f32", "n", Position(6, 2)),
        )
        assert k.position == Position(4, 1)
        assert k.body == (Instruction("ret", (), (), Position(8, 2)),)

    def test_an_entry_without_a_parameter_list(self):
        assert self.function(".entry k { ret; }").parameters == ()

    def test_declarations_that_begin_like_earlier_ones(self):
        text = """.visible .entry k(.param .u64 a, .param .u64 .ptr .global .align 16 b, .param .u64
            .ptr/**/.global c, .param .u64 .ptr .global .align 16 d, .param .u64 /* e */ e[2])"""
        (k,) = module(
            f"{text} {{ .local .align 8 .b8 x[4]; .local .align 8 .b8 y; ret; }}"
        ).functions
        known = [(p.name, p.pointer, p.alignment, p.dimensions) for p in k.parameters]
        assert known == [
            ("a", None, None, ()),
            ("b", ("global", "align", "16"), None, ()),
            ("c", ("global",), None, ()),
            ("d", ("global", "align", "16"), None, ()),
            ("e", None, None, (2,)),
        ]
        assert [p.position.line for p in k.parameters] == [4, 4, 4, 5, 5]
        assert [(v.alignment, v.dimensions) for v in k.body[:2]] == [(8, (4,)), (8, ())]

    def test_kernel_parameters_that_are_pointers(self):
        k = self.function(
            ".entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr b,"
            " .param .u64 .ptr .shared c, .param .align 8 .b8 s[24], .param .b8 .align 4 t[4])"
            "{ret;}"
        )
        assert [p.pointer for p in k.parameters] == [
            ("global", "align", "16"), (), ("shared",), None, None,
        ]  # fmt: skip
        assert [p.alignment for p in k.parameters] == [None, None, None, 8, 4]
        assert k.parameters[3].dimensions == (24,)

    def test_directives(self):
        k = self.function(
            '.entry k() .maxntid 128, 1, 1 .minnctapersm 2 .maxnreg 32 .pragma "x";\n'
            ".explicitcluster .reqnctapercluster 2,1,1 .blocksareclusters {ret;}"
        )
        assert k.directives == {
            "maxntid": (128, 1, 1),
            "minnctapersm": (2,),
            "maxnreg": (32,),
            "explicitcluster": (),
            "reqnctapercluster": (2, 1, 1),
            "blocksareclusters": (),
        }

    def test_a_function_with_a_result(self):
        f = self.function(
            ".func (.param .b32 r) f (.param .b32 a, .param .align 4 .b8 b[8]) {ret;}"
        )
        assert not f.is_entry
        assert [v.name for v in f.results] == ["r"]
        assert [v.name for v in f.parameters] == ["a", "b"]

    def test_registers_as_parameters(self):
        f = self.function(".func (.reg .u32 %out) f (.reg .u32 in) { add.u32 %out, in, in; ret; }")
        assert f.body[0].operands == (reg("%out"), reg("in"), reg("in"))

    def test_a_declaration_has_no_body(self):
        f = self.function(".extern .func  (.param .b32 r) vprintf\n(\n.param .b64 a\n)\n;")
        assert (f.body, f.linkage) == (None, "extern")

    def test_a_declaration_need_not_end_in_a_semicolon(self):
        parsed = module(".extern .func f (.param .b32 a)\n.global .u32 x;\n.extern .func g\n")
        assert [f.name for f in parsed.functions] == ["f", "g"]
        assert [v.name for v in parsed.variables] == ["x"]

    def test_noreturn_and_attributes(self):
        f = self.function(".func .attribute(.unified(19, 95)) f () .noreturn .abi_preserve 7;")
        assert f.directives == {"unified": (19, 95), "noreturn": (), "abi_preserve": (7,)}

    def test_all_statements_with_the_blocks_opened(self):
        k = self.function(".entry k() { a: { trap; { b: } } exit; }")
        names = [getattr(s, "name", None) for s in k.statements()]
        assert names == ["a", "trap", "b", "exit"]


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
            LineMark(1, 9, 44, Position(6, 1)),
            LineMark(2, 107, 3, Position(7, 1)),
            LineMark(2, 108, 4, Position(8, 1)),
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
