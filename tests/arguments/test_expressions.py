"""The expression language as text: what parses, what is refused and where, and dimensions."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudarun.arguments.dimensions import evaluate_dimension, integer_operation, read_dimension
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.syntax import (
    FUNCTIONS,
    Binary,
    Call,
    Comparison,
    Expression,
    FileLoad,
    Index,
    MemberOf,
    Name,
    NewAxis,
    Number,
    Old,
    Rest,
    SequenceLiteral,
    Slice,
    Unary,
)
from cudarun.arguments.scanner import Scanner
from cudarun.base.errors import ArgumentSyntaxError, RequestError


def node(text: str):
    return parse_expression(text).node


def dimension(text: str) -> Expression:
    return read_dimension(Scanner(text))


a, b, c = (Name(name, 0) for name in "abc")
one, two, three = (Number(value) for value in (1, 2, 3))


# --- trees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1 + 2 * 3", Binary("+", one, Binary("*", two, three))),
        ("(1 + 2) * 3", Binary("*", Binary("+", one, two), three)),
        ("1 - 2 - 3", Binary("-", Binary("-", one, two), three)),
        ("1 ** 2 ** 3", Binary("**", one, Binary("**", two, three))),
        ("-a ** 2", Unary("-", Binary("**", a, two))),
        ("2 ** -a", Binary("**", two, Unary("-", a))),
        ("a @ b // c", Binary("//", Binary("@", a, b), c)),
        ("a | b ^ c & 1", Binary("|", a, Binary("^", b, Binary("&", c, one)))),
        ("a << 1 + 2", Binary("<<", a, Binary("+", one, two))),
        ("a == b & c", Comparison((a, Binary("&", b, c)), ("==",))),
        ("1 <= a < 3", Comparison((one, a, three), ("<=", "<"))),
        ("a == b and b != c", Binary("and", node("a == b"), node("b != c"))),
        ("a or b and not c", Binary("or", a, Binary("and", b, Unary("not", c)))),
        ("not a == b", Unary("not", node("a == b"))),
        ("~a + +b", Binary("+", Unary("~", a), Unary("+", b))),
        ("a[1]", Index(a, (one,))),
        ("a[1:, ...]", Index(a, (Slice(one, None, None), Rest()))),
        ("a[None, 1]", Index(a, (NewAxis(), one))),
        ("a[::2, -1]", Index(a, (Slice(None, None, two), Unary("-", one)))),
        ("a[1,]", Index(a, (one,))),
        ("a[:b]", Index(a, (Slice(None, b, None),))),
        ("a[b][c]", Index(Index(a, (b,)), (c,))),
        ('a["x"][0]', Index(MemberOf(a, "x"), (Number(0),))),
        ("sum(a)", Call("sum", (a,))),
        ("sum(a, axis=1)", Call("sum", (a,), (("axis", one),))),
        ("where(a, b, c,)", Call("where", (a, b, c))),
        ("sum(axis == 1)", Call("sum", (node("axis == 1"),))),
        ("f32(a)", Call("f32", (a,))),
        ("[1, 2, 3]", SequenceLiteral((one, two, three))),
        ("(1,)", SequenceLiteral((one,))),
        ("[1]", SequenceLiteral((one,))),
        ("old(a + b)", Old(Binary("+", a, b))),
        ('load("ref.npy")', FileLoad("ref.npy")),
        ("load('a \"b\".npy')", FileLoad('a "b".npy')),
        ("1.5", Number(1.5)),
        ("4Ki", Number(4096)),
        ("0f3f800000", Number(1.0)),
        ("0x1p-1", Number(0.5)),
        ("1e-5", Number(1e-5)),
        ("1-5", Binary("-", one, Number(5))),
        ("in + lambda", Binary("+", Name("in", 0), Name("lambda", 0))),
        ("sum + sum(sum)", Binary("+", Name("sum", 0), Call("sum", (Name("sum", 0),)))),
        ("nothing", Name("nothing", 0)),
        ("a\n ==\n b", Comparison((a, b), ("==",))),
    ],
)  # fmt: skip
def test_trees(text, tree):
    assert node(text) == tree


OPERATORS = ["+", "-", "*", "//", "%", "|", "&", "^", "<<", ">>"]
integers = st.integers(0, 9).map(str)
trees = st.recursive(
    integers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(" ".join),
        st.tuples(st.sampled_from("-~+"), inner).map("".join),
        inner.map("({})".format),
    ),
    max_leaves=12,
)


@given(trees)
def test_integers_bind_and_come_out_as_in_python(text):
    try:
        expected = eval(text)
    except (ZeroDivisionError, ValueError):
        expected = None
    found = _dimension_value(text)
    if found is not None and expected is not None:
        assert found == expected
    elif expected is not None:  # refused: negative, or a step of it beyond 64 bits
        assert expected < 0 or "<<" in text or "*" in text


def _dimension_value(text: str) -> int | None:
    try:
        return evaluate_dimension(dimension(text), {})
    except RequestError:
        return None


def test_names():
    expression = parse_expression("y == a*x + old(z - y) + pi")
    assert expression.names == {"y", "a", "x", "z", "pi"}
    assert expression.old_names == {"z", "y"}
    assert expression.files == ()
    assert expression.text == str(expression) == "y == a*x + old(z - y) + pi"
    every = parse_expression("a[b:c:d, ...][[e]] + f['m'] @ sum(g, axis=h) - not_old[-i]")
    assert every.names == {*"abcdefghi", "not_old"}
    assert parse_expression("load('b') + load('a') + load('b')").files == ("b", "a")


def test_names_are_checked_with_their_column():
    expression = parse_expression(" y == alpah * x")
    expression.check_names(["y", "alpah", "x"])
    with pytest.raises(ArgumentSyntaxError) as refused:
        expression.check_names(["y", "alpha", "x"])
    assert refused.value.message == "unknown name 'alpah'; known names: y, alpha, x"
    assert refused.value.hint == "did you mean alpha?"
    assert (refused.value.text, refused.value.column) == (" y == alpah * x", 6)


def test_a_function_is_no_name():
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_expression("sum == 1").check_names(["x"])
    assert refused.value.hint == "sum is a function; call it: sum(…)"


def test_expressions_cross_to_the_worker():
    expression = parse_expression('y[1:, ...] == old(x) + load("f") @ [1, 2]')
    assert pickle.loads(pickle.dumps(expression)) == expression


# --- what is refused -----------------------------------------------------------------------------

STRINGS = 'a string is allowed only in load("…"), symbol("…"), einsum("…"), x["member"]'
REFUSED = [
    ("", 0, "expected a value, found the end"),
    ("1 +", 3, "expected a value, found the end"),
    ("x.sum()", 1, "unexpected '.'"),
    ("x[0].S()", 4, "unexpected '.'"),
    ("x.__class__()", 1, "unexpected '.'"),
    ("().__class__", 0, "empty brackets"),
    ("1.real", 0, "'1.real' is not a number"),
    ("__import__('os')", 0, "unknown function '__import__'"),
    ("eval('1')", 0, "unknown function 'eval'"),
    ("x(1)", 0, "unknown function 'x'"),
    ("sum(x)(y)", 6, "unexpected '('"),
    ("(sum)(x)", 5, "unexpected '('"),
    ("lambda: 1", 6, "unexpected ':'"),
    ("lambda x: x", 7, "unexpected 'x'"),
    ("[i for i in x]", 3, "expected ']' or ',', found 'for'"),
    ("{1: 2}", 0, "unexpected '{'"),
    ("x if y else z", 2, "unexpected 'if'"),
    ("(x := 1)", 3, "expected ')' or ',', found ':'"),
    ("x = y", 2, "unexpected '='"),
    ("x; y", 1, "unexpected ';'"),
    ("x && y", 2, "unexpected '&&'"),
    ("x || y", 2, "unexpected '||'"),
    ("!x", 0, "unexpected '!'"),
    ("x ? y : z", 2, "unexpected '?'"),
    ("x is y", 2, "unexpected 'is'"),
    ("x in y", 2, "unexpected 'in'"),
    ("x == not y", 5, "expected a value, found 'not'"),
    ("and", 0, "expected a value, found 'and'"),
    ("'text'", 0, STRINGS),
    (
        "x == 'text'",
        5,
        STRINGS,
    ),
    (
        "sum('text')",
        4,
        STRINGS,
    ),
    ("f'{x}'", 1, 'unexpected "\'"'),
    ("load(x)", 5, 'load requires the path of a file in quotes: load("ref.npy")'),
    ("load('a', 'b')", 8, "expected ')' after the path, found ','"),
    ("old(x, y)", 5, "expected ')' after the value of old, found ','"),
    ("old(old(x))", 4, "old(…) within old(…)"),
    ("(x", 2, "expected ')' or ',', found the end"),
    ("x)", 1, "unexpected ')'"),
    ("x[", 2, "expected a value, found the end"),
    ("x[]", 2, "expected an index, found ']'"),
    ("x[1:2:3:4]", 7, "expected ']' or ',', found ':'"),
    ("x['a', 1]", 5, "expected ']' after a member's name, found ','"),
    ("[]", 0, "empty brackets"),
    ("3x", 0, "'3x' is not a number"),
    ("1 2", 2, "unexpected '2'"),
    ("010", 0, "'010': write 0o10 for octal, 10 for decimal"),
    ("1e400", 0, "out of range for f64, whose largest value is 1.79769e+308"),
    ("99999999999999999999", 0, "99999999999999999999 exceeds 64 bits"),
    ("summ(x)", 0, "unknown function 'summ'"),
    ("sum()", 0, "sum takes 1 value (and axis=, keepdims=), got 0"),
    ("1 + max(x, 0)", 4, "max takes 1 value (and axis=, keepdims=), got 2"),
    ("where(x)", 0, "where takes 3 values, got 1"),
    ("arange(1,2,3,4)", 0, "arange takes 1 to 3 values, got 4"),
    ("reshape(x)", 0, "reshape takes 2 or more values, got 1"),
    ("sum(x, axes=1)", 7, "sum does not accept axes=, only axis=, keepdims="),
    ("sqrt(x, out=y)", 8, "sqrt does not accept out="),
    ("sum(x, axis=1, axis=2)", 15, "axis= is given more than once"),
    ("sum(axis=1, x)", 12, "a positional argument follows a keyword argument"),
    ("x # comment", 2, "unexpected '#'"),
    ("x[1,", 4, "expected a value, found the end"),
    ("x[0 1]", 4, "expected ']' or ',', found '1'"),
    ("sum(x y)", 6, "expected ')' or ',', found 'y'"),
    ("0f3c00", 0, "'0f3c00': a bit pattern has 8 or 16 hexadecimal digits here"),
    ("x\0", 1, "unexpected '\\x00'"),
    ("ｓum(x)", 0, "unexpected 'ｓum'"),
    ("(" * 60 + "1" + ")" * 60, 50, "nested more than 50 levels deep"),
    ("-" * 200 + "1", 50, "nested more than 50 levels deep"),
    ("x" + "[0]" * 200, 452, "more than 150 operations in one expression"),
    ("1" + "+1" * 200, 302, "more than 150 operations in one expression"),
]


@pytest.mark.parametrize(("text", "column", "message"), REFUSED, ids=[t[:30] for t, *_ in REFUSED])
def test_refused(text, column, message):
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_expression(text)
    assert (refused.value.message, refused.value.column) == (message, column)
    assert refused.value.text == text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("x = y", "use == to compare"),
        ("x && y", "use 'and', or & between parenthesized operands"),
        ("x if y else z", "use where(condition, this, that)"),
        ("x.sum()", "the only attribute is .T; call functions as sum(x)"),
    ],
)
def test_hints(text, hint):
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_expression(text)
    assert refused.value.hint == hint


def test_the_name_of_a_fill_is_no_function():
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_expression("y == iota(8)")
    assert refused.value.hint.startswith("use arange(n)\nfunctions: ")


def test_an_unknown_function_lists_all():
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_expression("summ(x)")
    hint = refused.value.hint
    assert hint.startswith("did you mean sum or einsum or cumsum?\nfunctions: abs, all, ")
    assert {*FUNCTIONS, "old", "load", "symbol"} <= {*re.findall(r"\w+", hint)}


def test_a_very_long_text_is_refused_at_once():
    with pytest.raises(ArgumentSyntaxError, match="text of 1000001 characters"):
        parse_expression("1" + "+" * 1_000_000)


@given(st.text("xysumold()[]{}+-*/<>=!&|~^%@.,:'\" 019e#\\\n", max_size=40))
def test_any_text_parses_or_is_refused_at_a_column(text):
    try:
        parse_expression(text)
        column = 0
    except ArgumentSyntaxError as refused:
        column = refused.column
    assert 0 <= column <= len(text)


def test_the_longest_chain_that_parses_is_evaluated():
    text = "x" + " + x" * 149
    assert parse_expression(text).names == {"x"}


# --- dimensions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4Ki", 4096),
        ("n", 10),
        ("2*n + 1", 21),
        ("(n + 255) // 256 * 256", 256),
        ("n % 3 + 7 // 2", 4),
        ("1 << n", 1024),
        ("n ** 2 - -n", 110),
        ("~-n", 9),
        ("0", 0),
        ("2**63", 1 << 63),
    ],
)
def test_dimensions(text, value):
    assert evaluate_dimension(dimension(text), {"n": 10}) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-n", " is -10, which is negative"),
        ("n // 0", ": 10 // 0: division by zero"),
        ("n % (n - n)", ": 10 % 0: division by zero"),
        ("9**9**9", ": 9 ** 387420489 exceeds 64 bits"),
        ("2**64", ": 2 ** 64 exceeds 64 bits"),
        ("n ** -1", ": 10 ** -1: the exponent of an integer is negative"),
        ("1 << 10**18", ": 1 << 1000000000000000000 exceeds 64 bits"),
        ("1 << -1", ": shift by -1: the shift count is negative"),
        ("1 >> -1", ": shift by -1: the shift count is negative"),
        ("m", ": unknown integer argument 'm'; the integer arguments are: n, len"),
    ],
)
def test_dimensions_that_have_no_value(text, message):
    with pytest.raises(RequestError) as refused:
        evaluate_dimension(dimension(text), {"n": 10, "len": 3})
    assert refused.value.message == f"the dimension {text!r}{message}"


@pytest.mark.parametrize("text", ["", "  "])
def test_of_nothing_there_is_nothing_to_show(text):
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_expression(text)
    assert str(refused.value) == "expected a value, found the end"


def test_a_dimension_names_the_nearest_argument():
    with pytest.raises(RequestError) as refused:
        evaluate_dimension(dimension("lne"), {"len": 3})
    assert refused.value.hint == "did you mean len?"
    with pytest.raises(RequestError, match="the integer arguments are: none"):
        evaluate_dimension(dimension("n"), {})


@pytest.mark.parametrize("text", ["n/2", "1.5", "n > 1", "sum(n)", "n[0]", "a @ b", "not n", "[1]"])
def test_dimensions_are_integers_and_names_only(text):
    with pytest.raises(ArgumentSyntaxError, match=r"in the dimension "):
        dimension(text)


def test_integer_operations_are_bounded():
    assert integer_operation(">>", 1 << 63, 10**18) == 0
    assert integer_operation("**", 1, 10**18) == 1
    assert integer_operation("**", -1, 10**18 + 1) == -1
    assert integer_operation("**", 0, 10**18) == 0
    assert integer_operation("<<", 0, 10**18) == 0


def test_every_function_has_an_arity():
    assert all(1 <= s.minimum <= s.maximum for s in FUNCTIONS.values())


# --- start-up ------------------------------------------------------------------------------------


def test_the_text_is_parsed_without_numpy():
    program = (
        "import sys\n"
        "from cudarun.arguments.grammar import parse_arguments\n"
        "from cudarun.arguments.expressions.parser import parse_expression\n"
        "from cudarun.arguments.binding import bind\n"
        "from cudarun.images.parameters import Parameter\n"
        "arguments = parse_arguments(['x=f32[n]:[1,2]', 'n=2', 'v=float4:1,2,3,4', '{f16:1}'])\n"
        "list_ = [Parameter(0, 0, 8), Parameter(1, 8, 4, type='int'), Parameter(2, 16, 16),\n"
        "         Parameter(3, 32, 2)]\n"
        "assert bind(arguments, list_, kernel='k').size == 34\n"
        "parse_expression('y == a*x + old(y)')\n"
        "heavy = {'numpy', 'ml_dtypes', 'click', 'rich', 'cuda'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
