"""The location of mismatches that cluster, and the rounding of long sums that explains others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.deferral import chunks, materialize
from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.operators import wide
from cudarun.arguments.expressions.syntax import CASTS, Node
from cudarun.arguments.types import SCALARS, least_exact

_FEW = 3
"""The most rows, or indices of another axis, that are named one by one; the fewest mismatches
whose surroundings mean something."""


class MismatchLocation:
    """A summary of the indices of mismatches, collected chunk by chunk."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape  # the shape of the compared arrays
        self._count = 0
        self._first = self._last = 0
        self._step = 0  # the greatest common divisor of the distances
        self._low = [*shape]
        self._high = [-1] * len(shape)
        self._indices: list[set[int]] = [set() for _ in shape]

    def add(self, flat: Array) -> None:
        """Add the flat indices of a chunk's mismatches, in order and at least one."""
        if not self._shape:  # a scalar
            return
        if not self._count:
            self._first = self._last = int(flat[0])
        self._step = math.gcd(self._step, int(np.gcd.reduce(np.diff(flat, prepend=self._last))))
        self._count += len(flat)
        self._last = int(flat[-1])
        for axis, index in enumerate(np.unravel_index(flat, self._shape)):
            self._low[axis] = min(self._low[axis], int(index.min()))
            self._high[axis] = max(self._high[axis], int(index.max()))
            while len(index) and len(self._indices[axis]) <= _FEW:
                self._indices[axis].add(int(index[0]))
                index = index[index != index[0]]

    def describe(self) -> str | None:
        """Return where all mismatches lie; ``None`` for a single one, or where they are spread."""
        total = math.prod(self._shape)
        if not 1 < self._count < total:
            return None
        if len(self._shape) == 1 and self._last - self._first + 1 == self._count:
            if self._last == self._shape[0] - 1:
                return f"the last {self._count}"
            if not self._first:
                return f"the first {self._count}"
            return f"[{self._first}] to [{self._last}]"
        found = self._on_axis() or self._box(total)
        # The distance between the mismatches, if it is always the same.
        is_regular = (self._last - self._first) // self._step + 1 == self._count
        if found or self._count < 3 or not is_regular:
            return found
        index = ", ".join(map(str, np.unravel_index(self._first, self._shape)))
        return f"one in {self._step} from [{index}] on"

    def _on_axis(self) -> str | None:
        """Return the few indices of one axis that all mismatches have."""
        if len(self._shape) == 1:
            return None
        for axis, found in enumerate(self._indices):
            if len(found) <= min(_FEW, self._shape[axis] - 1):
                named = ", ".join(map(str, sorted(found)))
                if len(self._shape) == 2:
                    return f"all in {('row', 'column')[axis]}{'s' * (len(found) > 1)} {named}"
                which = "index" if len(found) == 1 else "indices"
                return f"all at {which} {named} of axis {axis}"
        return None

    def _box(self, total: int) -> str | None:
        """Return the smallest box around several mismatches, if it is small, or half and dense."""
        ends = [high + 1 for high in self._high]
        volume = math.prod(end - low for low, end in zip(self._low, ends, strict=True))
        is_dense = 2 * volume <= total and 2 * self._count >= volume
        if self._count < _FEW or not (4 * volume <= total or is_dense):
            return None
        axes = (
            ":" if end - low == size else f"{low}:{end}"
            for low, end, size in zip(self._low, ends, self._shape, strict=True)
        )
        return f"all within [{', '.join(axes)}]"


# --- the rounding of long sums -------------------------------------------------------------------


_SUMS = frozenset({"sum", "mean", "cumsum", "trace", "dot", "einsum"})
_REARRANGED = frozenset({"transpose", "reshape", "ravel", "squeeze", "flip", "roll", "diag"})


def long_sum(evaluator: Evaluator, node: tree.Comparison, rtol: float, atol: float) -> str | None:
    """Return the sum whose rounding explains all mismatches of ``left == right``, and a tolerance.

    A sum of n terms in a type with the relative error ε is typically wrong by √n·ε times the sum of
    the magnitudes of its terms, which is much larger than its own magnitude if they cancel. No sum
    is returned where one mismatch is larger.
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
    step = 10.0 ** math.floor(math.log10(needed))
    rounded_up = float(f"{math.ceil(needed / step) * step:.1g}")  # to one decimal digit
    return f"{terms} terms in {scalar}; it passes with {kind}={rounded_up:g}"


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
