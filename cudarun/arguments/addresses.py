"""Addresses in arguments, resolved: ``&a[128]`` to a place in a buffer or in a variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from cudarun.arguments import packing
from cudarun.arguments.buffer_resolution import with_levels
from cudarun.arguments.dimensions import evaluate_index
from cudarun.arguments.scanner import counted, did_you_mean
from cudarun.arguments.scope import Scope
from cudarun.arguments.tensor_map_layout import check_address, tensor_map_layout
from cudarun.arguments.values import AddressOf, TensorExtent
from cudarun.base.errors import RequestError
from cudarun.base.records import replace

Spec = TypeVar("Spec", bound=packing.BufferSpec)


def buffers_in(pointers: packing.Pointers) -> Iterator[packing.BufferSpec]:
    """Yield the buffers that addresses point to, and those that these point to.

    Those of a texture or surface are the levels of its array.
    """
    for _, pointee in pointers:
        if isinstance(pointee, packing.ObjectSpec) and pointee.owns:
            yield from pointee.levels
        if isinstance(pointee, packing.TensorMapSpec):
            pointee = pointee.tensor
        if isinstance(pointee, packing.BufferSpec):
            yield pointee
            yield from buffers_in(pointee.pointers)


def all_buffers(
    slots: Sequence[packing.ParameterSlot], others: Iterable[packing.BufferSpec]
) -> tuple[packing.BufferSpec, ...]:
    """Return the buffers of arguments in their order, then the others."""
    own = (each for slot in slots for each in buffers_in(slot.pointers))
    return (*own, *(each for spec in others for each in (spec, *buffers_in(spec.pointers))))


def all_pointees(
    slots: Iterable[packing.ParameterSlot], buffers: Iterable[packing.BufferSpec]
) -> Iterator[packing.Pointee]:
    """Yield what the addresses in arguments and in buffers point to."""
    everything = (each.pointers for group in (slots, buffers) for each in group)
    return (pointee for pointers in everything for _, pointee in pointers)


def located(
    slots: Sequence[packing.ParameterSlot],
    others: Sequence[packing.BufferSpec],
    integers: Mapping[str, int],
    symbols: Callable[[], Collection[str]],
    earlier: Scope,
) -> tuple[list[packing.ParameterSlot], list[packing.BufferSpec]]:
    """Resolve the addresses in arguments and in the contents of buffers.

    Args:
        integers: The integer arguments by name, for indices.
        symbols: Returns the names of the image's variables; only called for addresses.
        earlier: The buffers and objects of earlier steps.
    """
    buffers = all_buffers(slots, others)
    objects = [
        each for each in all_pointees(slots, buffers) if isinstance(each, packing.ObjectSpec)
    ]
    locator = Locator(
        [*earlier.buffers.values(), *buffers], integers, symbols, [*earlier.objects, *objects]
    )
    found: list[packing.ParameterSlot] = []
    for slot in slots:
        try:
            found.append(replace(slot, pointers=locator.pointers(slot.pointers)))
        except RequestError as error:
            raise error.at(argument=str(slot.value)) from None
    for index, slot in enumerate(found):
        value = slot.value
        if isinstance(value, TensorExtent):  # the dimension or stride of a tensor
            (_, spec), *_ = found[value.parameter].pointers
            assert isinstance(spec, packing.TensorMapSpec), "the parameter is the tensor map"
            assert spec.layout is not None, "all maps are resolved"
            layout = spec.layout
            sizes = layout.element_strides_in_memory if value.is_stride else layout.shape
            size, kind = sizes[value.axis], value.type
            if size > kind.maximum:
                raise RequestError(f"{slot.name} is {size}, more than {kind} can represent")
            data = size.to_bytes(kind.size, "little")
            found[index] = replace(slot, data=data, pointers=())
    return found, [locator.buffer(spec) for spec in others]


class Locator:
    """A resolver of addresses in all buffers and objects; the rest is as for `located`."""

    def __init__(
        self,
        buffers: Iterable[packing.BufferSpec],
        integers: Mapping[str, int],
        symbols: Callable[[], Collection[str]],
        objects: Iterable[packing.ObjectSpec] = (),
    ) -> None:
        self._buffers = {spec.name: spec for spec in buffers}
        self._owners = {each.source: each for each in objects if each.owns}
        self._integers = integers
        self._symbols = symbols

    def buffer(self, spec: Spec) -> Spec:
        """Return a buffer or a variable with resolved addresses in its contents."""
        return replace(spec, pointers=self.pointers(spec.pointers)) if spec.pointers else spec

    def pointers(self, pointers: packing.Pointers) -> packing.Pointers:
        """Return addresses resolved."""
        return tuple((offset, self._pointee(each)) for offset, each in pointers)

    def _pointee(self, pointee: packing.Pointee) -> packing.Pointee:
        match pointee:
            case packing.BufferSpec():
                return self.buffer(pointee)
            case AddressOf():
                return self._place(pointee)
            case packing.ObjectSpec():
                return with_levels(pointee, self._owners, self._buffers)
            case packing.TensorMapSpec():
                buffer, shift = pointee.tensor, 0
                if isinstance(buffer, AddressOf):
                    if buffer.name not in self._buffers:
                        hint = did_you_mean(buffer.name, self._buffers)
                        hint = (
                            hint or "the tensor is the name of a buffer, or a buffer: f16[m,k]:rand"
                        )
                        raise RequestError(f"no buffer is named '{buffer.name}'", hint=hint)
                    place = self._place(buffer)
                    assert isinstance(place, packing.BufferElement), "it is the name of a buffer"
                    buffer, shift = self._buffers[buffer.name], place.offset
                    if shift and pointee.options.shape is None:
                        raise RequestError("a tensor within a buffer requires shape=")
                    pointee = replace(pointee, tensor=place)
                assert isinstance(buffer, packing.BufferSpec), "a tensor is in a buffer"
                layout = tensor_map_layout(
                    pointee.options, buffer.type, buffer.shape, self._integers
                )
                check_address(layout, shift, buffer.nbytes, buffer.name)
                return replace(pointee, layout=layout)
            case _:
                return pointee

    def _place(self, address: AddressOf) -> packing.BufferElement | packing.VariableElement:
        index = 0 if address.index is None else evaluate_index(address.index, self._integers)
        spec = self._buffers.get(address.name)
        symbols = self._symbols()
        if spec is None:
            if symbols and address.name not in symbols and self._buffers:
                hint = did_you_mean(address.name, [*self._buffers, *symbols])
                raise RequestError(f"{address}: no buffer or variable has this name", hint=hint)
            return packing.VariableElement(address.name, index)
        if address.name in symbols:
            raise RequestError(
                f"{address}: '{address.name}' is both a buffer and a variable of the image",
                hint="rename the buffer",
            )
        if isinstance(spec, packing.ArraySpec):
            raise RequestError(
                f"{address}: {address.name} is an array, which has no address",
                hint=f"pass its texture or surface: texture({address.name})",
            )
        count = math.prod(spec.shape)
        if not 0 <= index <= count:  # the end is a valid address, too
            raise RequestError(
                f"{address} is out of bounds: {address.name} has {counted(count, 'element')}"
            )
        return packing.BufferElement(address.name, index * spec.type.size)
