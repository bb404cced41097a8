"""Values matched with parameters, and both lists side by side where they do not match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from cudarun.arguments.members import (
    braced,
    fields_of,
    fit_members,
    has_member_names,
    laid_out,
    unknown_members,
)
from cudarun.arguments.parameter_match import ParameterMismatch, fit
from cudarun.arguments.parameter_order import in_order
from cudarun.arguments.scanner import counted
from cudarun.arguments.types import PointerType
from cudarun.arguments.values import Argument, StructValue, Value, has_type, value_type
from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter

Suggest: TypeAlias = Callable[[Sequence[Argument | None]], str]
"""Returns a complete command for the arguments that match; ``None`` for each that is missing."""


def fit_all(
    arguments: Sequence[Argument | None],
    parameters: Sequence[Parameter],
    kernel: str,
    suggest: Suggest | None,
    noun: str = "parameter",
) -> list[Value]:
    """Return the values, with types for untyped numbers.

    Args:
        arguments: The argument of each parameter; ``None`` for a missing one.
        parameters: The parameters, or the members of a struct.
        kernel: The owner of the parameters in messages.
        suggest: Returns a complete command.
        noun: ``member`` of a struct.

    Raises:
        RequestError: An argument does not match its parameter, or there are too few or too many.
    """
    values: list[Value] = []
    problems: dict[int, str] = {}
    for index, (argument, parameter) in enumerate(zip_longest(arguments, parameters)):
        if argument is None:
            problems[index] = "missing argument" if noun == "parameter" else f"missing {noun}"
        elif parameter is None:
            problems[index] = "unexpected argument"
        else:
            try:
                values.append(_fitted(argument, parameter, kernel, noun))
            except ParameterMismatch as mismatch:
                problems[index] = str(mismatch)
    if problems:
        hint = None
        if suggest is not None and None in arguments:
            fitting = [None if i in problems else each for i, each in enumerate(arguments)]
            hint = f"a complete command:\n{suggest(fitting[: len(parameters)])}"
        else:
            hint = _order_hint(arguments, parameters)
        message = _mismatch_message(arguments, parameters, problems, kernel, noun)
        error = RequestError(message, hint=hint)
        raise error.at(kernel=kernel) if noun == "parameter" else error
    return values


def _fitted(argument: Argument, parameter: Parameter, kernel: str, noun: str) -> Value:
    """Return a value with its type; a struct with the members of its parameter, in their order.

    Raises:
        ParameterMismatch: The value does not match the parameter.
        RequestError: The members of a struct do not match those of the parameter.
    """
    value = argument.value
    fields = fields_of(parameter)
    if isinstance(value, StructValue):
        if fields and (not has_type(value) or has_member_names(value)):
            label = argument.name or parameter.label
            owner = f"{kernel}.{label}".replace(".[", "[") if noun == "member" else label
            members = [Argument(each.name, each.value) for each in braced(value, parameter)]
            order = in_order(members, fields, owner, "member")
            values = fit_all(order, fields, owner, None, "member")
            value = laid_out(order, values, fields, parameter)
        elif not has_type(value):
            raise ParameterMismatch(unknown_members(parameter))
    elif (parameter.members and len(fields) > 1) and (
        not has_type(value) or isinstance(value_type(value), PointerType)
    ):
        raise ParameterMismatch("it is a struct: pass its members, {…}")
    value = fit(value, parameter)
    fit_members(value_type(value), parameter)
    return value


def _order_hint(
    arguments: Sequence[Argument | None], parameters: Sequence[Parameter]
) -> str | None:
    """Return a hint for arguments in another order than the parameters, where these have names."""
    is_by_order = all(each is not None and each.name is None for each in arguments)
    names = [parameter.name for parameter in parameters]
    if len(arguments) != len(parameters) or len(names) == 1 or not is_by_order or None in names:
        return None
    return f"name the arguments to pass them in any order: {' '.join(f'{n}=…' for n in names)}"


def _mismatch_message(
    arguments: Sequence[Argument | None],
    parameters: Sequence[Parameter],
    problems: Mapping[int, str],
    kernel: str,
    noun: str,
) -> str:
    """Return the error message: the problems, and both lists side by side."""
    given = sum(argument is not None for argument in arguments)
    if given != len(parameters):
        summary = f"takes {counted(len(parameters), noun)}, got {given}"
    else:
        *others, last = map(str, problems)
        which = f"{', '.join(others)} and {last}" if others else last
        one = len(problems) == 1
        summary = (
            f"argument {which} does not match its {noun}"
            if one
            else f"arguments {which} do not match their {noun}s"
        )
    lines = [("", "", "offset", "size", noun, "argument", "size")]
    for index, (argument, parameter) in enumerate(zip_longest(arguments, parameters)):
        mark = "!" if index in problems else ""
        lines.append((mark, str(index), *_parameter_cells(parameter), *_argument_cells(argument)))
    table = _table(lines)
    for index in sorted(problems, reverse=True):  # backwards: insertions move lines
        table.insert(index + 2, f"{'':{table[0].index(noun)}}^ {problems[index]}")
    return "\n".join((f"{kernel}: {summary}", *table))


def _parameter_cells(parameter: Parameter | None) -> tuple[str, str, str]:
    if parameter is None:
        return "", "", "–"
    name = f"{parameter.name or ''}[{parameter.count}]" if parameter.count > 1 else parameter.name
    description = " ".join(filter(None, (parameter.type, name)))
    return str(parameter.offset), str(parameter.size), description or "?"


def _argument_cells(argument: Argument | None) -> tuple[str, str]:
    if argument is None:
        return "–", ""
    text = argument.text or str(argument)
    return text, str(value_type(argument.value).size) if has_type(argument.value) else "?"


_WIDEST = 78  # columns: the narrowest common terminal shows a line without wrapping
_TEXTS = (4, 5)  # the columns that can be long


def _table(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines with aligned columns; long texts are truncated to fit the width."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    one, other = (widths[column] for column in _TEXTS)
    room = _WIDEST - 2 * len(widths) - (sum(widths) - one - other)
    if one + other > room:  # each column gets half, and what the other does not use
        widths[_TEXTS[0]] = min(one, max(room // 2, room - other))
        widths[_TEXTS[1]] = min(other, room - widths[_TEXTS[0]])
    right = {1, 2, 3, 6}
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if index in right else _cut(cell, width).ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
