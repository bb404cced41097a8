"""Numbers that follow from others of the launch: ``nb='(n+255)//256'``, ``stride=n``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from cudarun.arguments import values
from cudarun.arguments.dimensions import evaluate_index, is_of_integers
from cudarun.arguments.expressions.syntax import CONSTANTS, Expression
from cudarun.arguments.literals import LiteralError, as_number
from cudarun.arguments.parameter_match import expected_type
from cudarun.arguments.parameter_order import default_name
from cudarun.arguments.scalars import CompiledConstant, Computed, Scalar, UntypedNumber, number_text
from cudarun.arguments.scanner import did_you_mean, name_hint
from cudarun.arguments.scope import Scope
from cudarun.arguments.types import NAMED
from cudarun.base.errors import RequestError
from cudarun.base.records import replace
from cudarun.images.parameters import Parameter


def with_numbers(
    arguments: Sequence[values.Argument | None],
    parameters: Sequence[Parameter],
    scope: Scope,
    constants: Sequence[CompiledConstant],
) -> list[values.Argument | None]:
    """Return the arguments with numbers in the place of expressions, and references resolved.

    Args:
        arguments: The argument of each parameter; ``None`` for a missing one.

    Raises:
        RequestError: A name is unknown, numbers depend on each other, or an expression has no
            number as its value.
    """
    named = {
        argument.name or default_name(index, parameter): argument.value
        for index, (argument, parameter) in enumerate(zip_longest(arguments, parameters))
        if argument is not None
    }
    known = {**scope.values, **{each.name: each.value for each in constants}}
    numbers = _Numbers(known | dict(with_members(named.items())), scope)
    found: list[values.Argument | None] = []
    for argument, parameter in zip_longest(arguments, parameters):
        try:
            match argument:
                case values.Argument(
                    value=values.StructValue((values.Member(None, values.Reference(name)),))
                ) if parameter is not None and expected_type(parameter.type) is not None:
                    what = f"{parameter.label} is {parameter.type}, not a struct"
                    raise RequestError(what, hint=name_hint(name))
            found.append(argument and replace(argument, value=numbers.resolved(argument.value)))
        except RequestError as error:
            assert argument is not None, "nothing is resolved for a missing argument"
            raise error.at(argument=argument.shown) from None
    return found


def with_integers(value: values.Value, integers: Mapping[str, int]) -> values.Value:
    """Return a value with numbers in the place of expressions over integers."""
    known = {name: UntypedNumber(str(number)) for name, number in integers.items()}
    return _Numbers(known, Scope()).resolved(value)


def with_members(named: Iterable[tuple[str, values.Value]]) -> Iterator[tuple[str, values.Value]]:
    """Yield values by name, and the members of structs by theirs: ``p.n``."""
    for name, value in named:
        if value != values.Reference(name):  # that of an earlier step
            yield name, value
        if isinstance(value, values.StructValue):
            yield from with_members(
                (f"{name}.{m.name or i}", m.value) for i, m in enumerate(value.members)
            )


_LARGEST = (1 << 64) - 1


class _Numbers:
    """The numbers of a launch; each is computed when another one needs it."""

    def __init__(self, given: Mapping[str, values.Value], scope: Scope) -> None:
        self._values = given
        self._scope = scope
        self._pending: list[str] = []

    def resolved(self, value: values.Value) -> values.Value:
        """Return a value with numbers in the place of expressions."""
        match value:
            case Computed(expression, type_):
                number = self._number(expression)
                try:
                    return number if type_ is None else number.of(type_)
                except LiteralError as error:
                    raise RequestError(f"{expression} is {number}: {error}") from None
            case values.Reference(name):
                return self._named(name)
            case values.StructValue():
                return values.with_parts(value, self.resolved)
            case _:
                return value

    def _number(self, expression: Expression) -> UntypedNumber:
        numbers: dict[str, float] = {}
        for name in sorted(expression.names):
            match self._named(name):
                case UntypedNumber(text):
                    numbers[name] = as_number(text)
                case Scalar() as scalar:
                    numbers[name] = scalar.value
                case _:
                    raise RequestError(f"'{name}' is not a number")
        found = _evaluated(expression, numbers)
        if isinstance(found, float) and found.is_integer() and abs(found) <= _LARGEST:
            return UntypedNumber(f"{found:.0f}")  # ceil(n/256) is a number of blocks
        return UntypedNumber(number_text(found))

    def _named(self, name: str) -> values.Value:
        """Return the number of a name, or the value of an earlier step; a buffer's address."""
        if name in self._pending:
            cycle = " → ".join([*self._pending[self._pending.index(name) :], name])
            raise RequestError(f"the arguments depend on each other: {cycle}")
        self._pending.append(name)
        value = self._values.get(name)
        value = value and self.resolved(value)
        self._pending.pop()
        if isinstance(value, UntypedNumber | Scalar):
            return value
        if isinstance(value, values.Buffer | values.FileBuffer):
            return values.AddressOf(name)
        if (earlier := self._scope.resolved(name)) is not None:
            return earlier
        if name in CONSTANTS:
            return UntypedNumber(number_text(CONSTANTS[name]))
        if value is not None:
            raise RequestError(f"'{name}' is not a number")
        known = [*self._values, *self._scope.buffers]
        near = did_you_mean(name, [*known, *NAMED, "null"])
        listed = f"known names: {', '.join(known)}" if known else None
        hint = " ".join(filter(None, (near, listed)))
        raise RequestError(f"unknown name '{name}'", hint=hint or None)


def _evaluated(expression: Expression, numbers: Mapping[str, float]) -> float:
    """Return the value of an expression: exactly if it consists of integers."""
    integers = {name: value for name, value in numbers.items() if type(value) is int}
    if is_of_integers(expression) and expression.names <= integers.keys():
        return evaluate_index(expression, integers)
    import numpy as np  # few arguments are computed from fractions

    from cudarun.arguments.expressions.evaluation import Evaluator

    given = {name: np.asarray(value) for name, value in numbers.items()}
    value = np.asarray(Evaluator(expression, given, {}).result())
    if value.ndim:
        raise RequestError(f"{expression} is not one number")
    number: float = value.item()
    return number
