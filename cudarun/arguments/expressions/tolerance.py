"""Tolerances for comparing floats; by default a few roundings of their type."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cudarun.base.errors import RequestError
from cudarun.base.options import OptionGroup, OptionScope, option_field
from cudarun.base.records import dataclass

if TYPE_CHECKING:  # the commands' help needs neither
    from cudarun.arguments.dtypes import Array
    from cudarun.arguments.types import ScalarType

_check = partial(option_field, group=OptionGroup.CHECKS, scope=OptionScope.OVERRIDE)
DEFAULT_TOLERANCES: dict[str, tuple[float, float]] = {
    "f64": (1e-12, 1e-14),
    "f32": (1e-5, 1e-6),
    "f16": (1e-3, 1e-4),
    "bf16": (1e-2, 1e-3),
    "f8e4m3": (0.125, 0.002),
    "f8e5m2": (0.25, 1e-4),
}
"""``(rtol, atol)`` by floating type: ``rtol`` is a few roundings of the type, ``atol`` slightly
more than the error of results near zero, which for fp8 is half its smallest number."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The tolerance for comparing floats; by default one of :data:`DEFAULT_TOLERANCES`.

    Raises:
        RequestError: A tolerance is negative, infinite or NaN.
    """

    rtol: float | None = _check(
        "--rtol X",
        is_number=True,
        help="Relative tolerance of --check and --reference.  [default: depends on the dtype]",
    )
    atol: float | None = _check(
        "--atol X",
        is_number=True,
        help="Absolute tolerance of --check and --reference.  [default: depends on the dtype]",
    )
    equal_nan: bool = _check(
        "--equal-nan", help="Treat NaN as equal to NaN in --check and --reference."
    )

    algebra: bool = _check(
        "--algebra",
        help="On cpu, compute with floats as numbers modulo a prime, and compare exactly: kernels "
        "that compute the same formula in any order agree.",
    )

    def __post_init__(self) -> None:
        for option, value in (("--rtol", self.rtol), ("--atol", self.atol)):
            if value is not None and not 0 <= value < math.inf:
                refused = RequestError("a tolerance must be a number from 0")
                raise refused.of(option=option, shown=f"{option} {value}")

    def overridden(self, rtol: float | None, atol: float | None) -> Tolerance:
        """Return the tolerance of a check that has its own."""
        return replace(
            self,
            rtol=self.rtol if rtol is None else rtol,
            atol=self.atol if atol is None else atol,
        )

    def within(
        self, left: Array, right: Array, precision: ScalarType | None
    ) -> tuple[Array, Array]:
        """Return which floats are equal, and the differences; infinities equal only themselves.

        Args:
            left: Values as float64.
            right: The expected values.
            precision: The type of which the tolerance is the default.
        """
        import numpy as np  # the parent, which parses tolerances, does not need it

        rtol, atol = self.of(precision)
        equal = np.asarray(left == right)
        difference = np.abs(left - right)
        bound = atol + rtol * np.abs(right)
        passed = equal | ((difference <= bound) & np.isfinite(right))
        is_same = equal  # for infinities too, whose difference is NaN
        if self.equal_nan:
            both = np.isnan(left) & np.isnan(right)
            passed, is_same = passed | both, is_same | both
        return passed, np.where(is_same, 0.0, difference)

    def of(self, scalar: ScalarType | None) -> tuple[float, float]:
        """Return ``(rtol, atol)`` for a floating type; that of ``f64`` for ``None``."""
        rtol, atol = DEFAULT_TOLERANCES[scalar.name if scalar else "f64"]
        return (rtol if self.rtol is None else self.rtol, atol if self.atol is None else self.atol)
