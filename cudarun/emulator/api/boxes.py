"""Copies of rectangles and boxes: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from cuda.bindings.driver import CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUmemorytype

from cudarun.emulator.api.calls import call, enqueue, generated
from cudarun.emulator.api.copies import MEMORY, copy_operation, is_pageable
from cudarun.emulator.api.handles import StreamHandle, array_of
from cudarun.emulator.host.addresses import Bytes, RemoteBytes, move, strided
from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, enum_field, refuse_if
from cudarun.emulator.host.resources import copied
from cudarun.emulator.host.streams import Stream

_MEMORY = {
    CUmemorytype.CU_MEMORYTYPE_HOST: ("Host", "host"),
    CUmemorytype.CU_MEMORYTYPE_DEVICE: ("Device", "device"),
    CUmemorytype.CU_MEMORYTYPE_UNIFIED: ("Device", "memory"),
}
_WIDEST_PITCH = attribute_value("MAX_PITCH")
_SIDES = "from or to memory of the host or a device, or a CUDA array"

Structure: TypeAlias = CUDA_MEMCPY2D | CUDA_MEMCPY3D | CUDA_MEMCPY3D_PEER


# --- calls ---------------------------------------------------------------------------------------


def submit_box(given: Structure, stream: Stream) -> None:
    """Copy a rectangle or a box in a stream; `Refusal` if the structure is invalid."""
    copy = BoxCopy(given)
    sides = (copy.side(each, to_write=False) for each in ("src", "dst"))
    process.submit(stream, copy.operation(), waits=is_pageable(*sides))


_types: dict[str, object]
for _name, _type, _text in (
    ("2D", CUDA_MEMCPY2D, f"Copy a rectangle {_SIDES}"),
    ("3D", CUDA_MEMCPY3D, f"Copy a box {_SIDES}"),
    ("3DPeer", CUDA_MEMCPY3D_PEER, "Copy a box between devices"),
):
    _name, _types = f"cuMemcpy{_name}", {"pCopy": _type}
    call(waits=Wait.BLOCKING, needs_context=True)(
        generated(__name__, _name, _types, f"{_text}.", lambda given: BoxCopy(given).perform())
    )
    _name, _types = f"{_name}Async", {**_types, "hStream": StreamHandle}
    enqueue()(generated(__name__, _name, _types, f"{_text}, in a stream.", submit_box))


@call(waits=Wait.BLOCKING, needs_context=True)
def cuMemcpy2DUnaligned(pCopy: CUDA_MEMCPY2D) -> None:
    """`cuMemcpy2D` without restrictions on the pitches."""
    BoxCopy(pCopy).perform()


# --- the two sides -------------------------------------------------------------------------------


class BoxCopy:
    """A copy of a box of bytes, which a structure describes; a rectangle is a box of one slice."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        depth = 1 if isinstance(structure, CUDA_MEMCPY2D) else structure.Depth
        self._shape = depth, structure.Height, structure.WidthInBytes  # slices, rows, bytes per row

    def perform(self) -> None:
        """Copy the box now; `Refusal` if the structure is invalid."""
        source, target = self.side("src"), self.side("dst")
        if all(self._shape):
            move(target, source)

    def operation(self) -> Operation:
        """Return the operation that copies the box; `Refusal` if the structure is invalid."""
        _, target = self.side("src"), self.side("dst", to_write=False)  # may refuse
        unchanged = BoxCopy(copied(self._structure))  # whatever the program does to it
        return copy_operation(unchanged.perform, target)

    def _field(self, side: str, name: str) -> Any:
        """Return a field of one side; those of a third dimension are 0 in a rectangle."""
        if name in ("Z", "Height", "LOD") and isinstance(self._structure, CUDA_MEMCPY2D):
            return 0
        return getattr(self._structure, side + name)

    def side(self, side: str, *, to_write: bool = True) -> Bytes | RemoteBytes:
        """Return one side of the copy as an array of slices, rows and bytes."""
        kind = enum_field(self._structure, f"{side}MemoryType")
        x, y, z = (self._field(side, name) for name in ("XInBytes", "Y", "Z"))
        slices, rows, width = self._shape
        if kind == CUmemorytype.CU_MEMORYTYPE_ARRAY:
            refuse_if(self._field(side, "LOD"), f"{side}LOD must be 0")
            array = array_of(self._field(side, "Array"))
            parts = [slice(z, z + slices), slice(y, y + rows), slice(x, x + width)]
            if any(part.stop > size for part, size in zip(parts, array.size, strict=True)):
                extent = f"{slices} slices of {rows} rows of {width} bytes at x={x}, y={y}, z={z}"
                text = "{} slices of {} rows of {} bytes".format(*array.size)
                raise Refusal("INVALID_VALUE", f"{extent} exceed the array's {text}")
            return array.box((parts[0], parts[1], parts[2]), to_write=side == "dst")
        if not all(self._shape):
            return np.empty(0, np.uint8)  # numpy has no empty array with huge extents
        pitch = self._field(side, "Pitch") or x + width
        height = self._field(side, "Height") or y + rows
        if (pitch > _WIDEST_PITCH and slices * rows > 1) or pitch < x + width:
            raise Refusal("INVALID_VALUE", f"invalid {side}Pitch: {pitch} bytes")
        refuse_if(height < y + rows, f"invalid {side}Height: {height} rows")
        first = (z * height + y) * pitch + x
        size = first + ((slices - 1) * height + rows - 1) * pitch + width
        field, memory = _MEMORY[kind]
        written = to_write and side == "dst"
        view = MEMORY[memory](self._field(side, field), size, to_write=written)
        return strided(view, first, self._shape, (height * pitch, pitch, 1))
