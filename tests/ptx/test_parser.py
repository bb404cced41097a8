"""The grammar of modules and declarations; their meaning was checked against ptxas 13.0."""

import pytest

from cudarun.ptx.lexer import SourceLines
from cudarun.ptx.parser import parse
from cudarun.ptx.tree import Float, Instruction, Integer, Position, SymbolValue, Variable
from tests.ptx.parsed import HEADER, module, reg, statement, variable, variables


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
