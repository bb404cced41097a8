"""Texts with an expression in them: ``--check`` with its tolerances, and ``--let``.

Checks claim something: comparisons, and what is composed of them. In a claim, ``==`` compares
floats within the check's tolerance, however deep it is in ``and``, ``not`` or ``all(…)``;
elsewhere, as in ``where(x == 0, …)``, comparisons are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.parser import (
    MAX_OPERATIONS,
    read_expression,
    unexpected,
    whole_expression,
)
from cudarun.arguments.expressions.syntax import CONSTANTS, Expression, Node
from cudarun.arguments.literals import UNSIGNED_NUMBER, as_number
from cudarun.arguments.scanner import IDENTIFIER, Scanner, cached
from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.base.records import dataclass

MAX_EXPANDED = 4 * MAX_OPERATIONS
"""Operations allowed in one expression with all of ``--let`` in it."""

_TOLERANCE = re.compile(r"(rtol|atol)\s*=(?!=)")
_NAME = re.compile(rf"\s*(?P<name>{IDENTIFIER.pattern})\s*=(?!=)")
_LOGICAL = frozenset({"and", "or", "not", "&", "|", "^", "~"})
_TESTS = frozenset({"isnan", "isinf", "isfinite", "isclose", "allclose", "array_equal"})
_TRUTHS = [tree.Name(name, 0) for name, value in CONSTANTS.items() if isinstance(value, bool)]
_OF_CLAIMS = frozenset({"all", "any", "bool", "ravel", "reshape", "transpose", "where"})
"""Functions whose value is a claim if their arguments are: of ``where`` the second and third."""


@dataclass(frozen=True, slots=True)
class Check:
    """A ``--check``."""

    expression: Expression  # the expression that must be true
    rtol: float | None = None  # its own relative tolerance; ``None`` for that of all checks
    atol: float | None = None  # its own absolute tolerance; ``None`` likewise
    source: str = field(default="", compare=False)  # the text as given


@dataclass(frozen=True, slots=True)
class Let:
    """``--let NAME=EXPR``: a name for an expression."""

    name: str
    expression: Expression


@cached
def parse_check(text: str) -> Check:
    """Parse the text of a ``--check``: an expression, and perhaps its tolerances.

    >>> parse_check("y == x, rtol=1e-3").rtol
    0.001

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    scanner = Scanner(text)
    expression = read_expression(scanner)
    found: dict[str, float] = {}
    while scanner.accept(","):
        start = scanner.skip_space()
        keyword = scanner.match(_TOLERANCE)
        number = scanner.match(UNSIGNED_NUMBER) if keyword else None
        if keyword is None or number is None:
            raise scanner.error("expected rtol=NUMBER or atol=NUMBER after the comma", start)
        if keyword[1] in found:
            raise scanner.error(f"{keyword[1]}= is given more than once", start)
        found[keyword[1]] = float(as_number(number.group()))
    if not scanner.at_end:
        raise unexpected(scanner)
    return Check(expression, found.get("rtol"), found.get("atol"), text)


def claimed_check(check: Check, lets: Sequence[Let] = ()) -> Check:
    """Return a check with ``--let`` expanded, and its claims marked.

    Raises:
        ArgumentSyntaxError: It compares nothing, or has a tolerance without ``==``.
        RequestError: It is too large.
    """
    expression = expanded(check.expression, lets)
    text, node = expression.text, expression.node
    hint = f"compare it with the expected value: '{text} == …'"
    if getattr(node, "operator", "") in _LOGICAL or getattr(node, "function", "") in _OF_CLAIMS:
        hint = "each part must be a comparison, such as y != 0"
    try:
        if not expression.names - CONSTANTS.keys():
            raise _NoClaim("name a buffer or a variable, such as y")
        expression = replace(expression, node=_claim(node))
    except _NoClaim as error:
        what, hint = f"'{text}' compares nothing", str(error) or hint
        raise ArgumentSyntaxError(what, expression.source, 0, hint=hint) from None
    comparisons = (each for each in tree.walk(expression.node) if isinstance(each, tree.Comparison))
    has_equality = any(each.is_claim and "==" in each.operators for each in comparisons)
    if (check.rtol, check.atol) != (None, None) and not has_equality:
        text = check.expression.text
        where = check.source.index(",", check.source.index(text) + len(text)) + 1
        what, hint = "a tolerance requires a check with ==", "example: 'y == 2*x, rtol=1e-3'"
        raise ArgumentSyntaxError(what, check.source, where, hint=hint)
    return replace(check, expression=expression)


