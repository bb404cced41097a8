"""The parameters of a launch with their arguments' bytes."""

from __future__ import annotations

from collections.abc import Mapping

from cudarun.arguments.packing import EncodeTensorMap, Handles, Pointers, write_addresses
from cudarun.arguments.values import Value
from cudarun.base.records import dataclass
from cudarun.images.parameters import Parameter


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
    pointers: Pointers

    def pack(
        self,
        addresses: Mapping[str, int],
        handles: Handles,
        encode: EncodeTensorMap | None = None,
    ) -> bytes:
        """Return the parameter's bytes with all addresses; see :meth:`Binding.pack`."""
        data = bytearray(self.data)
        write_addresses(data, self.pointers, addresses, handles, encode)
        return bytes(data)
