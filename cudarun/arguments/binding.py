"""Arguments bound to a kernel's parameters: the layout of a launch with unresolved addresses.

No numpy is imported here unless an argument is a ``.npy`` file or the scalars are requested, so
that ``--dry-run`` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from cudarun.arguments import packing, values
from cudarun.arguments.addresses import all_buffers, all_pointees, located
from cudarun.arguments.buffer_resolution import BufferResolver
from cudarun.arguments.computed_numbers import with_members, with_numbers
from cudarun.arguments.frameworks import FilledArray, numba_parameters
from cudarun.arguments.members import member_remarks
from cudarun.arguments.parameter_match import Agreement
from cudarun.arguments.parameter_order import argument_names, in_order, order_remarks
from cudarun.arguments.parameter_table import (
    ElementMismatch,
    Suggest,
    element_mismatches,
    fit_all,
    mismatch_refusal,
)
from cudarun.arguments.scalars import CompiledConstant, Scalar, constant_remarks
from cudarun.arguments.scope import Scope
from cudarun.arguments.types import TENSOR_MAP, Type, lay_out
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass, replace
from cudarun.images.parameters import Parameter
from cudarun.model.launch import LayoutRow


@dataclass(frozen=True)
class Binding:
    """A launch's arguments in the layout of the kernel's parameters."""

    slots: tuple[packing.ParameterSlot, ...]  # one slot for each parameter, in order
    # The layout table: a row for each parameter, and below it for each member.
    rows: tuple[LayoutRow, ...]
    # Notes for the user: on element types and on parameters without names.
    warnings: tuple[str, ...] = ()
    others: tuple[packing.BufferSpec, ...] = ()  # the buffers that are not arguments
    scope: Scope = field(default_factory=Scope)  # the names of earlier steps
    # The arguments' values as given, in the order of the slots.
    given: tuple[values.Value, ...] = ()
    constants: tuple[CompiledConstant, ...] = ()  # the values that are compiled into the kernel

    @cached_property
    def buffers(self) -> tuple[packing.BufferSpec, ...]:
        """Every buffer to allocate: those of arguments in their order, then the others."""
        return all_buffers(self.slots, self.others)

    @cached_property
    def variables(self) -> tuple[packing.VariableElement, ...]:
        """The places in variables of the image whose addresses are needed, each once."""
        pointees = all_pointees(self.slots, self.buffers)
        found = (each for each in pointees if isinstance(each, packing.VariableElement))
        return tuple(dict.fromkeys(found))

    @cached_property
    def objects(self) -> tuple[packing.ObjectSpec, ...]:
        """The texture and surface objects to create."""
        pointees = all_pointees(self.slots, self.buffers)
        return tuple(each for each in pointees if isinstance(each, packing.ObjectSpec))

    @cached_property
    def integers(self) -> Mapping[str, int]:
        """The integer arguments and constants by name, those of earlier steps included."""
        own = ((slot.name, slot.value) for slot in self.slots)
        return _integers(self.scope, self.constants, own)

    @cached_property
    def following(self) -> Scope:
        """The names that the next step of a program may use."""
        parts = [
            (slot.name, given, slot.value)
            for slot, given in zip(self.slots, self.given, strict=True)
        ]
        return self.scope.including(self.buffers, parts, self.objects)

    @cached_property
    def scalars(self) -> Mapping[str, Any]:
        """The arguments passed by value, by name, as expressions see them.

        Scalars are numpy scalars, vectors and arrays are arrays, structs are structured scalars
        without their pointers; their members are included, ``s.n``. Raw bytes and addresses are
        not.
        """
        from cudarun.arguments.dtypes import by_value

        found: dict[str, Any] = {}
        for each in self.constants:
            found[each.name] = by_value(each.value.type, packing.element_bytes(each.value))
        for slot in self.slots:
            if isinstance(slot.value, values.Element | FilledArray):
                data = by_value(slot.value.type, slot.data)
                found.update(_with_members(slot.name, slot.value, data))
        return found

    @property
    def size(self) -> int:
        """The size of the parameter buffer in bytes, up to the end of the last parameter."""
        return max((s.parameter.offset + s.parameter.size for s in self.slots), default=0)

    def pack(
        self,
        addresses: Mapping[str, int],
        handles: packing.Handles,
        encode: packing.EncodeTensorMap | None = None,
    ) -> bytes:
        """Return the whole parameter buffer; arguments and errors as of `write_addresses`."""
        data = bytearray(self.size)
        pointers: list[tuple[int, packing.Pointee]] = []
        for slot in self.slots:
            start = slot.parameter.offset
            data[start : start + len(slot.data)] = slot.data
            pointers += ((start + offset, pointee) for offset, pointee in slot.pointers)
        packing.write_addresses(data, tuple(pointers), addresses, handles, encode)
        return bytes(data)


def bind(
    arguments: Sequence[values.Argument],
    parameters: Sequence[Parameter] | None,
    *,
    kernel: str,
    directory: Path = Path(),
    allow_type_mismatch: bool = False,
    suggest: Suggest | None = None,
    others: Sequence[values.Argument] = (),
    symbols: Callable[[], Collection[str]] = tuple,
    scope: Scope | None = None,
    parameter_names: Sequence[str] = (),
    constants: Sequence[CompiledConstant] = (),
) -> Binding:
    """Bind arguments to a kernel's parameters, by name where the names are known, else in order.

    Args:
        parameters: The kernel's parameters. With ``None`` neither driver nor image knows them; the
            arguments are then laid out by the alignment of their own types.
        kernel: The kernel's name in messages.
        directory: The base of relative paths.
        allow_type_mismatch: Accept buffers whose elements do not match the C++ pointee type.
        suggest: Returns a command with all arguments, for the hint if any are missing.
        others: Buffers that are not arguments.
        symbols: Returns the names of the image's variables; only called for addresses.
        parameter_names: The names of the parameters, if they are known from elsewhere.
        constants: Values that are compiled into the kernel, for dimensions and expressions.

    Raises:
        RequestError: The arguments do not match (the message shows both lists), a dimension or a
            file cannot be resolved, or two names are the same.
    """
    scope = scope or Scope()
    arguments = numba_parameters(arguments, directory)
    if parameters is None:
        types: list[Type] = []
        for each in filter(None, with_numbers(arguments, (), scope, constants)):
            if not values.has_type(each.value):
                raise RequestError(
                    f"{kernel}: the parameter types of this kernel are unknown, so {each} "
                    f"requires a type, such as i32:{each.value}",
                    argument=each.shown,
                )
            types.append(values.value_type(each.value))
        places = zip(types, lay_out(types).offsets, strict=True)
        parameters = [
            Parameter(index, offset, type_.size, type_.alignment)
            for index, (type_, offset) in enumerate(places)
        ]
    if parameter_names and len(parameter_names) == len(parameters):
        named = zip(parameters, parameter_names, strict=True)
        parameters = [replace(parameter, name=name) for parameter, name in named]
    order = in_order(arguments, parameters, kernel)
    order = with_numbers(order, parameters, scope, constants)
    fitted = fit_all(order, parameters, kernel, suggest)
    arguments = [argument for argument in order if argument is not None]
    names = argument_names(arguments, parameters)
    integers = _integers(scope, constants, zip(names, fitted, strict=True))
    resolver = BufferResolver(integers, directory)
    slots: list[packing.ParameterSlot] = []
    rows: list[list[LayoutRow]] = []
    end = 0
    for argument, name, value, parameter in zip(arguments, names, fitted, parameters, strict=True):
        try:
            packed = packing.pack(value, name, partial(resolver.resolve, argument))
        except RequestError as error:
            raise error.at(argument=argument.shown, kernel=kernel) from None
        slots.append(packing.ParameterSlot(name, parameter, value, packed.data, packed.pointers))
        start = parameter.offset
        whole, *members = (replace(row, offset=row.offset + start) for row in packed.rows)
        rows.append([replace(whole, padding_before=start - end), *members])
        end = start + parameter.size
    further: list[packing.BufferSpec] = []
    for other in others:
        name = other.name or ""
        if name in names or any(spec.name == name for spec in further):
            raise RequestError(f"the name '{name}' is already in use", option="--buffer")
        assert isinstance(other.value, values.Buffer | values.FileBuffer), (
            "the parser refuses other values"
        )
        try:
            further.append(resolver.buffer(other, other.value, name))
        except RequestError as error:
            raise error.of(option="--buffer").at(argument=other.text) from None
    slots, further = located(slots, further, integers, symbols, scope)
    warnings = [
        *order_remarks(arguments, parameters),
        *member_remarks(arguments, parameters),
        *constant_remarks(constants),
    ]
    refused: list[ElementMismatch] = []
    for mismatch in element_mismatches(arguments, slots, scope.buffers):
        if mismatch.agreement is Agreement.SIGNEDNESS or allow_type_mismatch:
            warnings.append(str(mismatch))
        else:
            refused.append(mismatch)
    if refused:
        raise mismatch_refusal(refused, kernel, directory)
    resolved = [
        row for slot, each in zip(slots, rows, strict=True) for row in _resolved(each, slot)
    ]
    binding = Binding(
        slots=tuple(slots),
        rows=tuple(resolved),
        warnings=tuple(warnings),
        others=tuple(further),
        scope=scope,
        given=tuple(argument.value for argument in arguments),
        constants=tuple(constants),
    )
    for spec in binding.buffers:
        if spec.name in scope.buffers:
            raise RequestError(
                f"an earlier step has a buffer '{spec.name}', too",
                hint=f"pass that buffer by its name ({spec.name}), or name the new one: "
                f"NAME={spec}",
            )
    return binding


def _resolved(rows: Sequence[LayoutRow], slot: packing.ParameterSlot) -> Iterator[LayoutRow]:
    """Yield the layout rows with the facts of tensor maps, which need all buffers."""
    if isinstance(slot.value, values.TensorExtent):
        yield replace(rows[0], value=str(int.from_bytes(slot.data, "little")))
        return
    maps = {
        slot.parameter.offset + offset: spec
        for offset, spec in slot.pointers
        if isinstance(spec, packing.TensorMapSpec)
    }
    for row in rows:
        spec = maps.get(row.offset) if row.type == TENSOR_MAP.name else None
        if spec is None:
            yield row
            continue
        tensor, facts = spec.tensor, str(spec.layout)
        if isinstance(tensor, packing.BufferSpec):
            name, facts = tensor.text, facts.removeprefix(f"{tensor}, ")
        else:
            assert isinstance(tensor, packing.BufferElement), "the names of buffers are resolved"
            name = f"{tensor.name}{f' + {tensor.offset} B' if tensor.offset else ''}"
        yield replace(row, value=f"tensormap({name}, {facts})")


def _with_members(name: str, value: values.Value, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value by its name, and the members of a struct by theirs."""
    yield name, data
    if isinstance(value, values.StructValue):
        fields = value.type.member_names
        for index, (member, field) in enumerate(zip(value.members, fields, strict=True)):
            if isinstance(member.value, values.Element | FilledArray) and field in data.dtype.names:
                label = f"{name}.{member.name or index}"
                yield from _with_members(label, member.value, data[field])


def _integers(
    scope: Scope, constants: Sequence[CompiledConstant], named: Iterable[tuple[str, values.Value]]
) -> dict[str, int]:
    own = [*((each.name, each.value) for each in constants), *with_members(named)]
    return dict(scope.integers) | {
        name: int(value.value)
        for name, value in own
        if isinstance(value, Scalar) and value.type.is_integer
    }