def parse_let(text: str) -> Let:
    """Parse ``NAME=EXPR``.

    Raises:
        ArgumentSyntaxError: The text has another form, or the name cannot be used.
    """
    scanner = Scanner(text)
    name = scanner.match(_NAME)
    if name is None:
        raise scanner.error("expected NAME=EXPR", 0, hint="example: r='y - a*x'")
    if name["name"] in tree.RESERVED:
        raise scanner.error(f"'{name['name']}' is an operator", name.start("name"))
    return Let(name["name"], whole_expression(scanner))


def expanded(expression: Expression, lets: Sequence[Let]) -> Expression:
    """Replace the names of ``--let`` in an expression by their expressions.

    Args:
        lets: Each may use those before it; none of them is expanded yet.

    Raises:
        RequestError: The result has too many operations.
    """
    known: dict[str, Node] = {}
    for let in lets:
        known[let.name] = _replaced(let.expression.node, known)
    node = _replaced(expression.node, known)
    operations, depth = _measured(node, {})
    if operations > MAX_EXPANDED or depth > MAX_OPERATIONS:
        raise RequestError(
            f"{expression}: more than {MAX_EXPANDED} operations, or more than {MAX_OPERATIONS} "
            "nested ones, after expansion of --let",
            option="--let",
        )
    return replace(expression, node=node)


def check_lets(
    lets: Sequence[Let], names: Iterable[str], others: Callable[[], Iterable[str]] = tuple
) -> None:
    """Refuse unknown names in ``--let``, and names that are taken.

    Args:
        others: Returns further names for the message.
    """
    known = [*names]
    for let in lets:
        if let.name in known:
            raise RequestError(f"the name '{let.name}' is already in use", option="--let")
        let.expression.check_names(known, others)
        known.append(let.name)


def _replaced(node: tree.IndexItem, known: Mapping[str, Node]) -> Any:
    if isinstance(node, tree.Name):
        return known.get(node.name, node)
    return tree.with_children(node, partial(_replaced, known=known)) if known else node


def _measured(node: tree.IndexItem, seen: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return the operations of a node and how deep they are; a shared node is visited once."""
    if id(node) not in seen:
        parts = [_measured(child, seen) for child in tree.children(node)]
        one = int(bool(parts))
        operations = one + sum(count for count, _ in parts)
        seen[id(node)] = operations, one + max((depth for _, depth in parts), default=0)
    return seen[id(node)]


# --- claims --------------------------------------------------------------------------------------


class _NoClaim(Exception):
    """A check, or a part of it, that compares nothing; with a hint, if there is a special one."""


def _claim(node: Node) -> Node:
    match node:
        case tree.Comparison(operands):
            _refuse_same(operands)
            return replace(node, is_claim=True)
        case tree.Binary(operator, left, right) if operator in _LOGICAL:
            return tree.Binary(operator, _claim(left), _claim(right))
        case tree.Unary(operator, operand) if operator in _LOGICAL:
            return tree.Unary(operator, _claim(operand))
        case tree.Call(function, operands) if function in _TESTS:
            _refuse_same(operands)
            return node
        case tree.Call("where", (condition, *values)):
            claims = (each if each in _TRUTHS else _claim(each) for each in values)
            return replace(node, arguments=(condition, *claims))
        case tree.Call(function, (first, *others)) if function in _OF_CLAIMS:
            return replace(node, arguments=(_claim(first), *others))
        case tree.Index(base, items):
            return tree.Index(_claim(base), items)
        case tree.Old(operand):
            return tree.Old(_claim(operand))
        case _:
            raise _NoClaim


def _refuse_same(operands: Sequence[Node]) -> None:
    """Refuse the comparison of a value with itself, also by two names of one buffer."""
    if any(one == other for one, other in pairwise(operands)):
        hint = "both sides are the same; old(…) is the value from before the launch, and isnan(x)"
        raise _NoClaim(f"{hint} tests for NaN")
