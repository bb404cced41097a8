"""What linkers see of real files."""

import pytest

from cudarun.images.symbols import LinkSymbol, link_symbols
from tests.images.golden_files import archive, golden

HEADER = b".version 8.0\n.target sm_80\n.address_size 64\n"


def roles(data, architecture=90):
    return {symbol.name: symbol.role for symbol in link_symbols(data, "x", architecture)}


def test_of_ptx():
    text = HEADER + (
        b".extern .func used (.param .b32 p);\n"
        b".extern .func unused (.param .b32 p);\n"
        b".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
        b".extern .global .align 4 .u32 word;\n"
        b".extern .shared .align 16 .b8 dynamic[];\n"
        b".visible .global .u32 shown;\n"
        b".global .u32 own;\n"
        b".weak .global .u32 soft;\n"
        b".common .global .u32 common_one;\n"
        b".visible .func outside () { ret; }\n"
        b".func inside () { ret; }\n"
        b".weak .func maybe () { ret; }\n"
        b".visible .entry kernel () { .reg .u32 %r1; ld.global.u32 %r1, [word];\n"
        b"{ .param .b32 a; st.param.b32 [a], %r1; call used, (a); } ret; }\n"
    )
    assert roles(text) == {
        "used": "wanted",
        "word": "wanted",
        "shown": "defined",
        "soft": "weak",
        "common_one": "weak",
        "outside": "defined",
        "maybe": "weak",
        "kernel": "defined",
    }


def test_ptx_tells_the_line():
    text = HEADER + b"\n.visible .func outside () { ret; }\n"
    assert link_symbols(text, "x", 90) == (LinkSymbol("outside", "defined", 5),)


def test_of_a_relocatable_cubin():
    found = roles(golden("wants.cubin"))
    assert found == {"use_part": "defined", "factor": "wanted", "_Z4partf": "wanted"}


def test_a_template_is_weak_in_every_file_that_uses_it():
    found = roles(golden("facts_relocatable.cubin"))
    assert found["_ZN2ns5scaleIfEEvPT_i"] == "weak"
    assert found["gather"] == found["counter"] == "defined"


@pytest.mark.parametrize(("architecture", "names"), [(80, {"tiny"}), (75, set())])
def test_of_an_object_the_code_for_the_architecture(architecture, names):
    found = roles(golden("tiny_rdc.o"), architecture)
    assert names <= set(found)
    assert bool(found) is bool(names)


def test_of_a_library_of_objects():
    library = archive((b"a.o/", golden("tiny_rdc.o")))
    assert "tiny" in roles(library, 80)


@pytest.mark.parametrize("data", [golden("tiny.ltoir"), b".version 8.0\nnonsense", b"\x7fELF"])
def test_what_cannot_be_read_has_none(data):
    assert link_symbols(data, "x", 90) == ()
