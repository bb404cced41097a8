"""Values matched with parameters, and both lists side by side where they do not match."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from cudarun.arguments import types
from cudarun.arguments.files import is_npy, is_png, locate
from cudarun.arguments.initial_values import FileInitial, FileOrder
from cudarun.arguments.members import (
    braced,
    by_value,
    fields_of,
    fit_members,
    has_member_names,
    laid_out,
    pointer_at,
    unknown_members,
)
from cudarun.arguments.packing import BufferElement, BufferSpec, ParameterSlot
from cudarun.arguments.parameter_match import (
    Agreement,
    ParameterMismatch,
    agreement,
    expected_type,
    fit,
    pointee_type,
)
from cudarun.arguments.parameter_order import in_order
from cudarun.arguments.scanner import counted
from cudarun.arguments.values import (
    AddressOf,
    Argument,
    Buffer,
    FileBuffer,
    StructValue,
    Value,
    has_type,
    value_type,
)
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
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
        owners = [each.name or "" for each in parameters]
        if suggest is not None and None in arguments:
            fitting = [None if i in problems else each for i, each in enumerate(arguments)]
            hint = f"a complete command:\n{suggest(fitting[: len(parameters)])}"
        elif (
            len(arguments) == len(parameters) > 1
            and all(each is not None and each.name is None for each in arguments)
            and all(map(str.isidentifier, owners))
        ):
            listed = " ".join(f"{name}=…" for name in owners)
            hint = f"name the arguments to pass them in any order: {listed}"
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
    is_several = parameter.count > 1 or isinstance(expected_type(parameter.type), types.VectorType)
    if noun == "member" and is_several and isinstance(value, Buffer | FileBuffer):
        value = by_value(value, parameter)
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
    elif not has_type(value) or isinstance(value_type(value), types.PointerType):
        if (count := parameter.count) > 1:
            element = expected_type(parameter.type)
            typed = f", or {element}*{count}:…" if isinstance(element, types.ScalarType) else ""
            raise ParameterMismatch(f"it is an array: pass its {count} elements, {{…}}{typed}")
        if parameter.members and len(fields) > 1:
            raise ParameterMismatch("it is a struct: pass its members, {…}")
    value = fit(value, parameter)
    fit_members(value_type(value), parameter)
    return value


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
        is_single = len(problems) == 1
        summary = (
            f"argument {which} does not match its {noun}"
            if is_single
            else f"arguments {which} do not match their {noun}s"
        )
    lines = [("", "", "offset", "size", noun, "argument", "size")]
    for index, (argument, parameter) in enumerate(zip_longest(arguments, parameters)):
        place, size, given_size = "", "", ""
        declared = text = "–"
        if parameter is not None:
            place, size = str(parameter.offset), str(parameter.size)
            name = parameter.name
            name = f"{name or ''}[{parameter.count}]" if parameter.count > 1 else name
            declared = " ".join(filter(None, (parameter.type, name))) or "?"
        if argument is not None:
            value, text = argument.value, argument.shown
            given_size = str(value_type(value).size) if has_type(value) else "?"
        mark = "!" if index in problems else ""
        lines.append((mark, str(index), place, size, declared, text, given_size))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    one, other = (widths[column] for column in _TEXTS)
    room = _WIDEST - 2 * len(widths) - (sum(widths) - one - other)
    if one + other > room:  # each column gets half, and what the other does not use
        widths[_TEXTS[0]] = min(one, max(room // 2, room - other))
        widths[_TEXTS[1]] = min(other, room - widths[_TEXTS[0]])
    right = {1, 2, 3, 6}
    table = [
        "  "
        + "  ".join(
            cell.rjust(width) if index in right else _cut(cell, width).ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    for index in sorted(problems, reverse=True):  # backwards: insertions move lines
        table.insert(index + 2, f"{'':{table[0].index(noun)}}^ {problems[index]}")
    return "\n".join((f"{kernel}: {summary}", *table))


_WIDEST = 78  # columns: the narrowest common terminal shows a line without wrapping
_TEXTS = (4, 5)  # the columns that can be long


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


# --- elements of buffers -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ElementMismatch:
    """A buffer whose elements do not match the parameter's C++ pointee type."""

    argument: Argument
    slot: ParameterSlot
    parameter: Parameter  # that of the slot, or a pointer in a struct
    spec: BufferSpec
    agreement: Agreement

    def __str__(self) -> str:
        is_member = self.parameter is not self.slot.parameter
        name = f"{self.slot.name}.{self.parameter.name}" if is_member else self.slot.name
        return f"{name} is {self.parameter.type} in the kernel, got {self.spec}"


def element_mismatches(
    arguments: Sequence[Argument], slots: Sequence[ParameterSlot], earlier: Mapping[str, BufferSpec]
) -> Iterator[ElementMismatch]:
    """Yield the buffers whose elements do not match, those of earlier steps included."""
    for argument, slot in zip(arguments, slots, strict=True):
        is_pointer = isinstance(slot.value, Buffer | FileBuffer | AddressOf)
        for offset, pointee in slot.pointers:
            spec = earlier.get(pointee.name) if isinstance(pointee, BufferElement) else pointee
            parameter = slot.parameter if is_pointer else pointer_at(slot.parameter, offset)
            if isinstance(spec, BufferSpec) and parameter is not None:
                found = agreement(spec.type, parameter)
                if found is not Agreement.FULL:
                    yield ElementMismatch(argument, slot, parameter, spec, found)


def mismatch_refusal(
    refused: Sequence[ElementMismatch], kernel: str, directory: Path
) -> RequestError:
    """Return the error for element types that do not match, with arguments that do."""
    matching = [text for each in refused if (text := _matching(each, directory))]
    hint = "pass the data unchanged with --allow-type-mismatch"
    if matching:
        hint = f"pass {' '.join(matching)}\nor {hint}"
    return RequestError(
        f"{kernel}: {'; '.join(map(str, refused))}",
        hint=hint,
        kernel=kernel,
        argument=refused[0].argument.shown,
    )


def _matching(mismatch: ElementMismatch, directory: Path) -> str | None:
    """Return the argument with the kernel's element type; ``None`` if no text gives that."""
    from cudarun.arguments.grammar import parse_argument

    expected = pointee_type(mismatch.parameter)
    spec, value = mismatch.spec, mismatch.slot.value
    if not isinstance(value, Buffer | FileBuffer):  # of a struct the rest would be missing
        return None
    if expected is None or isinstance(types.innermost(spec.type), types.StructType):
        return None
    initial = value.initial
    if isinstance(initial, FileInitial):
        path = locate(initial.path, directory)
        if is_npy(path) or is_png(path):
            # numpy's format has no name for bf16 and fp8: integers of their size have their bits.
            has_bits = (
                expected.name in types.NAMELESS and types.innermost(spec.type).size == expected.size
            )
            order = FileOrder.STORED if has_bits else initial.order
            initial = replace(initial, order=order, cast=not has_bits)
        elif spec.type.size == 1 and spec.nbytes % expected.size == 0:  # raw bytes
            spec = replace(spec, type=expected, shape=(spec.nbytes // expected.size,))
        else:
            return None
    filled = "" if initial is None else f":{initial}"
    text = mismatch.argument.pasted(f"{BufferSpec('', expected, spec.array_shape)}{filled}")
    try:
        parse_argument(*shlex.split(text))
    except RequestError:  # a list of fractions for integers, for instance
        return None
    return text
