"""Arguments bound to a kernel's parameters: the layout of a launch with unresolved addresses.

No numpy is imported here unless an argument is a ``.npy`` file or the scalars are requested, so
that ``--dry-run`` answers at once.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from cudarun.arguments.dimensions import evaluate_dimension
from cudarun.arguments.files import check_raw_size, is_npy, locate
from cudarun.arguments.packing import BufferSpec, Pointee, pack
from cudarun.arguments.parameter_match import (
    Agreement,
    ParameterMismatch,
    agreement,
    fit,
    pointee_type,
)
from cudarun.arguments.scanner import IDENTIFIER, did_you_mean
from cudarun.arguments.syntax import RESERVED
from cudarun.arguments.types import (
    NAMELESS,
    POINTER_SIZE,
    ScalarType,
    StructType,
    Type,
    inner_shape,
    innermost,
    lay_out,
)
from cudarun.arguments.values import (
    Argument,
    Buffer,
    Element,
    FileBuffer,
    FileInitial,
    FileOrder,
    Initial,
    ListInitial,
    Scalar,
    StructValue,
    SymbolAddress,
    UntypedNumber,
    Value,
    value_type,
)
from cudarun.errors import RequestError
from cudarun.parameters import Parameter
from cudarun.records import dataclass
from cudarun.report.types import LayoutRow

MAX_BYTES = (1 << 63) - 1
"""The largest accepted size of a buffer in bytes; the device refuses a size beyond its memory."""

Suggest: TypeAlias = Callable[[Sequence[Argument | None]], str]
"""Returns a complete command for the arguments that match; ``None`` for each that is missing."""


@dataclass(frozen=True, slots=True)
class ParameterSlot:
    """One parameter of the launch.

    Attributes:
        name: The argument's name in expressions.
        parameter: The kernel's parameter.
        value: The argument's value; untyped numbers have received their type.
        data: Its bytes, with zeros in place of addresses.
        pointers: The offsets of addresses in ``data``.
    """

    name: str
    parameter: Parameter
    value: Value
    data: bytes
    pointers: tuple[tuple[int, Pointee], ...]

    def pack(self, addresses: Mapping[str, int], symbols: Mapping[str, int]) -> bytes:
        """Return the parameter's bytes with all addresses; see :meth:`Binding.pack`."""
        data = bytearray(self.data)
        for offset, pointee in self.pointers:
            if isinstance(pointee, SymbolAddress):
                address = symbols[pointee.symbol]
            elif pointee.nbytes == 0:
                address = addresses.get(pointee.name, 0)
            else:
                address = addresses[pointee.name]
            data[offset : offset + POINTER_SIZE] = address.to_bytes(POINTER_SIZE, "little")
        return bytes(data)


@dataclass(frozen=True, slots=True)
class Binding:
    """A launch's arguments in the layout of the kernel's parameters.

    Attributes:
        slots: One slot for each parameter, in order.
        rows: The layout table: a row for each parameter, and below it for each member.
        warnings: Notes for the user: on element types and on parameters without names.
    """

    slots: tuple[ParameterSlot, ...]
    rows: tuple[LayoutRow, ...]
    warnings: tuple[str, ...] = ()

    @property
    def buffers(self) -> tuple[BufferSpec, ...]:
        """Every buffer to allocate, in the order of the arguments."""
        pointees = (pointee for slot in self.slots for _, pointee in slot.pointers)
        return tuple(each for each in pointees if isinstance(each, BufferSpec))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The image's variables whose addresses are needed, each once."""
        pointees = (pointee for slot in self.slots for _, pointee in slot.pointers)
        return tuple(
            dict.fromkeys(each.symbol for each in pointees if isinstance(each, SymbolAddress))
        )

    @property
    def integers(self) -> dict[str, int]:
        """The integer arguments by name."""
        return _integers((slot.name, slot.value) for slot in self.slots)

    @property
    def scalars(self) -> dict[str, Any]:
        """The arguments passed by value, by name, as expressions see them.

        Scalars are numpy scalars, vectors and arrays are arrays, structs are structured scalars
        without their pointers; their members are included, ``s.n``. Raw bytes and addresses are
        not.
        """
        from cudarun.arguments.dtypes import by_value

        found: dict[str, Any] = {}
        for slot in self.slots:
            if isinstance(slot.value, Element):
                data = by_value(slot.value.type, slot.data)
                found.update(_with_members(slot.name, slot.value, data))
        return found

    @property
    def size(self) -> int:
        """The size of the parameter buffer in bytes, up to the end of the last parameter."""
        return max((s.parameter.offset + s.parameter.size for s in self.slots), default=0)

    def pack(self, addresses: Mapping[str, int], symbols: Mapping[str, int]) -> bytes:
        """Return the whole parameter buffer.

        Args:
            addresses: Device addresses by buffer name; an empty buffer without one is null.
            symbols: Device addresses by symbol.

        Raises:
            KeyError: An address is missing.
        """
        data = bytearray(self.size)
        for slot in self.slots:
            start = slot.parameter.offset
            data[start : start + slot.parameter.size] = slot.pack(addresses, symbols)
        return bytes(data)


