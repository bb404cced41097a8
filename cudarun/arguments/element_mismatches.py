"""Buffers whose elements do not match the kernel's C++ type, with arguments that do."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cudarun.arguments.files import is_npy, is_png, locate
from cudarun.arguments.initial_values import FileInitial, FileOrder
from cudarun.arguments.members import pointer_at
from cudarun.arguments.packing import BufferElement, BufferSpec, ParameterSlot
from cudarun.arguments.parameter_match import Agreement, agreement, pointee_type
from cudarun.arguments.types import NAMELESS, ScalarType, StructType, Type, innermost
from cudarun.arguments.values import AddressOf, Argument, Buffer, FileBuffer
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.images.parameters import Parameter


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
        argument=refused[0].argument.text or str(refused[0].argument),
    )


def _matching(mismatch: ElementMismatch, directory: Path) -> str | None:
    """Return the argument with the kernel's element type; ``None`` if no text gives that."""
    from cudarun.arguments.grammar import parse_argument

    expected = pointee_type(mismatch.parameter)
    spec, value = mismatch.spec, mismatch.slot.value
    if not isinstance(value, Buffer | FileBuffer):  # of a struct the rest would be missing
        return None
    if expected is None or isinstance(innermost(spec.type), StructType):
        return None
    initial = value.initial
    if isinstance(initial, FileInitial):
        path = locate(initial.path, directory)
        if is_npy(path) or is_png(path):
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
