"""Tokens: their kinds, their texts and where they begin."""

import pytest

from cudarun.ptx.errors import PtxError
from cudarun.ptx.lexer import Lines, TokenKind, tokenize
from cudarun.ptx.tree import Position


def texts(text):
    return [token.text for token in tokenize(text)[:-1]]


def kinds(text):
    return [token.kind.name for token in tokenize(text)[:-1]]


def test_the_dotted_words_of_an_instruction_are_tokens_of_their_own():
    assert texts("ld.global.L1::no_allocate.L2::128B.v4.f32 {%f1,%f2}, [%rd1+16];") == [
        "ld", ".global", ".L1::no_allocate", ".L2::128B", ".v4", ".f32",
        "{", "%f1", ",", "%f2", "}", ",", "[", "%rd1", "+", "16", "]", ";",
    ]  # fmt: skip


def test_modifiers_may_begin_with_a_digit():
    assert texts("tex.2d.v4 tcgen05.ld.32x32b.x1.b32") == [
        "tex", ".2d", ".v4", "tcgen05", ".ld", ".32x32b", ".x1", ".b32",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "literal",
    ["0", "0U", "17", "17U", "0x1fU", "0XfF", "0b101", "0B101U", "0777", "0777U"],
)
def test_integers(literal):
    assert kinds(literal) == ["INTEGER"]


@pytest.mark.parametrize("literal", ["1.5", "1.", ".5", "1e5", "1E-3", "1.5e+3", ".5e3", "9.0"])
def test_decimal_floats(literal):
    assert kinds(literal) == ["FLOAT"]


@pytest.mark.parametrize("literal", ["0f3F800000", "0F3f800000", "0d3FF0000000000000"])
def test_floats_by_their_bits(literal):
    assert kinds(literal) == ["FLOAT_BITS"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0f3F8", ["0", "f3F8"]), ("0xZZ", ["0", "xZZ"]), ("089", ["0", "89"]), ("1u", ["1", "u"])],
)
def test_a_malformed_literal_falls_apart_as_it_does_for_ptxas(text, expected):
    assert texts(text) == expected


@pytest.mark.parametrize("name", ["%r1", "$L__BB0_1", "_Z1fv", "%", "_", "a$b", "%tid"])
def test_names(name):
    assert texts(name) == [name]
    assert kinds(name) == ["PUNCTUATION" if name == "%" else "NAME"]


def test_operators_of_two_characters_are_one_token():
    assert texts("1<<2>>3<=4>=5==6!=7&&8||9") == [
        "1", "<<", "2", ">>", "3", "<=", "4", ">=", "5", "==", "6", "!=", "7", "&&", "8", "||", "9",
    ]  # fmt: skip


def test_comments_and_all_white_space_separate_and_vanish():
    assert texts("a// b\r\nc/* d\n * e */f\fg\vh\ti /**/ j") == list("acfghij")


def test_a_comment_may_end_the_text_without_a_line_feed():
    assert texts("ret; // done") == ["ret", ";"]


def test_comment_marks_inside_a_string_are_text():
    assert texts('.file 1 "a//b/*c"') == [".file", "1", '"a//b/*c"']


def test_the_last_token_is_the_end_even_of_nothing():
    assert [(token.kind, token.offset) for token in tokenize(" \n")] == [(TokenKind.END, 2)]
    assert [(token.kind, token.offset) for token in tokenize("")] == [(TokenKind.END, 0)]


def test_offsets_find_the_tokens_in_the_text():
    text = "  add.f32\t%f1, // c\n\r\n %f2;"
    for token in tokenize(text):
        assert text[token.offset :].startswith(token.text)


def test_lines_end_at_line_feeds_only():
    lines = Lines("ab\r\nc\rd\fe\n\nf")
    assert lines.position(0) == Position(1, 1)
    assert lines.position(3) == Position(1, 4)
    assert lines.position(4) == Position(2, 1)
    assert lines.position(8) == Position(2, 5)
    assert lines.position(11) == Position(4, 1)


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("add `x", "Parsing error near '`': syntax error", Position(1, 5)),
        ('ret;\n .file 1 "a', "Parsing error near '\"': syntax error", Position(2, 10)),
        ("a\n\0b", "Parsing error near '\0': syntax error", Position(2, 1)),
        ("ret; /* no", "Parsing error near '': unexpected EOF while scanning", Position(1, 6)),
        ("// é", "Unexpected non-ASCII character encountered on line 1", Position(1, 4)),
        ('\n.file 1 "ü"', "Unexpected non-ASCII character encountered on line 2", Position(2, 10)),
    ],
)
def test_what_is_no_token_ends_the_reading(text, message, position):
    with pytest.raises(PtxError) as caught:
        tokenize(text)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.message, diagnostic.position, diagnostic.severity) == (
        message,
        position,
        "fatal",
    )
