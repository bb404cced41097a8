"""The linker's own work: which definition counts, and what the merged text says."""

import re

import pytest

from cudarun.emulator.host import linker
from cudarun.emulator.host.images import NotLoadable
from cudarun.emulator.host.linker import Linker, LinkInput
from cudarun.ptx.parser import parse

HEADER = ".version {version}\n.target sm_80\n.address_size 64\n"
MAIN = """
.extern .func (.param .b32 r) helper (.param .b32 v);
.extern .global .align 4 .u32 shared_word;
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .u32 local_word = 1;
.visible .entry main_kernel ( .param .u64 out )
{
    .reg .b32 %r<4>;
    .loc 1 10 3
    ld.global.u32 %r1, [shared_word];
    ld.global.u32 %r2, [local_word];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), helper, (a); }
    ret;
}
    .file 1 "main.cu"
"""
PART = """
.visible .global .align 4 .u32 shared_word = 3;
.global .align 4 .u32 local_word = 2;
.extern .shared .align 16 .b8 dynamic[];
.visible .func (.param .b32 r) helper (.param .b32 v)
{
    .reg .b32 %r<3>;
    .loc 1 20 3, function_name $L__info_string0, inlined_at 1 7 2
    ld.global.u32 %r1, [local_word];
    st.param.b32 [r], %r1;
    ret;
}
    .file 1 "part.cu"
    .section .debug_str
    {
$L__info_string0:
.b8 104
.b8 0
    }
"""


def text(body, version="8.0"):
    return HEADER.format(version=version) + body


@pytest.fixture(autouse=True)
def parse_only(monkeypatch):
    """What the merged text means is the compiler's business; here it must parse."""
    monkeypatch.setattr(linker, "compile_text", parse)


def linked(*inputs):
    linker = Linker()
    for number, body in enumerate(inputs, start=1):
        linker.add(LinkInput(f"input{number}", text(body)))
    return linker.complete()


def function(body, name):
    """A function of a merged text."""
    return next(f for f in parse(body).functions if f.name == name and f.body is not None)


def variables(body):
    return {v.name: v for v in parse(body).variables}


# --- what the merged text says -------------------------------------------------------------------


@pytest.mark.parametrize("order", [(MAIN, PART), (PART, MAIN)])
def test_one_header_and_every_definition_once(order):
    merged = linked(*order)
    assert merged.count(".version") == merged.count(".address_size") == 1
    module = parse(merged)
    defined = [f.name for f in module.functions if f.body is not None]
    assert sorted(defined) == ["helper", "main_kernel"]
    assert [v.name for v in module.variables if v.linkage == "visible"] == ["shared_word"]


def test_a_declaration_takes_the_linkage_of_its_definition():
    declared = [f for f in parse(linked(MAIN, PART)).functions if f.body is None]
    assert {f.name: f.linkage for f in declared} == {"helper": "visible", "vprintf": "extern"}


def test_a_limit_of_registers_is_that_of_kernels_without_launch_bounds():
    linker = Linker()
    bounded = ".visible .entry bounded() .maxntid 64\n{ ret; }\n"
    linker.add(LinkInput("code", text(MAIN + PART.replace(".extern", "// ") + bounded)))
    functions = parse(linker.complete(40)).functions
    found = {each.name: each.directives for each in functions if each.body is not None}
    assert found == {"main_kernel": {"maxnreg": (40,)}, "helper": {}, "bounded": {"maxntid": (64,)}}


def test_the_newest_version_counts():
    linker = Linker()
    linker.add(LinkInput("old", text(MAIN, "7.0")))
    linker.add(LinkInput("new", text(PART, "8.3")))
    assert parse(linker.complete()).version == (8, 3)


def test_local_names_stay_apart():
    merged = linked(MAIN, PART)
    values = {name: v.initial[0].value for name, v in variables(merged).items() if v.initial}
    assert values == {"local_word": 1, "local_word$2": 2, "shared_word": 3}
    assert (
        "[local_word$2]"
        in merged[merged.index(".func (.param .b32 r) helper (.param .b32 v)\n{") :]
    )
    assert "[local_word]" in merged[merged.index("main_kernel") :]


def test_a_local_name_gives_way_to_a_visible_one():
    merged = linked(".global .align 4 .u32 word = 1;", ".visible .global .align 4 .u32 word = 2;")
    values = {name: v.initial[0].value for name, v in variables(merged).items()}
    assert values == {"word$1": 1, "word": 2}


