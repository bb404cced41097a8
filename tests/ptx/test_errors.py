"""Every complaint of the parser. The words are those of ptxas 13.0 on the same text."""

import pickle
from typing import Any

import pytest

from cudarun.base.errors import ExitCode, ImageRefused
from cudarun.model.documents import plain
from cudarun.ptx.errors import PtxDiagnostic, PtxError, ptxas_log
from cudarun.ptx.parser import parse
from cudarun.ptx.tree import Position

HEADER = ".version 8.7\n.target sm_90\n.address_size 64\n"


def refusal(text):
    with pytest.raises(PtxError) as caught:
        parse(text)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def syntax_error(word, line, column):
    return PtxDiagnostic(
        Position(line, column), f"Parsing error near '{word}': syntax error", "fatal"
    )


@pytest.mark.parametrize(
    ("text", "word", "line", "column"),
    [
        (".foo a;", ".foo", 4, 1),
        (".global .xx a;", ".xx", 4, 9),
        (".global .visible .u32 x;", ".visible", 4, 9),
        (".global .v4 .align 16 .f32 x;", ".align", 4, 13),
        (".global .u32 x", "", 4, 15),
        (".global .u32 x[-1];", "-", 4, 16),
        (".global .u32 x[1+1];", "+", 4, 17),
        (".global .u32 x[2][];", "]", 4, 19),
        (".global .u32 x[2] = {1,};", "}", 4, 24),
        (".global .u32 x[2] = {1", "", 4, 23),
        (".global .u32 x[2] = 1;", "1", 4, 21),
        (".global .u64 x = a-4;", "-", 4, 19),
        (".global .u64 x = generic(a+4);", "+", 4, 27),
        ('.global .b8 x[] = "hello";', '"hello"', 4, 19),
        (".section .debug_str {", "", 4, 22),
        (".section debug_str { }", "debug_str", 4, 10),
        (".pragma nounroll;", "nounroll", 4, 9),
        (".version 8.7", ".version", 4, 1),
        ("hello", "hello", 4, 1),
        (".entry k() .maxntid x {ret;}", "x", 4, 21),
        (".entry k() .maxntid (1,2,3) {ret;}", "(", 4, 21),
        (".entry k(.param .u64 .ptr .align 16 .global p) {ret;}", ".global", 4, 37),
        (".entry k(.param .u64 p {ret;}", "{", 4, 24),
        (".entry k() {ret;}\n}", "}", 5, 1),
        (".entry k() {\nret;\n", "", 6, 1),
    ],
)
def test_syntax_errors_of_declarations(text, word, line, column):
    assert refusal(HEADER + text) == syntax_error(word, line, column)


@pytest.mark.parametrize(
    "literal",
    [
        "1" * 21,
        "1" * 5000,
        "0" + "1" * 50,
        "0b" + "1" * 65,
        "1" * 5000 + "U",
        "1+" + "9" * 30,
    ],
)
def test_integers_that_overflow(literal):
    overflow = PtxDiagnostic(Position(4, 18), "Constant overflow", "error")
    assert refusal(f"{HEADER}.global .u64 x = {literal};") == overflow


def test_a_number_that_overflows():
    overflow = PtxDiagnostic(Position(4, 18), "Constant overflow", "error")
    assert refusal(f"{HEADER}.global .u32 x[  {'9' * 5000}];") == overflow


@pytest.mark.parametrize(
    ("text", "word", "line", "column"),
    [
        ("add.f32 %f1,%f2,%f3\nret;", "ret", 7, 1),
        ("add.f32 %f1 %f2,%f3;", "%f2", 6, 13),
        ("add.f32 %f1,,%f3;", ",", 6, 13),
        ("add.f32 %f1,%f2,%f3, ;", ";", 6, 22),
        ("ld.global.u32 %r1,[%rd1;", ";", 6, 24),
        ("ld.global.u32 %r1,[%rd1-8];", "-", 6, 24),
        ("ld.global.u32 %r1,[a[1]];", "[", 6, 21),
        ("mov.u64 %rd1, a-4;", "-", 6, 16),
        ("mov.u64 %rd1, 4+a;", "a", 6, 17),
        ("mov.u32 %r1, 0xZZ;", "xZZ", 6, 15),
        ("mov.f32 %f1, 0f3F8;", "f3F8", 6, 15),
        ("mov.u32 %r1, 089;", "89", 6, 15),
        ("mov.u32 %r1, 1u;", "u", 6, 15),
        ("mov.u32 %r1, 7%3;", "%3", 6, 15),
        ("mov.b64 {%r1, %r2, %rd1;", ";", 6, 24),
        (";", ";", 6, 1),
        ("@%p1 { }", "{", 6, 6),
        (".loc 1 x 3", "x", 6, 8),
        (".loc 1 2 3, somewhere 4", "somewhere", 6, 13),
        ("call (r) f;", "f", 6, 10),
        ("L: .branchtargets ;", ";", 6, 19),
        ("op table.x;", ".x", 6, 9),
    ],
)
def test_syntax_errors_of_statements(text, word, line, column):
    body = f".entry k()\n{{\n{text}\n}}\n"
    assert refusal(HEADER + body) == syntax_error(word, line, column)


