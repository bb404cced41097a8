"""``docs/reference/arguments.md`` is true: its examples parse and its tables are the program's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudarun.arguments import types
from cudarun.arguments.binding import bind
from cudarun.arguments.buffers import INITIALS
from cudarun.arguments.expressions.deferral import MAX_ELEMENTS
from cudarun.arguments.expressions.parser import _PRECEDENCE, MAX_OPERATIONS, parse_expression
from cudarun.arguments.expressions.syntax import CASTS, CONSTANTS, FUNCTIONS
from cudarun.arguments.expressions.tolerance import DEFAULT_TOLERANCES
from cudarun.arguments.grammar import parse_argument, parse_arguments
from cudarun.arguments.literals import SUFFIXES, as_number, encode
from cudarun.arguments.scanner import MAX_NESTING
from cudarun.arguments.types import ALIASES, SCALARS, VECTOR_ALIASES, VECTORS
from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/arguments.md").read_text()


def section(heading: str) -> str:
    """From a heading to the next of its level or above."""
    level = heading.split(" ")[0]
    after = PAGE.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"\n#{{2,{len(level)}}} ", after)[0]


def blocks(kind: str) -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return [line for block in found for line in block.splitlines()]


def table(text: str, first: str) -> list[list[str]]:
    """The rows of the table whose head begins with ``first``."""
    rows = text.split(f"| {first} |", 1)[1].splitlines()[2:]
    cells = []
    for row in rows:
        if not row.startswith("|"):
            break
        cells.append([cell.strip() for cell in row.strip("|").split("|")])
    return cells


def names(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


@pytest.mark.parametrize("text", blocks("args"))
def test_examples_of_arguments(text):
    argument = parse_argument(text)
    assert parse_argument(str(argument)) == argument


@pytest.mark.parametrize("text", blocks("checks"))
def test_examples_of_checks(text):
    parse_expression(text)


def test_there_are_examples():
    assert len(blocks("args")) > 30
    assert len(blocks("checks")) > 10


@pytest.mark.parametrize("text", [n for row in table(PAGE, "value") for n in names(row[0])])
def test_values(text):
    parse_argument(text)


def test_initializers():
    told = [name for row in table(PAGE, "initializer") for name in names(row[0])]
    examples = {"start": "1", "step": "2", "lo": "0", "hi": "5"}
    for text in told:
        for word, number in examples.items():
            text = re.sub(rf"\b{word}\b", number, text)
        dimensions = "[2,2]" if text.startswith("[[") or text == "eye" else "[3]"
        parse_argument(f"f32{dimensions}:{text}")
    words = {re.match(r"\w*", text).group() for text in told}
    assert set(INITIALS) <= words


def test_numbers():
    told = [name for row in table(PAGE, "notation") for name in names(row[0])]
    for text in told:
        if text in ("true", "false"):
            encode(text, SCALARS["bool"])
        elif text.startswith("0d"):
            encode(text, SCALARS["f64"])
        else:
            encode(text, SCALARS["f32"])
    assert set(SUFFIXES) == {re.sub(r"\d", "", text) for text in told if text[-1] in "iKMG"}
    assert as_number("4Ki") == 4 * 1024


def test_types():
    told = {names(row[0])[0]: (int(row[1]), names(row[2])) for row in table(PAGE, "type")}
    assert told == {name: (each.size, ALIASES[name]) for name, each in SCALARS.items()}


def test_vector_types():
    told = {}
    for bases, _, *alignments in table(PAGE, "vector types"):
        for base in names(bases):
            told |= {f"{base}{i}": int(each) for i, each in enumerate(alignments, 1)}
    told |= {"half2": 4, "bfloat162": 4}
    for base in ("long", "ulong", "longlong", "ulonglong", "double"):
        told |= {f"{base}4_16a": 16, f"{base}4_32a": 32}
    assert told == {name: each.alignment for name, each in VECTORS.items()}
    for aliases in VECTOR_ALIASES.values():
        assert all(f"`{alias}`" in section("## Types") for alias in aliases)


def test_tolerances():
    rows = table(section("## Checks"), "type")
    told = {names(name)[0]: (float(rtol), float(atol)) for name, rtol, atol in rows}
    assert told == DEFAULT_TOLERANCES


def test_functions():
    calls = [name for row in table(PAGE, "function") for name in names(row[0])]
    told = {text.split("(")[0] for text in calls}
    assert told == {*FUNCTIONS, "old", "load", "symbol", "f32", "i64"}
    assert {"f32", "i64"} <= set(CASTS)
    for text in calls:
        parse_expression(text.replace("…", "x"))
    for row in table(PAGE, "function"):
        keywords = set(re.findall(r"`(\w+)=`", row[1]))
        for call in names(row[0]):
            function = call.split("(")[0]
            if function in FUNCTIONS:
                assert FUNCTIONS[function].keywords == keywords


def test_operators_and_how_they_bind():
    (block,) = re.findall(r"```text\n(or\n.*?)```", PAGE, re.DOTALL)
    lines = [line.split("   ")[0].split() for line in block.splitlines()]
    binary = [line for line in lines if set(line) <= set(_PRECEDENCE) and line != ["-", "+", "~"]]
    levels = [{_PRECEDENCE[operator] for operator in line} for line in binary]
    assert all(len(level) == 1 for level in levels)
    assert sorted(map(min, levels)) == list(map(min, levels))
    assert {operator for line in binary for operator in line} == set(_PRECEDENCE)


def test_constants_and_limits():
    told = section("## Expressions")
    (constants,) = re.findall(r"^Constants: (.*?);", told, re.MULTILINE)
    assert set(names(constants)) == set(CONSTANTS)
    assert f"{MAX_OPERATIONS} operations, {MAX_NESTING} levels" in told
    assert MAX_ELEMENTS == 1 << 26
    assert "arrays of at most 2²⁶ elements" in told


def test_the_message_about_a_misfit():
    (shown,) = re.findall(r"```text\n(saxpy.*?)\n```", PAGE, re.DOTALL)
    parameters = [
        Parameter(0, 0, 4, 4, "float", "a"),
        Parameter(1, 8, 8, 8, "float const*", "x"),
        Parameter(2, 16, 8, 8, "float*", "y"),
        Parameter(3, 24, 4, 4, "int", "n"),
    ]
    arguments = parse_arguments(["a=f64:2", "x=f32[n]:iota", "f32:1", "1000"])
    with pytest.raises(RequestError) as refused:
        bind(arguments, parameters, kernel="saxpy(float, float const*, float*, int)")
    assert refused.value.message == shown


def test_every_type_is_named():
    assert set(types.NAMED) == {
        *SCALARS,
        *VECTORS,
        *(alias for each in ALIASES.values() for alias in each),
        *(alias for each in VECTOR_ALIASES.values() for alias in each),
    }
