"""Numbers in arguments: of a type, of that of their parameter, computed, and constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
        """Return this number as a ``scalar``; `LiteralError` if the type cannot represent it."""
        return Scalar(scalar, literals.encode(self.text, scalar))

    def as_float(self, scalar: ScalarType) -> float:
        """Return this number in double precision; a bit pattern is that of a ``scalar``."""
        is_pattern = literals.read(self.text).form is literals.Form.BITS
        return float(self.of(scalar if is_pattern else SCALARS["f64"]).value)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Computed:
    """A number that follows from others: ``(n+255)//256``, ``i32:2*n``."""

    expression: Expression  # the expression over the other numbers
    type: ScalarType | None = None  # the type; without one, the kernel's parameter determines it

    def __str__(self) -> str:
        return f"{self.type}:{self.expression}" if self.type else str(self.expression)


@dataclass(frozen=True, slots=True)
class CompiledConstant:
    """A value by name, for dimensions and expressions."""

    name: str
    value: Scalar
    is_known: bool  # whether it is the value in the kernel; otherwise only the user says so


def constant_scalar(value: float | UntypedNumber) -> Scalar:
    """Return a number as a scalar of 64 bits, or a bool."""
    number = value if isinstance(value, UntypedNumber) else UntypedNumber(number_text(value))
    form = literals.read(number.text).form
    name = {literals.Form.INTEGER: "i64", literals.Form.TRUTH: "bool"}.get(form, "f64")
    return number.of(SCALARS[name])


def number_text(value: float) -> str:
    """Return the text of a number in the grammar."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def constant_remarks(constants: Iterable[CompiledConstant]) -> Iterator[str]:
    """Yield a remark if the values of some constants were not compared with the kernel's."""
    names = [each.name for each in constants if not each.is_known]
    if names:
        yield (
            f"not parameters of the kernel, only for expressions: {', '.join(names)} (Triton "
            "compiles constants and arguments that equal 1 into the kernel)"
        )
