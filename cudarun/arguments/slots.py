"""The parameters of a launch with their arguments' bytes."""

from __future__ import annotations

from collections.abc import Mapping

from cudarun.arguments.packing import Pointee
from cudarun.arguments.types import (
    POINTER_SIZE,
)
from cudarun.arguments.values import (
    SymbolAddress,
    Value,
)
from cudarun.parameters import Parameter
from cudarun.records import dataclass


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
