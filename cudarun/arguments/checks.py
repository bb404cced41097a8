"""``--check``: evaluation of a check, and the location and size of its mismatches.

At the top of a check, ``==`` compares floats within a tolerance and everything else exactly; the
other comparisons are made element by element; any other value must be true in all its elements.
No array of a buffer's size is allocated: both sides are computed and compared chunk by chunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.arguments import syntax as tree
from cudarun.arguments.deferral import chunks, joint_shape, materialize
from cudarun.arguments.dtypes import Array, Values, is_float
from cudarun.arguments.evaluation import Evaluator, errors_naming, least_exact, presented
from cudarun.arguments.operators import Operand, compare, truth, wide
from cudarun.arguments.syntax import Expression
from cudarun.arguments.tolerance import Tolerance
from cudarun.arguments.types import ScalarType
from cudarun.report.types import CheckResult, Mismatch

SHOWN = 5
"""The number of mismatches that a result lists."""

_DEFAULT = Tolerance()


def run_check(
    expression: Expression,
    values: Values,
    old: Values,
    tolerance: Tolerance = _DEFAULT,
    directory: Path = Path(),
) -> CheckResult:
    """Evaluate one ``--check``.

    Args:
        expression: The check.
        values: Arrays and numpy scalars by name, after the launch.
        old: The same before the launch; only :attr:`Expression.old_names` are needed.
        tolerance: For ``==`` between floats.
        directory: The base of relative paths in ``load(…)``.

    Raises:
        ArgumentSyntaxError: An unknown name.
        RequestError: The expression cannot be evaluated, or the shapes of its sides differ.
    """
    evaluator = Evaluator(expression, values, old, directory)
    node = expression.node
    nodes: tuple[tree.Node, ...] = (node,)
    operators: tuple[str, ...] = ()
    if isinstance(node, tree.Comparison):
        nodes, operators = node.operands, node.operators
    with np.errstate(all="ignore"), errors_naming(expression):
        sides = [evaluator.value(each) for each in nodes]
        precisions = [evaluator.precision(each) for each in nodes]
        tally = _MismatchTally(operators, precisions, tolerance, joint_shape(sides))
        for start, parts in chunks(*sides):
            tally.add(start, parts)
    return tally.result(expression.text)


class _MismatchTally:
    """A count of matches and mismatches with the largest errors, over all chunks.

    ``operators`` compare adjacent sides; without operators the single side must be true.
    """

    def __init__(
        self,
        operators: tuple[str, ...],
        precisions: Sequence[ScalarType | None],
        tolerance: Tolerance,
        shape: tuple[int, ...],
    ) -> None:
        self.operators = operators
        self.precisions = precisions
        self.rtol, self.atol = tolerance.of(least_exact(*precisions))
        self.equal_nan = tolerance.equal_nan
        self.shape = shape
        self.mismatches = 0
        self.first: list[Mismatch] = []
        self.worst_abs: float | None = None
        self.worst_rel: float | None = None
        self.used_tolerance = False
        self.both_nan = 0

    def add(self, start: int, parts: Sequence[Operand]) -> None:
        """Compare one chunk of all sides; the flat index of its first element is ``start``."""
        sides = [np.atleast_1d(materialize(part)) for part in parts]
        links = [
            self.link(operator, left, right)
            for operator, left, right in zip(self.operators, sides, sides[1:], strict=False)
        ] or [truth(sides[0])]
        held = links[0] if len(links) == 1 else np.logical_and.reduce(np.broadcast_arrays(*links))
        if held.all():
            return
        failing = np.flatnonzero(~held)
        self.mismatches += len(failing)
        for flat in failing[: SHOWN - len(self.first)]:
            broken = next(i for i, link in enumerate(links) if not _at(link, flat))
            index = tuple(map(int, np.unravel_index(start + int(flat), self.shape)))
            left = self.shown(sides, broken, flat)
            right = self.shown(sides, broken + 1, flat) if self.operators else "true"
            operator = self.operators[broken] if self.operators else ""
            self.first.append(Mismatch(index, left, right, operator))

    def link(self, operator: str, left: Array, right: Array) -> Array:
        if operator != "==":
            return np.asarray(compare(operator, left, right))
        if is_float(left.dtype) or is_float(right.dtype):
            self.used_tolerance = True
            return self.close(wide(left), wide(right))
        return self.same(left, right)

    def close(self, left: Array, right: Array) -> Array:
        """Return ``|left - right| <= atol + rtol * |right|``; infinities equal only themselves."""
        equal = np.asarray(left == right)
        if equal.all():  # the usual case
            self.note_none(right)
            return equal
        difference = np.abs(left - right)
        difference[equal] = 0.0  # for infinities too, whose difference is NaN
        bound = self.atol + self.rtol * np.abs(right)
        held: Array = equal | ((difference <= bound) & np.isfinite(right))
        both = np.isnan(left) & np.isnan(right)
        if self.equal_nan:
            held |= both
            difference[both] = 0.0
        else:
            self.both_nan += int(np.count_nonzero(both))
        self.note(difference, right)
        return held

    def same(self, left: Array, right: Array) -> Array:
        held = np.asarray(compare("==", left, right))
        if held.all():
            self.note_none(right)
            return held
        # Near 2^63 float64 cannot distinguish neighbors, but unequal integers differ by 1.
        self.note(np.maximum(np.abs(wide(left) - wide(right)), ~held), wide(right))
        return held

    def note_none(self, right: Array) -> None:
        """Record a chunk without mismatches: a relative error needs a nonzero right side."""
        if right.size:
            self.note(np.zeros(1), np.ones(1) if right.any() else np.zeros(1))

    def note(self, difference: Array, right: Array) -> None:
        """Record the largest errors, ignoring NaNs and relative errors against zero."""
        relative = np.where(right == 0, np.nan, difference / np.abs(right))
        self.worst_abs = _larger(self.worst_abs, difference)
        self.worst_rel = _larger(self.worst_rel, relative)

    def shown(self, sides: Sequence[Array], which: int, flat: int) -> str:
        value = presented(_at(sides[which], flat), self.precisions[which])
        return str(value).lower() if value.dtype.kind == "b" else str(value)

    def result(self, text: str) -> CheckResult:
        """Return the result over all chunks."""
        return CheckResult(
            expression=text,
            passed=self.mismatches == 0,
            elements=math.prod(self.shape),
            mismatches=self.mismatches,
            max_abs_error=self.worst_abs,
            max_rel_error=self.worst_rel,
            rtol=self.rtol if self.used_tolerance else 0.0,
            atol=self.atol if self.used_tolerance else 0.0,
            first=tuple(self.first),
            both_nan=self.both_nan,
        )


def _at(part: Array, flat: int) -> Any:
    """Return an element of a chunk; a scalar side has the same value everywhere."""
    return part[flat] if part.size > 1 else part[0]


def _larger(worst: float | None, errors: Array) -> float | None:
    if errors.size == 0:
        return worst
    largest = float(np.fmax.reduce(errors))
    if math.isnan(largest):
        return worst
    return largest if worst is None else max(worst, largest)
