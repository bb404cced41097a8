"""The values of checks, in whose claims ``==`` compares floats within a tolerance."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any, cast

import numpy as np

from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.deferral import Data, elementwise, plain
from cudarun.arguments.expressions.evaluation import Evaluator, Unwritten
from cudarun.arguments.expressions.operators import (
    Operand,
    binary,
    compare,
    is_floating,
    truth,
    wide,
)
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.arguments.types import least_exact


class ClaimEvaluator(Evaluator):
    """An evaluator of a check, in whose claims ``==`` of floats has a tolerance.

    A comparison of an element that was never written is false.

    Args:
        evaluated: The arguments of `Evaluator`.
        unwritten_of: Returns which elements of a buffer were never written.
    """

    def __init__(self, *evaluated: Any, tolerance: Tolerance, unwritten_of: Unwritten) -> None:
        super().__init__(*evaluated)
        self.used_tolerance = (0.0, 0.0)  # the ``(rtol, atol)`` of a claim
        self.is_true_of_unwritten = False  # comparisons of such elements are true instead
        self.tolerance = tolerance
        self._unwritten_of = unwritten_of

    def value(self, node: tree.Node) -> Data:
        """Return the value of a node, with elementwise operations deferred."""
        if isinstance(node, tree.Comparison) and node.is_claim:
            precision = least_exact(*map(self.precision, node.operands))

            def link(operator: str, left: Operand, right: Operand, *masks: Any) -> Operand:
                if operator != "==" or not (is_floating(left) or is_floating(right)):
                    passed = truth(compare(operator, left, right))
                else:
                    self.used_tolerance = self.tolerance.of(precision)
                    passed, _ = self.tolerance.within(wide(left), wide(right), precision)
                missing = np.logical_or(*masks)
                found = passed | missing if self.is_true_of_unwritten else passed & ~missing
                return cast(Operand, plain(found))

            values = [*map(self.value, node.operands)]
            masks = [*map(self.unwritten_in, node.operands)]
            links = [
                elementwise(partial(link, operator), *values[i : i + 2], *masks[i : i + 2])
                for i, operator in enumerate(node.operators)
            ]
            return reduce(lambda a, b: elementwise(partial(binary, "and"), a, b), links)
        return super().value(node)

    def unwritten_in(self, node: tree.Node) -> Data:
        """Return which elements of a value were never written."""
        mask = self.unwritten(node, self._unwritten_of)
        return np.False_ if mask is None else mask
