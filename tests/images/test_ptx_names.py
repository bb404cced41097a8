"""The names of kernels, found without parsing a text."""

from __future__ import annotations

import pytest

from cudarun.base.errors import RequestError
from cudarun.images.ptx_search import kernel_names, possible_names
from cudarun.session.image.kernels import check_text

BODY = b"(.param .u64 p)\n{\n ret;\n}\n"
# Texts, the kernels that they define, and all names that they could define.
TEXTS = {
    b".visible .entry k" + BODY: (["k"], ["k"]),
    b".entry\n\tk" + BODY + b".entry %j$" + BODY: (["k", "%j$"], ["k", "%j$"]),
    b".entry k();\n.entry k" + BODY: (["k"], ["k", "k"]),
    b"// .entry k" + BODY: ([], ["k"]),
    b"/* .entry k */ .entry j" + BODY: (["j"], ["k", "j"]),
    b".entry k(// {;\n) { ret; }": (["k"], ["k"]),
    b".entry k" + BODY + b"\0.entry j" + BODY: (["k"], ["k", "j"]),
    b".entry /* a */ k" + BODY: (["k"], None),
    b".entry // a\n k" + BODY: ([], None),
    b".entry a{} // .entry b{} .entry c{}\n.entry d{}": (["a", "d"], ["a", "b", "c", "d"]),
    b".entry a( // .entry b\n) {} .entry c {}": (["a", "c"], ["a", "b", "c"]),
    b".entry a() .entry b() ;": ([], ["a", "b"]),
}


@pytest.mark.parametrize("text", TEXTS)
def test_names(text: bytes) -> None:
    names, possible = TEXTS[text]
    assert [*kernel_names(text)] == names
    assert possible_names(text) == possible


@pytest.mark.parametrize("text", [text for text, (_, possible) in TEXTS.items() if possible])
def test_only_what_cannot_be_a_kernel_is_refused(text: bytes) -> None:
    names, possible = TEXTS[text]
    for name in possible or ():
        check_text(text, name, "x.ptx")
    if not names:  # the parser tells
        check_text(text, "nothing", "x.ptx")
        return
    with pytest.raises(RequestError, match=r"x\.ptx has no kernel 'nothing'"):
        check_text(text, "nothing", "x.ptx")


def test_a_name_behind_a_comment_is_left_to_the_parser() -> None:
    check_text(b".entry // a\n k" + BODY + b".entry j" + BODY, "k", "x.ptx")


def test_spellings_of_a_mangled_name_are_found() -> None:
    text = b".entry _Z5scaleIfEvPT_i" + BODY
    for wanted in ("scale", "scale<float>", "_Z5scaleIfEvPT_i"):
        check_text(text, wanted, "x.ptx")
    with pytest.raises(RequestError) as refused:
        check_text(text, "scala", "x.ptx")
    assert "did you mean 'scale'?" in (refused.value.hint or "")
