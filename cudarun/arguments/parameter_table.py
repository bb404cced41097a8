"""Values matched with parameters, and both lists side by side where they do not match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from cudarun.arguments.members import fit_members
from cudarun.arguments.parameter_match import (
    ParameterMismatch,
    fit,
)
from cudarun.arguments.values import (
    Argument,
    UntypedNumber,
    Value,
    value_type,
)
from cudarun.errors import RequestError
from cudarun.parameters import Parameter

Suggest: TypeAlias = Callable[[Sequence[Argument | None]], str]
"""Returns a complete command for the arguments that match; ``None`` for each that is missing."""


def fit_all(
    arguments: Sequence[Argument | None],
    parameters: Sequence[Parameter],
    kernel: str,
    suggest: Suggest | None,
) -> list[Value]:
    """Return the values, with types for untyped numbers.

    Raises:
        RequestError: An argument does not match its parameter, or there are too few or too many.
    """
    values: list[Value] = []
    problems: dict[int, str] = {}
    for index, (argument, parameter) in enumerate(zip_longest(arguments, parameters)):
        if argument is None:
            problems[index] = "missing argument"
        elif parameter is None:
            problems[index] = "unexpected argument"
        else:
            try:
                value = fit(argument.value, parameter)
                fit_members(value_type(value), parameter)
                values.append(value)
            except ParameterMismatch as misfit:
                problems[index] = str(misfit)
    if problems:
        hint = None
        if suggest is not None and None in arguments:
            fitting = [None if i in problems else each for i, each in enumerate(arguments)]
            hint = f"a complete command:\n{suggest(fitting[: len(parameters)])}"
        else:
            hint = _order_hint(arguments, parameters)
        message = _mismatch_message(arguments, parameters, problems, kernel)
        raise RequestError(message, hint=hint, kernel=kernel)
    return values


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
) -> str:
    """Return the error message: the problems, and both lists side by side."""
    given = sum(argument is not None for argument in arguments)
    if given != len(parameters):
        summary = f"takes {_number(parameters, 'parameter')}, got {given}"
    else:
        *others, last = map(str, problems)
        which = f"{', '.join(others)} and {last}" if others else last
        one = len(problems) == 1
        summary = (
            f"argument {which} does not match its parameter"
            if one
            else f"arguments {which} do not match their parameters"
        )
    lines = [("", "", "offset", "size", "parameter", "argument", "size")]
    for index, (argument, parameter) in enumerate(zip_longest(arguments, parameters)):
        mark = "!" if index in problems else ""
        lines.append((mark, str(index), *_parameter_cells(parameter), *_argument_cells(argument)))
    table = _table(lines)
    for index in sorted(problems, reverse=True):  # backwards: insertions move lines
        table.insert(index + 2, f"{'':{table[0].index('parameter')}}^ {problems[index]}")
    return "\n".join((f"{kernel}: {summary}", *table))


def _number(things: Sequence[object], what: str) -> str:
    return f"{len(things)} {what}{'s' * (len(things) != 1)}"


def _parameter_cells(parameter: Parameter | None) -> tuple[str, str, str]:
    if parameter is None:
        return "", "", "–"
    description = " ".join(filter(None, (parameter.type, parameter.name)))
    return str(parameter.offset), str(parameter.size), description or "?"


def _argument_cells(argument: Argument | None) -> tuple[str, str]:
    if argument is None:
        return "–", ""
    text = argument.text or str(argument)
    size = (
        "?" if isinstance(argument.value, UntypedNumber) else str(value_type(argument.value).size)
    )
    return text, size


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
