"""Values that are compiled into a kernel: arguments of its source that are not parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudarun.arguments.literals import Form, read
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.types import SCALARS
from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class CompiledConstant:
    """A value by name, for dimensions and expressions.

    Attributes:
        name: The name.
        value: The value.
        is_known: Whether it is the value in the kernel; otherwise only the user says so.
    """

    name: str
    value: Scalar
    is_known: bool


def constant_scalar(value: float | UntypedNumber) -> Scalar:
    """Return a number as a scalar of 64 bits, or a bool."""
    number = value if isinstance(value, UntypedNumber) else UntypedNumber(number_text(value))
    form = read(number.text).form
    name = {Form.INTEGER: "i64", Form.TRUTH: "bool"}.get(form, "f64")
    return number.of(SCALARS[name])


def number_text(value: float) -> str:
    """Return the text of a number in the grammar."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def integer_constants(constants: Iterable[CompiledConstant]) -> dict[str, int]:
    """Return the integers among constants, for dimensions."""
    return {each.name: int(each.value.value) for each in constants if each.value.type.is_integer}


def constant_remarks(constants: Iterable[CompiledConstant]) -> Iterator[str]:
    """Yield a remark if the values of some constants were not compared with the kernel's."""
    names = [each.name for each in constants if not each.is_known]
    if names:
        yield (
            f"not parameters of the kernel, only for expressions: {', '.join(names)} (Triton "
            "compiles constants and arguments that equal 1 into the kernel)"
        )
