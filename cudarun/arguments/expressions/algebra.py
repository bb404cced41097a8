"""Checks with ``--algebra``: floats are numbers modulo a prime, ``base/residues.py``."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np

from cudarun.arguments.dtypes import NumpyValue, convert
from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.claims import ClaimEvaluator
from cudarun.arguments.expressions.deferral import Data, elementwise, plain
from cudarun.arguments.expressions.evaluation import nothing_unwritten
from cudarun.arguments.expressions.operators import Operand, binary, is_floating, wide
from cudarun.arguments.expressions.syntax import CASTS
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.arguments.types import ScalarType
from cudarun.base.errors import RequestError
from cudarun.base.residues import inverse, representative

_NAMES = (
    "abs all allclose any arange argmax argmin argsort array_equal bincount clip "
    "concatenate count_nonzero cumsum diag diff dot einsum eye fmax fmin flip full "
    "isclose isfinite isinf isnan max maximum min minimum ones outer ravel repeat reshape "
    "roll sort square squeeze stack sum tile trace transpose tril triu unique where zeros "
)
_EXACT = frozenset(_NAMES.split())
"""Functions of which numpy's arithmetic on representatives is exact, or that only order them."""


class ResidueEvaluator(ClaimEvaluator):
    """An evaluator of a check whose floats are representatives of numbers modulo the prime.

    A number of the expression is that of f32, unless there are buffers of f64: as in a kernel.
    """

    def __init__(self, *evaluated: Any, **claims: Any) -> None:
        super().__init__(*evaluated, **claims)
        if self.before is not self:
            expression, _, old, *rest = evaluated
            self.before = ResidueEvaluator(
                expression, old, old, *rest, tolerance=Tolerance(), unwritten_of=nothing_unwritten
            )
            self.before.after = self.values
        dtypes = (np.asarray(each).dtype for each in self.values.values())
        self._constant = np.float64 if np.dtype("f8") in dtypes else np.float32

    def value(self, node: tree.Node) -> Data:
        """Return the value of a node; floats are representatives."""
        match node:
            case tree.Number(float(number)):
                found: Data = np.float64(self._constant(number))
            case tree.Binary("/", left, right):
                found = elementwise(_quotient, self.value(left), self.value(right))
            case tree.Binary("**", left, tree.Number(int(exponent))) if exponent >= 0:
                found = elementwise(lambda each: _power(each, exponent), self.value(left))
            case tree.Binary("//" | "%" | "**" as operator, left, right):
                sides = self.value(left), self.value(right)
                found = elementwise(partial(_of_integers, operator), *sides)
            case tree.Call("mean" | "var" as name, (operand, *_)):
                found = self._moment(name, self.array(operand), node)
            case tree.Call(name, (operand, *_)) if name in CASTS:
                found = elementwise(partial(_cast, CASTS[name]), self.value(operand))
            case tree.Call(name) if name not in _EXACT:
                raise _without_image(name)
            case _:
                found = super().value(node)
        is_struct = isinstance(found, np.ndarray | np.generic) and found.dtype.names
        if is_struct:
            return found
        return elementwise(lambda v: representative(wide(v)) if is_floating(v) else v, found)

    def _moment(self, name: str, array: NumpyValue, node: tree.Call) -> Data:
        """Return a mean or a variance."""
        options: dict[str, Any] = {key: self._option(key, each) for key, each in node.keywords}
        ddof = options.pop("ddof", 0)
        values = representative(wide(array))
        total = np.asarray(np.sum(values, **options))
        count = values.size // max(total.size, 1)
        if name == "var":  # the sum of squares of differences from the mean
            squares = np.sum(representative(values * values), **options)
            total = squares - representative(total) * _quotient(total, np.float64(count))
            count -= ddof
        return cast(Data, plain(_quotient(total, np.float64(count))))


def _quotient(left: Operand, right: Operand) -> Any:
    dividend, divisor = (representative(np.asarray(wide(each))) for each in (left, right))
    return representative(dividend * inverse(divisor))


def _power(base: Operand, exponent: int) -> Operand:
    if not is_floating(base):
        return binary("**", base, exponent)
    found = np.ones_like(base)
    for digit in f"{exponent:b}":
        found = representative(found * found)
        found = representative(found * base) if digit == "1" else found
    return found


def _of_integers(operator: str, left: Operand, right: Operand) -> Operand:
    if is_floating(left) or is_floating(right):
        raise _without_image(f"'{operator}' of floats")
    return binary(operator, left, right)


def _cast(scalar: ScalarType, value: Operand) -> Operand:
    if scalar.is_float:
        return cast(Operand, wide(value))
    if is_floating(value):
        raise _without_image(f"{scalar.name} of floats")
    return cast(Operand, convert(value, scalar))


def _without_image(name: str) -> RequestError:
    return RequestError(
        f"--algebra: {name} is not arithmetic modulo a prime",
        hint="compare with another kernel: --baseline",
    )