def bind(
    arguments: Sequence[Argument],
    parameters: Sequence[Parameter] | None,
    *,
    kernel: str,
    directory: Path = Path(),
    allow_type_mismatch: bool = False,
    suggest: Suggest | None = None,
) -> Binding:
    """Bind arguments to a kernel's parameters, by name where the names are known, else in order.

    Args:
        arguments: The parsed arguments.
        parameters: The kernel's parameters. With ``None`` neither driver nor image knows them; the
            arguments are then laid out by the alignment of their own types.
        kernel: The kernel's name in messages.
        directory: The base of relative paths.
        allow_type_mismatch: Accept buffers whose elements do not match the C++ pointee type.
        suggest: Returns a command with all arguments, for the hint if any are missing.

    Raises:
        RequestError: The arguments do not match (the message shows both lists), a dimension or a
            file cannot be resolved, or two names are the same.
    """
    if parameters is None:
        parameters = _own_layout(arguments, kernel)
    order = _order(arguments, parameters, kernel)
    values = _fit_all(order, parameters, kernel, suggest)
    arguments = [argument for argument in order if argument is not None]
    names = _names(arguments, parameters)
    resolver = _Resolver(_integers(zip(names, values, strict=True)), directory)
    slots: list[ParameterSlot] = []
    rows: list[LayoutRow] = []
    end = 0
    for argument, name, value, parameter in zip(arguments, names, values, parameters, strict=True):
        try:
            packed = pack(value, name, partial(resolver.buffer, argument))
        except RequestError as error:
            raise error.at(argument=argument.text or str(argument), kernel=kernel) from None
        slots.append(ParameterSlot(name, parameter, value, packed.data, packed.pointers))
        rows += _placed(packed.rows, parameter.offset, parameter.offset - end)
        end = parameter.offset + parameter.size
    warnings = [*_by_order(arguments, parameters)]
    refused: list[_Mismatch] = []
    for mismatch in _mismatches(arguments, slots):
        if mismatch.agreement is Agreement.SIGNEDNESS or allow_type_mismatch:
            warnings.append(str(mismatch))
        else:
            refused.append(mismatch)
    if refused:
        raise _refusal(refused, kernel, directory)
    return Binding(tuple(slots), tuple(rows), tuple(warnings))


def _placed(rows: tuple[LayoutRow, ...], offset: int, padding: int) -> list[LayoutRow]:
    """Return the layout rows of a value at its parameter's offset."""
    whole, *members = (replace(row, offset=row.offset + offset) for row in rows)
    return [replace(whole, padding_before=padding), *members]


