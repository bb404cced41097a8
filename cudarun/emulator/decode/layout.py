"""Variables and their initial bytes (PTX manual 5.4)."""

from __future__ import annotations

import struct

from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.program import Relocation, VariableCode
from cudarun.ptx import tree
from cudarun.ptx.layout import alignment_of, size_of


def variable_code(variable: tree.Variable) -> VariableCode:
    """Return a module-scope ``.global`` or ``.const`` variable with its initial bytes."""
    width = tree.TYPE_BYTES[variable.type]
    given = variable.initial or ()
    data = bytearray(width * len(given))
    relocations = []
    for index, value in enumerate(given):
        offset = index * width
        if isinstance(value, tree.SymbolValue):
            relocations.append(Relocation(offset, value.name, value.offset, width, value.mask))
        else:
            data[offset : offset + width] = constant_bytes(value, variable.type)
    return VariableCode(
        name=variable.name,
        space=variable.space,
        size=size_of(variable),
        alignment=alignment_of(variable),
        managed="managed" in variable.attributes,
        initial=bytes(data),
        relocations=tuple(relocations),
        linkage=variable.linkage,
    )


def constant_bytes(value: tree.Integer | tree.Float, type_name: str) -> bytes:
    """Return the bytes in memory of a constant as a value of the type."""
    ptx_type = TYPES[type_name]
    return constant_bits(value, type_name).to_bytes(ptx_type.bytes, "little")


def constant_bits(value: tree.Integer | tree.Float, type_name: str) -> int:
    """Return the bits of a constant as a value of the type; integers wrap."""
    ptx_type = TYPES[type_name]
    is_float, mask = ptx_type.name in ("f32", "f64"), (1 << ptx_type.bits) - 1
    if isinstance(value, tree.Integer):
        if not is_float:
            return value.value & mask
        number = float(value.value)
    elif value.width == ptx_type.bits or not is_float:
        return value.bits & mask
    else:
        data = value.bits.to_bytes(value.width // 8, "little")
        (number,) = struct.unpack("<d" if value.width == 64 else "<f", data)
    packed = _single(number) if ptx_type.bits == 32 else struct.pack("<d", number)
    return int.from_bytes(packed, "little")


def _single(number: float) -> bytes:
    try:
        return struct.pack("<f", number)
    except OverflowError:  # beyond the largest f32: rounds to infinity
        return struct.pack("<f", float("inf") if number > 0 else float("-inf"))