def test_source_lines_keep_their_files():
    merged = linked(MAIN, PART)
    module = parse(merged)
    assert module.files == {1: "main.cu", 2: "part.cu"}
    marks = {
        name: next(s.file for s in function(merged, name).body if type(s).__name__ == "LineMark")
        for name in ("main_kernel", "helper")
    }
    assert marks == {"main_kernel": 1, "helper": 2}
    assert "inlined_at 2 7 2" in merged
    assert ".section" not in merged


def test_comments_that_look_like_code_do_no_harm():
    commented = "// .extern .func helper; {\n/* } */\n" + PART
    assert sorted(variables(linked(MAIN, commented))) == sorted(variables(linked(MAIN, PART)))


def test_several_variables_in_one_statement():
    merged = linked(".visible .global .align 4 .u32 a = 1, b = 2;", ".global .align 4 .u32 c;")
    assert sorted(variables(merged)) == ["a", "b", "c"]


# --- which definition counts ---------------------------------------------------------------------


def weak(value):
    return f".weak .func (.param .b32 r) pick () {{ st.param.b32 [r], {value}; ret; }}"


def strong(value):
    return weak(value).replace(".weak", ".visible")


@pytest.mark.parametrize(
    ("inputs", "kept"),
    [
        ([weak(1), weak(2)], "1"),
        ([weak(1), strong(2)], "2"),
        ([strong(1), weak(2)], "1"),
        ([weak(1), strong(2), weak(3)], "2"),
    ],
)
def test_of_weak_definitions_one_is_kept(inputs, kept):
    merged = linked(*inputs)
    assert re.findall(r"st\.param\.b32 \[r\], (\d)", merged) == [kept]


def test_of_common_definitions_the_largest():
    merged = linked(
        ".common .global .align 4 .b8 room[4];",
        ".common .global .align 4 .b8 room[64];",
        ".common .global .align 4 .b8 room[16];",
    )
    assert variables(merged)["room"].dimensions == (64,)


def test_two_definitions():
    linker = Linker()
    linker.add(LinkInput("one.ptx", text(PART)))
    with pytest.raises(NotLoadable) as caught:
        linker.add(LinkInput("two.ptx", text(PART)))
    assert sorted(str(caught.value).splitlines()) == [
        "error   : Multiple definition of 'helper' in 'two.ptx', first defined in 'one.ptx'",
        "error   : Multiple definition of 'shared_word' in 'two.ptx', first defined in 'one.ptx'",
    ]
    assert sorted(variables(linker.complete())) == ["dynamic", "local_word", "shared_word"]


def test_entries_are_visible_to_all():
    entry = ".entry kernel () { ret; }"
    with pytest.raises(NotLoadable, match="Multiple definition of 'kernel'"):
        linked(entry, entry)


def test_no_definition():
    linker = Linker()
    linker.add(LinkInput("one.ptx", text(MAIN)))
    assert sorted(linker.undefined()) == [
        "error   : Undefined reference to 'helper' in 'one.ptx'",
        "error   : Undefined reference to 'shared_word' in 'one.ptx'",
    ]
    linker.add(LinkInput("two.ptx", text(PART)))
    assert linker.undefined() == []


def test_a_sized_shared_array_is_that_of_the_other_input():
    use = text(
        ".extern .shared .align 4 .b8 tile[64];\n.visible .entry k ()\n"
        "{ .reg .b32 %r; ld.shared.u32 %r, [tile]; ret; }\n"
    )
    linker = Linker()
    linker.add(LinkInput("one.ptx", use))
    assert linker.undefined() == ["error   : Undefined reference to 'tile' in 'one.ptx'"]
    linker.add(LinkInput("two.ptx", text(".visible .shared .align 4 .b8 tile[64];\n")))
    assert linker.undefined() == []
    assert list(variables(linker.complete())) == ["tile"]


def test_an_image_with_no_definition_is_not_compiled(monkeypatch):
    compiled = []
    monkeypatch.setattr(linker, "compile_text", compiled.append)
    assert "main_kernel" in linked(MAIN)
    assert compiled == []
    whole = linked(MAIN, PART)
    assert compiled[-1] == whole


def test_a_declaration_that_nobody_uses_wants_no_definition():
    unused = ".extern .func nobody ();\n.extern .global .u32 nothing;\n"
    assert "main_kernel" in linked(unused + MAIN, PART)


def test_no_input():
    with pytest.raises(NotLoadable, match="No input files"):
        Linker().complete()