@pytest.mark.parametrize(
    ("text", "position", "message", "severity"),
    [
        ("", (1, 1), "Missing .version directive at start of file", "fatal"),
        ("// x\nhello", (2, 1), "Missing .version directive at start of file", "fatal"),
        (".target sm_90", (1, 1), "Missing .version directive at start of file", "fatal"),
        (".version 8.7\n", (2, 1), "Missing .target directive at start of file", "fatal"),
        (
            HEADER + ".global .u32 w[2] = {1,2,3};",
            (4, 26),
            "Greater number of elements in array initializer",
            "fatal",
        ),
        *(
            (
                HEADER + f".global .v2 .u32 w{wrong};",
                None,
                "Incorrect number of elements in vector initializer",
                "fatal",
            )
            for wrong in (" = {1}", " = {1,2,3}", "[2] = {{1,2},{}}")
        ),
        *(
            (
                HEADER + f".entry k() {{ {linkage} .{space} .b32 x; ret; }}",
                None,
                f"Parsing error near '{near or f'.{space}'}': syntax error",
                "fatal",
            )
            for linkage, near in ((".visible", ""), (".extern", ""), (".common", ".common"))
            for space in ("reg", "shared", "global")
        ),
        *(
            (HEADER + text, None, message, "error")
            for text, message in (
                (".shared .b8 x[];", "Non-external variable 'x' has incomplete type"),
                (".global .b8 y, x[];", "Non-external variable 'x' has incomplete type"),
                (
                    ".entry k() { .shared .b8 x[]; ret; }",
                    "Non-external variable 'x' has incomplete type",
                ),
                (
                    ".extern .global .b32 x = 5;",
                    "No initial value is allowed for external symbol 'x'",
                ),
                (
                    ".extern .const .b8 x[1] = {5};",
                    "No initial value is allowed for external symbol 'x'",
                ),
                (
                    ".common .shared .b32 x;",
                    ".common variables must be declared in .global space",
                ),
            )
        ),
        (
            HEADER + ".global .b8 w[2][2] = {{1,2},{3,4},{5}};",
            (4, 36),
            "Greater number of elements in array initializer",
            "fatal",
        ),
        (
            HEADER + ".entry k() { ld.global.u32 %r1, [%rd1+1.5]; }",
            (4, 39),
            "Integer constant expression expected",
            "error",
        ),
        (
            HEADER + ".entry k() { ld.global.u32 %r1, nowhere[1]; }",
            (4, 33),
            "Unknown symbol 'nowhere'",
            "error",
        ),
        (
            HEADER + ".entry k() { selp.b32 %r1, 1, 2, !table; }",
            (4, 35),
            "Predicate expression expected",
            "error",
        ),
        (".version .5", (1, 10), "Parsing error near '.5': syntax error", "fatal"),
        (".version 9", (1, 10), "Parsing error near '9': syntax error", "fatal"),
        (
            HEADER + ".global .b8 w[2][4000000000] = {{1}};",
            (4, 32),
            "Array initializer is too large",
            "fatal",
        ),
        (HEADER + ".global .u32 x = " + "(" * 5000, None, "Nesting is too deep", "fatal"),
        (HEADER + ".entry k() " + "{" * 5000, None, "Nesting is too deep", "fatal"),
    ],
)
def test_other_complaints(text, position, message, severity):
    diagnostic = refusal(text)
    assert (diagnostic.message, diagnostic.severity) == (message, severity)
    if position is not None:
        assert diagnostic.position == Position(*position)


def test_columns_count_characters_and_lines_end_at_line_feeds():
    assert refusal(".version 8.7\r\n.target sm_90\r\n\t\f.foo").position == Position(3, 3)


class TestPtxError:
    several = PtxError(
        [
            PtxDiagnostic(Position(46, 3), "Unknown modifier '.xx'"),
            PtxDiagnostic(Position(51, 3), "Not a name of any known instruction: 'frob'"),
        ],
        file="saxpy.ptx",
    )

    def test_it_is_an_image_refused(self):
        assert isinstance(self.several, ImageRefused)
        assert self.several.exit_code is ExitCode.IMAGE_REFUSED
        assert self.several.context == {"file": "saxpy.ptx"}

    def test_the_message_is_the_first_complaint(self):
        assert str(self.several) == "PTX line 46: Unknown modifier '.xx' (and 1 more)"
        assert str(PtxError(self.several.diagnostics[:1])) == "PTX line 46: Unknown modifier '.xx'"

    def test_the_log_is_that_of_ptxas(self):
        assert self.several.log == (
            "ptxas application ptx input, line 46; error   : Unknown modifier '.xx'\n"
            "ptxas application ptx input, line 51; error   : "
            "Not a name of any known instruction: 'frob'\n"
            "ptxas fatal   : Ptx assembly aborted due to errors"
        )

    def test_a_log_of_warnings_ends_without_an_abort(self):
        warning = PtxDiagnostic(Position(3, 1), "Pragma 'x' unsupported", "warning")
        assert ptxas_log([warning], "a.ptx") == (
            "ptxas a.ptx, line 3; warning : Pragma 'x' unsupported"
        )

    def test_it_tells_every_place_in_a_json_document(self):
        document: Any = plain(self.several)
        assert document["kind"] == "PtxError"
        assert document["file"] == "saxpy.ptx"
        assert document["diagnostics"][0] == {
            "line": 46,
            "column": 3,
            "severity": "error",
            "message": "Unknown modifier '.xx'",
        }
        assert len(document["diagnostics"]) == 2

    def test_it_crosses_to_another_process(self):
        copy = pickle.loads(pickle.dumps(self.several))
        assert copy.diagnostics == self.several.diagnostics
        assert (str(copy), copy.log) == (str(self.several), self.several.log)
