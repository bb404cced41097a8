"""``--check``: evaluation of a check, and the location and size of its mismatches.

In a check, ``==`` compares floats within a tolerance and everything else exactly; the other
comparisons are made element by element. A check is true if all its elements are, whatever those are
that the kernel never wrote. One of no elements fails, unless a buffer in it was declared empty.
No array of a buffer's size is allocated: both sides are computed and compared chunk by chunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.arguments.dtypes import Array, Values, is_float, with_other_contents
from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.claims import ClaimEvaluator
from cudarun.arguments.expressions.deferral import chunks, joint_shape, materialize
from cudarun.arguments.expressions.evaluation import Unwritten, errors_naming, nothing_unwritten
from cudarun.arguments.expressions.mismatches import MismatchLocation, long_sum
from cudarun.arguments.expressions.operators import Operand, compare, truth, wide
from cudarun.arguments.expressions.presentation import presented
from cudarun.arguments.expressions.syntax import Expression, walk
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.arguments.types import ScalarType, least_exact
from cudarun.base.records import dataclass
from cudarun.model.checks import CheckResult, Mismatch

SHOWN = 5  # the number of mismatches that a result lists

_DEFAULT = Tolerance()
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


def run_check(
    expression: Expression,
    values: Values,
    old: Values,
    tolerance: Tolerance = _DEFAULT,
    directory: Path = Path(),
    unwritten: Unwritten = nothing_unwritten,
    *,
    only_floats: bool = False,
) -> CheckResult:
    """Evaluate one ``--check``.

    A comparison of an element that was never written is false. If the check passes, it is evaluated
    again with other contents of these elements, and in the second of three times with these
    comparisons true: they may be negated.

    Args:
        values: Arrays and numpy scalars by name, after the launch.
        old: The same before the launch; only :attr:`Expression.old_names` are needed.
        tolerance: For ``==`` between floats.
        directory: The base of relative paths in ``load(…)``.
        unwritten: Returns which elements of a buffer were never written.
        only_floats: An integer that seems unwritten can be a result.
    """
    seeming = {name: mask for name in expression.names if (mask := unwritten(name)) is not None}
    sure = {
        name: mask
        for name, mask in seeming.items()
        if mask.any() and not (only_floats and np.asarray(values[name]).dtype.kind in "biu")
    }

    kind: type[ClaimEvaluator] = ClaimEvaluator
    if tolerance.algebra:
        from cudarun.arguments.expressions.algebra import ResidueEvaluator  # few checks need it

        kind, tolerance = ResidueEvaluator, replace(tolerance, rtol=0.0, atol=0.0)

    def evaluate(values: Values, *, is_true_of_unwritten: bool = False) -> CheckResult:
        evaluator = kind(
            expression, values, old, directory, tolerance=tolerance, unwritten_of=sure.get
        )
        evaluator.is_true_of_unwritten = is_true_of_unwritten
        node = expression.node
        found = _of_node(evaluator, node, seeming.get)
        if isinstance(node, tree.Comparison) or found.passed or found.is_empty:
            return found
        return _failing_part(evaluator, node, seeming.get) or found

    result = evaluate(values)
    for other in ("0", "largest", "smallest") if sure else ():
        if result.passed:
            replaced = {name: with_other_contents(values[name], sure[name], other) for name in sure}
            result = evaluate({**values, **replaced}, is_true_of_unwritten=other == "largest")
    return result


def _failing_part(
    evaluator: ClaimEvaluator, node: tree.Node, unwritten: Unwritten
) -> CheckResult | None:
    """Return the first comparison that must pass and does not: it has values to show."""
    match node:
        case tree.Comparison():
            found = _of_node(evaluator, node, unwritten)
            return None if found.passed else found
        case tree.Binary("and" | "&", left, right):
            part = _failing_part(evaluator, left, unwritten)
            return part or _failing_part(evaluator, right, unwritten)
        case tree.Call("all" | "ravel" | "reshape", (first, *_)):
            return _failing_part(evaluator, first, unwritten)
    return None


def _of_node(evaluator: ClaimEvaluator, node: tree.Node, unwritten: Unwritten) -> CheckResult:
    expression, tolerance = evaluator.expression, evaluator.tolerance
    nodes: tuple[tree.Node, ...] = (node,)
    operators: tuple[str, ...] = ()
    if isinstance(node, tree.Comparison):
        nodes, operators = node.operands, node.operators
    with np.errstate(all="ignore"), errors_naming(expression):
        sides = [evaluator.value(each) for each in nodes]
        precisions = [evaluator.precision(each) for each in nodes]
        shape = joint_shape(sides)
        tally = _MismatchTally(operators, precisions, tolerance, shape)
        tally.mirrors = len(nodes) > 1 and not any(isinstance(n, tree.Name) for n in walk(nodes[0]))
        masks = [evaluator.unwritten_in(each) for each in nodes] if operators else []
        for start, parts in chunks(*sides, *masks):
            tally.add(start, parts[: len(sides)], parts[len(sides) :])
        shown = (evaluator.unwritten(each, unwritten) for each in nodes)
        tally.mark_unwritten([None if m is None else np.broadcast_to(m, shape) for m in shown])
        if tally.mismatches and isinstance(node, tree.Comparison):
            tally.long_sum = long_sum(evaluator, node, tally.rtol, tally.atol)
    if not operators:
        tally.rtol, tally.atol = evaluator.used_tolerance
        tally.used_tolerance = True
    is_empty = evaluator.is_vacuous or (0 in shape and evaluator.has_no_empty_array(node))
    return tally.result(expression.text, is_empty=is_empty)


@dataclass()
class _MismatchTally:
    """A count of matches and mismatches with the largest errors, over all chunks.

    ``operators`` compare adjacent sides; without operators the single side must be true.
    """

    operators: tuple[str, ...]
    precisions: Sequence[ScalarType | None]
    tolerance: Tolerance
    shape: tuple[int, ...]
    mirrors: bool = False
    mismatches: int = 0
    first: list[_Failure] = field(default_factory=list)
    worst: _Failure | None = None
    worst_abs: float | None = None
    worst_rel: float | None = None
    used_tolerance: bool = False
    both_nan: int = 0
    long_sum: str | None = None

    def __post_init__(self) -> None:
        self.precision = least_exact(*self.precisions)
        self.rtol, self.atol = self.tolerance.of(self.precision)
        self.location = MismatchLocation(self.shape)

    def add(self, start: int, parts: Sequence[Operand], unwritten: Sequence[Any]) -> None:
        """Compare one chunk.

        Args:
            start: The flat index of its first element.
            unwritten: Which elements of each side were never written.
        """
        sides = [np.atleast_1d(materialize(part)) for part in parts]
        links = [
            self.link(each, left, right) & ~(one | other)
            for each, left, right, one, other in zip(
                self.operators, sides, sides[1:], unwritten, unwritten[1:], strict=False
            )
        ] or [truth(sides[0])]
        passed = links[0] if len(links) == 1 else np.logical_and.reduce(np.broadcast_arrays(*links))
        if passed.all():
            return
        failing = np.flatnonzero(~passed)
        self.mismatches += len(failing)
        self.location.add(failing + start)
        for flat in failing[: SHOWN - len(self.first)]:
            self.first.append(self.failure(links, sides, flat, start))
        if self.operators != ("==",):
            return
        # The mismatch that exceeds its tolerance most; one with NaN has no error.
        left, right = (
            wide(side[failing] if side.size > 1 else np.broadcast_to(side, failing.shape))
            for side in sides
        )
        excess = np.abs(left - right)
        if self.used_tolerance and (self.atol or self.rtol):
            excess /= self.atol + self.rtol * np.abs(right)
        excess[np.isnan(excess)] = -1.0
        place = int(np.argmax(excess))
        if excess[place] >= 0.0 and (self.worst is None or excess[place] > self.worst.excess):
            found = self.failure(links, sides, int(failing[place]), start)
            self.worst = replace(found, excess=float(excess[place]))

    def failure(
        self, links: Sequence[Array], sides: Sequence[Array], flat: int, start: int
    ) -> _Failure:
        """Return the mismatch at an index of the chunk: that of the first failing comparison."""
        failed = next(i for i, link in enumerate(links) if not _at(link, flat))
        index = tuple(map(int, np.unravel_index(start + int(flat), self.shape)))
        got = self.shown(sides, failed, flat)
        if not self.operators:
            return _Failure(Mismatch(index, got, "true", ""), (0, 0))
        expected, operator = self.shown(sides, failed + 1, flat), self.operators[failed]
        pair = [_at(side, flat).item() for side in sides[failed : failed + 2]]
        if got == expected and pair[0] != pair[1]:  # in more digits than are shown
            got, expected = map(repr, pair)
        if failed == 0 and self.mirrors and operator in _MIRRORED:  # 3 <= y: y is what was got
            return _Failure(Mismatch(index, expected, got, _MIRRORED[operator]), (1, 0))
        return _Failure(Mismatch(index, got, expected, operator), (failed, failed + 1))

    def mark_unwritten(self, masks: Sequence[Array | None]) -> None:
        """Replace values of elements that were never written, given by a mask for each side."""
        if any(mask is not None and mask.any() for mask in masks):
            self.both_nan = 0  # some of which are no values
        self.first = [each.marked(masks) for each in self.first]
        self.worst = self.worst and self.worst.marked(masks)

    def link(self, operator: str, left: Array, right: Array) -> Array:
        """Return which elements pass a comparison: of ``==``, floats within the tolerance."""
        passed = np.asarray(compare(operator, left, right))
        if operator != "==":
            return passed
        is_of_floats = is_float(left.dtype) or is_float(right.dtype)
        self.used_tolerance |= is_of_floats
        if passed.all():  # the usual case
            if right.size:  # a relative error needs a nonzero right side
                self.note(np.zeros(1), np.ones(1) if right.any() else np.zeros(1))
            return passed
        left, right = wide(left), wide(right)
        if not is_of_floats:
            # Near 2^63 float64 cannot distinguish neighbors, but unequal integers differ by 1.
            self.note(np.maximum(np.abs(left - right), ~passed), right)
            return passed
        passed, difference = self.tolerance.within(left, right, self.precision)
        if not self.tolerance.equal_nan:
            both = np.isnan(left) & np.isnan(right)
            self.both_nan += int(np.count_nonzero(both))
        self.note(difference, right)
        return passed

    def note(self, difference: Array, right: Array) -> None:
        """Record the largest errors, ignoring NaNs and relative errors against zero."""
        relative = np.where(right == 0, np.nan, difference / np.abs(right))
        self.worst_abs = _larger(self.worst_abs, difference)
        self.worst_rel = _larger(self.worst_rel, relative)

    def shown(self, sides: Sequence[Array], which: int, flat: int) -> str:
        value = presented(_at(sides[which], flat), self.precisions[which])
        return str(value).lower() if value.dtype.kind == "b" else str(value)

    def result(self, text: str, *, is_empty: bool) -> CheckResult:
        """Return the result over all chunks; one of an empty selection has failed."""
        return CheckResult(
            expression=text,
            passed=self.mismatches == 0 and not is_empty,
            elements=math.prod(self.shape),
            mismatches=self.mismatches,
            max_abs_error=self.worst_abs,
            max_rel_error=self.worst_rel,
            rtol=self.rtol if self.used_tolerance else 0.0,
            atol=self.atol if self.used_tolerance else 0.0,
            first=tuple(each.mismatch for each in self.first),
            worst=None if self.worst is None else self.worst.mismatch,
            location=self.location.describe(),
            both_nan=self.both_nan,
            long_sum=self.long_sum,
            is_empty=is_empty,
        )


@dataclass(frozen=True, slots=True)
class _Failure:
    """A mismatch, the sides that its two values are of, and how far it is beyond its tolerance."""

    mismatch: Mismatch
    sides: tuple[int, int]
    excess: float = 0.0

    def marked(self, masks: Sequence[Array | None]) -> _Failure:
        """Return it without the values of elements that were never written."""
        got, expected = (
            (mask := masks[side]) is not None and bool(mask[self.mismatch.index])
            for side in self.sides
        )
        found = self.mismatch
        if got:
            found = replace(found, got=None)
        if expected and found.operator:
            found = replace(found, expected=None)
        return replace(self, mismatch=found)


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