def _with_members(name: str, value: Value, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value by its name, and the members of a struct by theirs."""
    yield name, data
    if isinstance(value, StructValue):
        fields = value.type.member_names
        for index, (member, field) in enumerate(zip(value.members, fields, strict=True)):
            if isinstance(member.value, Element) and field in data.dtype.names:
                label = f"{name}.{member.name or index}"
                yield from _with_members(label, member.value, data[field])


def _integers(named: Iterable[tuple[str, Value]]) -> dict[str, int]:
    return {
        name: int(value.value)
        for name, value in named
        if isinstance(value, Scalar) and value.type.is_integer
    }


def _own_layout(arguments: Sequence[Argument], kernel: str) -> tuple[Parameter, ...]:
    types: list[Type] = []
    for argument in arguments:
        if isinstance(argument.value, UntypedNumber):
            raise RequestError(
                f"{kernel}: nothing tells the parameters of this kernel, so "
                f"{argument} needs a type, such as i32:{argument.value}",
                argument=argument.text or str(argument),
            )
        types.append(value_type(argument.value))
    offsets = lay_out(types).offsets
    return tuple(
        Parameter(index, offset, type_.size, type_.alignment)
        for index, (offset, type_) in enumerate(zip(offsets, types, strict=True))
    )


# --- names ---------------------------------------------------------------------------------------


def _own_name(parameter: Parameter) -> str | None:
    """Return a parameter's name if it can be that of an argument."""
    name = parameter.name
    return name if name and IDENTIFIER.fullmatch(name) and name not in RESERVED else None


def has_names(parameters: Sequence[Parameter]) -> bool:
    """Return whether arguments can be bound by name: every parameter has one of its own."""
    names = [_own_name(parameter) for parameter in parameters]
    return None not in names and len(set(names)) == len(names)


def _by_order(arguments: Sequence[Argument], parameters: Sequence[Parameter]) -> Iterator[str]:
    """Yield a remark if several arguments have names and the parameters have none."""
    is_named = any(argument.name for argument in arguments)
    if is_named and len(arguments) > 1 and not has_names(parameters):
        yield "bound by order: the image has no parameter names"


def _order(
    arguments: Sequence[Argument], parameters: Sequence[Parameter], kernel: str
) -> list[Argument | None]:
    """Return an argument for each parameter, ``None`` if it is missing, and then those too many.

    Where all parameters have names, ``NAME=VALUE`` is that of the name. An argument without a name
    stands in its own place, and all before it in theirs.

    Raises:
        RequestError: There is no such parameter, it has two arguments, or an argument without a
            name follows one out of order.
    """
    if not has_names(parameters):
        return [*arguments, *[None] * (len(parameters) - len(arguments))]
    owners = {parameter.name: index for index, parameter in enumerate(parameters)}
    placed: dict[int, Argument] = {}
    displaced: Argument | None = None
    for index, argument in enumerate(arguments):
        place = owners.get(argument.name) if argument.name else index
        if place is None:
            raise _unknown_name(argument, parameters, kernel)
        if argument.name is None and displaced is not None:
            raise RequestError(
                f"{kernel}: argument {index} ({argument}) has no name and follows "
                f"{displaced.name}, which is out of order",
                hint="give it a name, NAME=VALUE, or put the arguments without names first",
                argument=argument.text or str(argument),
            )
        if place in placed:
            raise RequestError(
                f"{kernel}: two arguments for parameter {argument.name}: "
                f"{placed[place]} and {argument}",
                argument=argument.text or str(argument),
            )
        if place != index:
            displaced = argument
        placed[place] = argument
    count = max(len(parameters), *(place + 1 for place in placed), 0)
    return [placed.get(place) for place in range(count)]


def _unknown_name(argument: Argument, parameters: Sequence[Parameter], kernel: str) -> RequestError:
    known = [parameter.label for parameter in parameters]
    near = did_you_mean(str(argument.name), known)
    listed = f"its parameters are {', '.join(known)}"
    return RequestError(
        f"{kernel} has no parameter '{argument.name}'",
        hint=f"{near} {listed}" if near else listed,
        argument=argument.text or str(argument),
    )


def _names(arguments: Sequence[Argument], parameters: Sequence[Parameter]) -> list[str]:
    """Return the name of each argument: its own, the parameter's, or ``p`` and its index.

    Raises:
        RequestError: Two arguments have the same name, or one has the name of another parameter.
    """
    taken = {argument.name for argument in arguments if argument.name}
    owners = {parameter.name: parameter.index for parameter in parameters if parameter.name}
    names: list[str] = []
    for argument, parameter in zip(arguments, parameters, strict=True):
        if argument.name:
            if owners.get(argument.name, parameter.index) != parameter.index:
                raise RequestError(
                    f"argument {parameter.index} is named {argument.name}, which is parameter "
                    f"{owners[argument.name]} of the kernel",
                    hint="arguments stand in the order of the parameters",
                    argument=argument.text or str(argument),
                )
            names.append(argument.name)
            continue
        name = _own_name(parameter) or f"p{parameter.index}"
        if name in taken:
            raise RequestError(
                f"argument {parameter.index} ({argument}) has no name, and {name} is the name of "
                "another: give it one, NAME=VALUE"
            )
        taken.add(name)
        names.append(name)
    return names


# --- buffers -------------------------------------------------------------------------------------


class _Resolver:
    """A converter of buffers from their text to the buffers to allocate."""

    def __init__(self, integers: dict[str, int], directory: Path) -> None:
        self.integers = integers
        self.directory = directory

    def buffer(self, argument: Argument, value: Buffer | FileBuffer, name: str) -> BufferSpec:
        if isinstance(value, FileBuffer):
            from cudarun.arguments.array_files import npy_header

            path = locate(value.path, self.directory)
            element, shape = npy_header(path, value, argument.pasted)
            return BufferSpec(name, element, shape, FileInitial(str(path), value.order))
        shape = tuple(evaluate_dimension(each, self.integers) for each in value.dimensions)
        spec = BufferSpec(name, value.type, shape)
        if spec.nbytes > MAX_BYTES:
            raise RequestError(f"{value} is {spec} of {spec.nbytes} bytes: no memory is that large")
        return replace(spec, initial=self.initial(argument, value.initial, spec))

    def initial(
        self, argument: Argument, initial: Initial | None, spec: BufferSpec
    ) -> Initial | None:
        """Resolve the file of an initializer and check all that is possible without reading it."""
        if isinstance(initial, ListInitial) and initial.shape != spec.array_shape:
            raise RequestError(
                f"a list of shape {_shape(initial.shape)} does not fill {spec}"
                + (
                    f", which has {_shape(spec.array_shape)} values"
                    if inner_shape(spec.type)
                    else ""
                )
            )
        if isinstance(initial, FileInitial):
            path = locate(initial.path, self.directory)
            if is_npy(path) or initial.cast or initial.order is not FileOrder.PLAIN:
                from cudarun.arguments.array_files import check_file

                check_file(path, spec, initial, argument.pasted)
            else:
                check_raw_size(path, spec.nbytes, str(spec))
            return replace(initial, path=str(path))
        return initial


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


# --- element types -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mismatch:
    """A buffer whose elements do not match the parameter's C++ pointee type."""

    argument: Argument
    slot: ParameterSlot
    spec: BufferSpec
    agreement: Agreement

    def __str__(self) -> str:
        return (
            f"{self.slot.name} is {self.slot.parameter.type} in the kernel, {self.spec} was given"
        )


def _mismatches(
    arguments: Sequence[Argument], slots: Sequence[ParameterSlot]
) -> Iterator[_Mismatch]:
    for argument, slot in zip(arguments, slots, strict=True):
        if not isinstance(slot.value, Buffer | FileBuffer):
            continue
        for _, spec in slot.pointers:
            if isinstance(spec, BufferSpec):
                found = agreement(spec.type, slot.parameter)
                if found is not Agreement.FULL:
                    yield _Mismatch(argument, slot, spec, found)


def _refusal(refused: Sequence[_Mismatch], kernel: str, directory: Path) -> RequestError:
    """Return the error for element types that do not match, with arguments that do."""
    matching = [text for each in refused if (text := _matching(each, directory))]
    hint = "pass the data unchanged with --allow-type-mismatch"
    if matching:
        hint = f"pass {' '.join(matching)}\nor {hint}"
    return RequestError(
        f"{kernel}: {'; '.join(map(str, refused))}",
        hint=hint,
        kernel=kernel,
        argument=refused[0].argument.text or str(refused[0].argument),
    )


def _matching(mismatch: _Mismatch, directory: Path) -> str | None:
    """Return the argument with the kernel's element type; ``None`` if no text gives that."""
    from cudarun.arguments.grammar import parse_argument

    expected, spec, value = (
        pointee_type(mismatch.slot.parameter),
        mismatch.spec,
        mismatch.slot.value,
    )
    if expected is None or isinstance(innermost(spec.type), StructType):
        return None
    initial = value.initial if isinstance(value, Buffer) else None
    if isinstance(value, FileBuffer):
        initial = FileInitial(value.path, value.order)
    if isinstance(initial, FileInitial):
        if is_npy(locate(initial.path, directory)):
            initial = _converting(initial, innermost(spec.type), expected)
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


def _converting(initial: FileInitial, given: Type, expected: ScalarType) -> FileInitial:
    """Return the initializer that converts a file's elements.

    numpy's format has no name for bf16 and fp8: integers of their size are taken for their bits.
    """
    if expected.name in NAMELESS and given.size == expected.size:
        return replace(initial, order=FileOrder.STORED, cast=False)
    return replace(initial, cast=True)


# --- matching of arguments and parameters, and the error message ---------------------------------


def _fit_all(
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
            problems[index] = "no argument for it"
        elif parameter is None:
            problems[index] = "no such parameter"
        else:
            try:
                values.append(fit(argument.value, parameter))
            except ParameterMismatch as misfit:
                problems[index] = str(misfit)
    if problems:
        hint = None
        if suggest is not None and None in arguments:
            fitting = [None if i in problems else each for i, each in enumerate(arguments)]
            hint = f"a complete command:\n{suggest(fitting[: len(parameters)])}"
        message = _mismatch_message(arguments, parameters, problems, kernel)
        raise RequestError(message, hint=hint, kernel=kernel)
    return values


def _mismatch_message(
    arguments: Sequence[Argument | None],
    parameters: Sequence[Parameter],
    problems: Mapping[int, str],
    kernel: str,
) -> str:
    """Return the error message: the problems, and both lists side by side."""
    given = sum(argument is not None for argument in arguments)
    if given != len(parameters):
        summary = f"takes {_number(parameters, 'parameter')}, {given} given"
    else:
        which = " and ".join(map(str, problems))
        one = len(problems) == 1
        summary = (
            f"argument {which} does not fit its parameter"
            if one
            else f"arguments {which} do not fit their parameters"
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
