"""The language of ``--filter``."""

from __future__ import annotations

import pytest

from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.session.driver.contexts import ContextOptions
from cudarun.session.driver.selection import parse_devices
from cudarun.session.spec.case import Case
from cudarun.session.spec.filter import glob, parse_filter


def case(name: str, devices: str = "cpu", **facts: object) -> Case:
    """A case with the facts that a filter sees."""
    return Case(name, 1, None, parse_devices(devices), ContextOptions(), **facts)  # type: ignore[arg-type]


CASES = (
    case("saxpy[n=1]", image="samples/saxpy.ptx", kernel="saxpy", matrix={"n": 1, "fast": True}),
    case("saxpy[n=31]", image="samples/saxpy.ptx", kernel="saxpy", matrix={"n": 31, "fast": False}),
    case("Far-past, twice", "cpu:1,0", image="a b.cu", kernel="f<int, 2>", matrix={"dtype": "f32"}),
    case("not", "all", image="x.cubin", matrix={"n": 2**53 + 1, "ratio": 0.5}),
)


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        # Parts of names, as for -k of pytest.
        ("saxpy", "01"),
        ("SAXPY", "01"),
        ("past", "2"),
        ("far-past", "2"),
        ("31", "1"),
        ("'[n=1]'", "0"),
        ('"far-past, t"', "2"),
        ("'not'", "3"),
        ("saxpy*", "01"),
        ("axpy*", ""),
        ("'*n=1?'", "0"),
        ("'*[n=?]'", "0"),
        # Values.
        ("n == 1", "0"),
        ("n==1", "0"),
        ("n == 1.0", "0"),
        ("n == '1'", "0"),
        ("n != 1", "13"),
        ("n < 31", "0"),
        ("n <= 31", "01"),
        ("n > 1", "13"),
        ("n >= 3.1e1", "13"),
        ("n > -1", "013"),
        ("n == 9007199254740993", "3"),
        ("n == 9007199254740992", ""),
        ("fast == true", "0"),
        ("fast != true", "1"),
        ("ratio == .5", "3"),
        ("dtype == f32", "2"),
        ("dtype == f*", "2"),
        ("dtype != f16", "2"),
        ("dtype < 3", ""),
        ("name == 'not'", "3"),
        ("name == 'saxpy[n=1]'", "0"),
        ("name == saxpy", ""),
        ("image == samples/*.ptx", "01"),
        ("image == 'a b.cu'", "2"),
        ("image != *.ptx", "23"),
        ("kernel == 'f<int, 2>'", "2"),
        ("kernel != saxpy", "2"),  # the last case has none
        ("device == cpu", "01"),
        ("device == cpu:1", "2"),
        ("device == 0", "2"),
        ("device != cpu", "23"),
        ("device == all", "3"),
        # Operators.
        ("not saxpy", "23"),
        ("!saxpy", "23"),
        ("! n == 1", "123"),
        ("not not saxpy", "01"),
        ("saxpy and n > 1", "1"),
        ("saxpy & n > 1", "1"),
        ("saxpy && n > 1", "1"),
        ("past or n == 1", "02"),
        ("past | n == 1", "02"),
        ("past||n == 1", "02"),
        ("past or saxpy and 31", "12"),
        ("(past or saxpy) and 31", "1"),
        ("not past or saxpy", "013"),
        ("not (past or saxpy)", "3"),
        ("android or orc or nothing", ""),
    ],
)
def test_selection(text: str, selected: str) -> None:
    matches = parse_filter(text, CASES)
    assert "".join(str(n) for n, each in enumerate(CASES) if matches(each)) == selected


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [
        ("", "expected a name, a number or a quoted text", 0),
        ("saxpy and", "expected a name, a number or a quoted text", 9),
        ("and saxpy", "expected a name, a number or a quoted text", 0),
        ("saxpy or or past", "expected a name, a number or a quoted text", 9),
        ("saxpy past", "unexpected 'past'", 6),
        ("(saxpy", "expected ')' after an expression in parentheses, found the end", 6),
        ("n = 1", "unexpected '='", 2),
        ("n == ", "expected a name, a number or a quoted text", 5),
        ("n == 'x", "expected a name, a number or a quoted text", 5),
        ("n < many", "'many' is not a number to compare with", 4),
        ("1 == n", "unknown name '1'; the cases have name, image, kernel, device, n, fast, dtype, "
         "ratio", 0),
        ("saxpy and m == 1", "unknown name 'm'; the cases have name, image, kernel, device, n, "
         "fast, dtype, ratio", 10),
        ("(" * 60, "nested more than 50 levels deep", 50),
        ("not " * 2000 + "x", "nested more than 50 levels deep", 200),
    ],
)  # fmt: skip
def test_what_does_not_parse(text: str, what: str, column: int) -> None:
    with pytest.raises(ArgumentSyntaxError) as caught:
        parse_filter(text, CASES)
    assert (caught.value.what, caught.value.column) == (what, column)
    assert caught.value.subject("option") == ("--filter",)


def test_a_filter_is_bounded() -> None:
    with pytest.raises(RequestError, match="--filter: text of 200000 characters"):
        parse_filter("x" * 200_000, CASES)
    long = " or ".join(["saxpy"] * 10_000)
    assert parse_filter(long, CASES)(CASES[0])


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a*", "abc", True),
        ("a?", "abc", False),
        ("a?c", "abc", True),
        ("[abc]", "a", False),
        ("x[n=?,*]", "x[n=1,m=2]", True),
        ("[!a]*", "[!a]b", True),
        ("a.c", "abc", False),
        ("a\\*", "a\\b", True),
    ],
)
def test_globs_have_no_sets(pattern: str, text: str, matches: bool) -> None:
    assert (glob(pattern).fullmatch(text) is not None) == matches
