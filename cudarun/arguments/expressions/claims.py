"""The claims of checks: comparisons, and what is composed of them.

In a claim, ``==`` compares floats within the check's tolerance, however deep it is in ``and``,
``not`` or ``all(…)``; elsewhere, as in ``where(x == 0, …)``, comparisons are exact.
"""

from __future__ import annotations

from dataclasses import replace

from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.syntax import CONSTANTS, Expression, Node
from cudarun.base.errors import ArgumentSyntaxError

_LOGICAL = frozenset({"and", "or", "not", "&", "|", "^", "~"})
_TESTS = frozenset({"isnan", "isinf", "isfinite", "isclose", "allclose", "array_equal"})
_OF_CLAIMS = frozenset({"all", "any", "bool", "ravel", "reshape", "transpose", "where"})
"""Functions whose value is a claim if their arguments are: of ``where`` the second and third."""


class _NoClaim(Exception):
    """A check, or a part of it, that compares nothing."""


def claimed(expression: Expression) -> Expression:
    """Return the expression of a check, with its claims marked.

    Raises:
        ArgumentSyntaxError: It compares nothing.
    """
    text, node = expression.text, expression.node
    hint = f"compare it with the expected value: '{text} == …'"
    if getattr(node, "operator", "") in _LOGICAL or getattr(node, "function", "") in _OF_CLAIMS:
        hint = "each part must be a comparison, such as y != 0"
    try:
        found = _claim(node)
        if not expression.names - CONSTANTS.keys():
            hint = "name a buffer or a variable, such as y"
            raise _NoClaim
    except _NoClaim:
        what = f"'{text}' compares nothing"
        raise ArgumentSyntaxError(what, expression.source, 0, hint=hint) from None
    return replace(expression, node=found)


def _claim(node: Node) -> Node:
    match node:
        case tree.Comparison():
            return replace(node, is_claim=True)
        case tree.Binary(operator, left, right) if operator in _LOGICAL:
            return tree.Binary(operator, _claim(left), _claim(right))
        case tree.Unary(operator, operand) if operator in _LOGICAL:
            return tree.Unary(operator, _claim(operand))
        case tree.Call(function) if function in _TESTS:
            return node
        case tree.Call("where", (condition, *values)):
            claims = (each if _is_truth(each) else _claim(each) for each in values)
            return replace(node, arguments=(condition, *claims))
        case tree.Call(function, (first, *others)) if function in _OF_CLAIMS:
            return replace(node, arguments=(_claim(first), *others))
        case tree.Index(base, items):
            return tree.Index(_claim(base), items)
        case tree.Old(operand):
            return tree.Old(_claim(operand))
        case _:
            raise _NoClaim


def _is_truth(node: Node) -> bool:
    return isinstance(node, tree.Name) and CONSTANTS.get(node.name) in (True, False)


def has_equality(expression: Expression) -> bool:
    """Return whether a claim in a check compares with ``==``."""
    comparisons = (each for each in tree.walk(expression.node) if isinstance(each, tree.Comparison))
    return any(each.is_claim and "==" in each.operators for each in comparisons)
