"""Copies of rectangles and boxes: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from cuda.bindings.driver import CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUmemorytype

from cudarun.base.records import dataclass
from cudarun.emulator.api.calls import call, enqueue, generated
from cudarun.emulator.api.copies import MEMORY, copy_operation, is_pageable
from cudarun.emulator.api.handles import StreamHandle, array_of
from cudarun.emulator.host.addresses import Bytes, RemoteBytes, move, strided
from cudarun.emulator.host.arrays import CudaArray
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


def _copy_now(given: Structure) -> None:
    _copy(_described(given))


def submit_box(given: Structure, stream: Stream) -> None:
    """Copy a rectangle or a box in a stream; `Refusal` if the structure is invalid."""
    copy = _described(given)
    sides = (_side(copy, each, to_write=False) for each in ("src", "dst"))
    process.submit(stream, _operation(copy), waits=is_pageable(*sides))


_types: dict[str, Any]
for _name, _type, _text in (
    ("2D", CUDA_MEMCPY2D, f"Copy a rectangle {_SIDES}"),
    ("3D", CUDA_MEMCPY3D, f"Copy a box {_SIDES}"),
    ("3DPeer", CUDA_MEMCPY3D_PEER, "Copy a box between devices"),
):
    _name, _types = f"cuMemcpy{_name}", {"pCopy": _type}
    call(waits=Wait.BLOCKING, needs_context=True)(
        generated(__name__, _name, _types, f"{_text}.", _copy_now)
    )
    _name, _types = f"{_name}Async", {**_types, "hStream": StreamHandle}
    enqueue()(generated(__name__, _name, _types, f"{_text}, in a stream.", submit_box))


@call(waits=Wait.BLOCKING, needs_context=True)
def cuMemcpy2DUnaligned(pCopy: CUDA_MEMCPY2D) -> None:
    """`cuMemcpy2D` without restrictions on the pitches."""
    _copy_now(pCopy)


def box_operation(copy: CUDA_MEMCPY3D) -> Operation:
    """Return the operation that copies a box; `Refusal` if the structure is invalid."""
    return _operation(_described(copy))


def _operation(copy: _Copy) -> Operation:
    _side(copy, "src"), _side(copy, "dst", to_write=False)  # may refuse
    unchanged = replace(copy, structure=copied(copy.structure))  # whatever the program does to it
    return copy_operation(partial(_copy, unchanged))


# --- the two sides -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Copy:
    """A copy of a box of bytes; a rectangle is a box of one slice."""

    structure: Any  # the structure of the bindings
    shape: tuple[int, int, int]  # slices, rows and bytes per row
    has_slices: bool  # whether the structure has the fields of three dimensions

    def field(self, side: str, name: str) -> Any:
        """Return a field of one side; those of a third dimension are 0 in a rectangle."""
        if name in ("Z", "Height", "LOD") and not self.has_slices:
            return 0
        return getattr(self.structure, side + name)


def _described(given: Structure) -> _Copy:
    depth = 1 if isinstance(given, CUDA_MEMCPY2D) else given.Depth
    shape = depth, given.Height, given.WidthInBytes
    return _Copy(given, shape, has_slices=not isinstance(given, CUDA_MEMCPY2D))


def _copy(copy: _Copy) -> None:
    source, target = _side(copy, "src"), _side(copy, "dst")
    move(target, source)


def _side(copy: _Copy, side: str, *, to_write: bool = True) -> Bytes | RemoteBytes:
    """Return one side of a copy as an array of slices, rows and bytes."""
    kind = enum_field(copy.structure, f"{side}MemoryType")
    x, y, z = (copy.field(side, name) for name in ("XInBytes", "Y", "Z"))
    if kind == CUmemorytype.CU_MEMORYTYPE_ARRAY:
        refuse_if(copy.field(side, "LOD"), f"{side}LOD must be 0")
        array = array_of(copy.field(side, "Array"))
        return _in_array(array, x, y, z, copy, to_write=side == "dst")
    slices, rows, width = copy.shape
    if not all(copy.shape):
        return np.empty(copy.shape, np.uint8)
    pitch, height = copy.field(side, "Pitch") or x + width, copy.field(side, "Height") or y + rows
    if (pitch > _WIDEST_PITCH and slices * rows > 1) or pitch < x + width:
        raise Refusal("INVALID_VALUE", f"invalid {side}Pitch: {pitch} bytes")
    refuse_if(height < y + rows, f"invalid {side}Height: {height} rows")
    written = to_write and side == "dst"
    first = (z * height + y) * pitch + x
    size = first + _extent(copy.shape, pitch, height)
    field, memory = _MEMORY[kind]
    view = MEMORY[memory](copy.field(side, field), size, to_write=written)
    return strided(view, first, copy.shape, (height * pitch, pitch, 1))


def _in_array(array: CudaArray, x: int, y: int, z: int, copy: _Copy, *, to_write: bool) -> Bytes:
    asked = [(z, copy.shape[0]), (y, copy.shape[1]), (x, copy.shape[2])]
    if any(at + count > size for (at, count), size in zip(asked, array.size, strict=True)):
        slices, rows, width = copy.shape
        extent = f"{slices} slices of {rows} rows of {width} bytes at x={x}, y={y}, z={z}"
        text = "{} slices of {} rows of {} bytes".format(*array.size)
        raise Refusal("INVALID_VALUE", f"{extent} exceed the array's {text}")
    depth, height, length = (slice(at, at + count) for at, count in asked)
    return array.box((depth, height, length), to_write=to_write)


def _extent(shape: tuple[int, int, int], pitch: int, height: int) -> int:
    """Return the number of bytes from the first of a box to its last."""
    slices, rows, width = shape
    return ((slices - 1) * height + rows - 1) * pitch + width if all(shape) else 0
