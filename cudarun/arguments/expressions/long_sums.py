"""Mismatches that look like the rounding of long sums.

A sum of n terms in a type with the relative error ε is typically wrong by √n·ε times the sum of the
magnitudes of its terms, which is much larger than its own magnitude if they cancel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.deferral import chunks, materialize
from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.operators import wide
from cudarun.arguments.expressions.syntax import CASTS, Node
from cudarun.arguments.types import SCALARS, least_exact

_SUMS = frozenset({"sum", "mean", "cumsum", "trace", "dot", "einsum"})
_REARRANGED = frozenset({"transpose", "reshape", "ravel", "squeeze", "flip", "roll", "diag"})


def long_sum(evaluator: Evaluator, node: tree.Comparison, rtol: float, atol: float) -> str | None:
    """Return the sum whose rounding explains all mismatches of ``left == right``, and a tolerance.

    There is none where one mismatch is larger.

    Args:
        evaluator: The evaluator of the check.
        node: The comparison.
        rtol: Its relative tolerance.
        atol: Its absolute tolerance.
    """
    terms = max(_terms(evaluator, node), default=0)
    scalar = least_exact(*map(evaluator.precision, node.operands))
    if node.operators != ("==",) or terms < 2 or scalar in (None, SCALARS["f64"]):
        return None
    assert scalar is not None, "it is refused above"
    error = math.sqrt(terms) * 2.0**-scalar.mantissa_bits
    magnitude = tree.Call("maximum", (*map(_magnitude, node.operands),))
    sides = [evaluator.value(each) for each in (*node.operands, magnitude)]
    needed_rtol = needed_atol = 0.0
    for _, parts in chunks(*sides):
        left, right, most = (wide(np.atleast_1d(materialize(part))) for part in parts)
        difference = np.abs(left - right)
        if not (difference <= atol + error * most).all():  # a NaN, too
            return None
        needed_atol = max(needed_atol, float(np.max(difference - rtol * np.abs(right))))
        with np.errstate(all="ignore"):
            relative = np.where(difference > atol, (difference - atol) / np.abs(right), 0.0)
        needed_rtol = max(needed_rtol, float(np.max(relative)))
    kind, needed = ("rtol", needed_rtol) if needed_rtol <= error else ("atol", needed_atol)
    return f"{terms} terms in {scalar}; it passes with {kind}={_rounded_up(needed):g}"


def _terms(evaluator: Evaluator, node: tree.IndexItem) -> Iterator[int]:
    """Yield the number of terms of each sum in an expression."""
    for each in tree.walk(node):
        match each:
            case tree.Binary("@", left) | tree.Call("dot", (left, _)):
                yield int(np.shape(evaluator.array(left))[-1])
            case tree.Call("sum" | "mean", (first,)):
                yield np.size(evaluator.array(first)) // max(1, np.size(evaluator.array(each)))
            case tree.Call(function, (first, *_)) if function in _SUMS:
                yield np.size(evaluator.array(first))


def _magnitude(node: Node) -> Node:
    """Return the expression with the magnitudes of all terms in the place of the terms."""
    match node:
        case tree.Unary("-" | "+", operand):
            return _magnitude(operand)
        case tree.Binary("+" | "-", left, right):
            return tree.Binary("+", _magnitude(left), _magnitude(right))
        case tree.Binary("*" | "@" as operator, left, right):
            return tree.Binary(operator, _magnitude(left), _magnitude(right))
        case tree.Binary("/", left, right):
            return tree.Binary("/", _magnitude(left), tree.Call("abs", (right,)))
        case tree.Call("dot" | "einsum", arguments):
            return replace(node, arguments=tuple(map(_magnitude, arguments)))
        case tree.Call(function, (first, *others)) if (
            function in _SUMS | _REARRANGED or function in CASTS
        ):
            return replace(node, arguments=(_magnitude(first), *others))
        case tree.Index(base, items):
            return tree.Index(_magnitude(base), items)
        case tree.Old(operand):
            return tree.Old(_magnitude(operand))
        case _:
            return tree.Call("abs", (node,))


def _rounded_up(value: float) -> float:
    """Return the smallest number of one decimal digit that is not below a positive value."""
    step = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / step) * step:.1g}")
