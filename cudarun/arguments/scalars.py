"""Numbers in arguments: of a type, of the type of their parameter, and computed from others."""

from __future__ import annotations

from cudarun.arguments import literals
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.types import SCALARS, ScalarType
from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number of a type, stored as bits: exact, and equal to itself even if it is a NaN."""

    type: ScalarType
    bits: int

    @property
    def value(self) -> int | float | bool:
        """The number."""
        return literals.decode(self.bits, self.type)

    @property
    def literal(self) -> str:
        """The text without the type."""
        return literals.show(self.bits, self.type)

    def __str__(self) -> str:
        return f"{self.type}:{self.literal}"


@dataclass(frozen=True, slots=True)
class UntypedNumber:
    """A number without a type, ``2.5``: the kernel's parameter or the buffer determines it."""

    text: str

    def of(self, scalar: ScalarType) -> Scalar:
        """Return this number as a ``scalar``.

        Raises:
            LiteralError: The type cannot represent it.
        """
        return Scalar(scalar, literals.encode(self.text, scalar))

    def as_float(self, scalar: ScalarType) -> float:
        """Return this number in double precision; a bit pattern is that of a ``scalar``."""
        is_pattern = literals.read(self.text).form is literals.Form.BITS
        return float(self.of(scalar if is_pattern else SCALARS["f64"]).value)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Computed:
    """A number that follows from others: ``(n+255)//256``, ``i32:2*n``.

    Attributes:
        expression: The expression over the other numbers.
        type: The type; without one, the kernel's parameter determines it.
    """

    expression: Expression
    type: ScalarType | None = None

    def __str__(self) -> str:
        return f"{self.type}:{self.expression}" if self.type else str(self.expression)
