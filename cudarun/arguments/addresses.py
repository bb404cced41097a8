"""Addresses in arguments, resolved: ``&a[128]`` to a place in a buffer or in a variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from cudarun.arguments.dimensions import evaluate_index
from cudarun.arguments.object_resolution import ObjectLocator
from cudarun.arguments.packing import (
    ArraySpec,
    BufferElement,
    BufferSpec,
    ObjectSpec,
    Pointee,
    Pointers,
    VariableElement,
)
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.scope import Scope
from cudarun.arguments.slots import ParameterSlot
from cudarun.arguments.values import AddressOf
from cudarun.errors import RequestError

Spec = TypeVar("Spec", bound=BufferSpec)


def buffers_in(pointers: Pointers) -> Iterator[BufferSpec]:
    """Yield the buffers that addresses point to, and those that these point to.

    Those of a texture or surface are the levels of its array.
    """
    for _, pointee in pointers:
        if isinstance(pointee, ObjectSpec) and pointee.owns:
            yield from pointee.levels
        if isinstance(pointee, BufferSpec):
            yield pointee
            yield from buffers_in(pointee.pointers)


def located(
    slots: Sequence[ParameterSlot],
    others: Sequence[BufferSpec],
    integers: Mapping[str, int],
    symbols: Callable[[], Collection[str]],
    earlier: Scope,
) -> tuple[list[ParameterSlot], list[BufferSpec]]:
    """Resolve the addresses in arguments and in the contents of buffers.

    Args:
        slots: The arguments.
        others: The buffers that are not arguments.
        integers: The integer arguments by name, for indices.
        symbols: Returns the names of the image's variables; only called for addresses.
        earlier: The buffers and objects of earlier steps.

    Raises:
        RequestError: An index is out of bounds, or a name is both a buffer and a variable.
    """
    buffers = [each for slot in slots for each in buffers_in(slot.pointers)]
    for spec in others:
        buffers += [spec, *buffers_in(spec.pointers)]
    everything = [slot.pointers for slot in slots] + [spec.pointers for spec in buffers]
    pointees = (each for pointers in everything for _, each in pointers)
    objects = [each for each in pointees if isinstance(each, ObjectSpec)]
    locator = Locator(
        [*earlier.buffers.values(), *buffers], integers, symbols, [*earlier.objects, *objects]
    )
    return (
        [replace(slot, pointers=locator.pointers(slot.pointers)) for slot in slots],
        [locator.buffer(spec) for spec in others],
    )


class Locator:
    """A resolver of addresses.

    Args:
        buffers: All buffers.
        integers: The integer arguments by name, for indices.
        symbols: Returns the names of the image's variables; only called for addresses.
        objects: All texture and surface objects.
    """

    def __init__(
        self,
        buffers: Iterable[BufferSpec],
        integers: Mapping[str, int],
        symbols: Callable[[], Collection[str]],
        objects: Iterable[ObjectSpec] = (),
    ) -> None:
        self._buffers = {spec.name: spec for spec in buffers}
        self._objects = ObjectLocator([*objects], self._buffers)
        self._integers = integers
        self._symbols = symbols

    def buffer(self, spec: Spec) -> Spec:
        """Return a buffer or a variable with resolved addresses in its contents."""
        return replace(spec, pointers=self.pointers(spec.pointers)) if spec.pointers else spec

    def pointers(self, pointers: Pointers) -> Pointers:
        """Return addresses resolved."""
        return tuple((offset, self._pointee(each)) for offset, each in pointers)

    def _pointee(self, pointee: Pointee) -> Pointee:
        match pointee:
            case BufferSpec():
                return self.buffer(pointee)
            case AddressOf():
                return self._place(pointee)
            case ObjectSpec():
                return self._objects.located(pointee)
            case _:
                return pointee

    def _place(self, address: AddressOf) -> BufferElement | VariableElement:
        index = 0 if address.index is None else evaluate_index(address.index, self._integers)
        spec = self._buffers.get(address.name)
        symbols = self._symbols()
        if spec is None:
            if symbols and address.name not in symbols and self._buffers:
                hint = did_you_mean(address.name, [*self._buffers, *symbols])
                raise RequestError(f"{address}: no buffer or variable has this name", hint=hint)
            return VariableElement(address.name, index)
        if address.name in symbols:
            raise RequestError(
                f"{address}: '{address.name}' is both a buffer and a variable of the image",
                hint="rename the buffer",
            )
        if isinstance(spec, ArraySpec):
            raise RequestError(
                f"{address}: {address.name} is an array, which has no address",
                hint=f"pass its texture or surface: texture({address.name})",
            )
        count = math.prod(spec.shape)
        if not 0 <= index <= count:  # the end is a valid address, too
            raise RequestError(
                f"{address} is out of bounds: {address.name} has {count} "
                f"element{'s' * (count != 1)}"
            )
        return BufferElement(address.name, index * spec.type.size)
