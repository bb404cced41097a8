"""Copies and fills of pitched rows: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import numpy as np
from cuda.bindings.driver import CUDA_MEMCPY2D, CUmemorytype

from cudarun.bindings import enum_field
from cudarun.emulator.api.arrays import array_of
from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.memory import any_bytes, check_alignment, device_bytes, given_host_bytes
from cudarun.emulator.host.addresses import Bytes
from cudarun.emulator.host.allocations import fill
from cudarun.emulator.host.arrays import CudaArray
from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal

_WIDEST_PITCH = attribute_value("MAX_PITCH")


# --- copies --------------------------------------------------------------------------------------


@call(waits=True)
def cuMemcpy2D(pCopy: CUDA_MEMCPY2D) -> None:
    """Copy a rectangle from or to memory of the host or a device, or a CUDA array."""
    process.current()
    _copy(pCopy)


@call(waits=True)
def cuMemcpy2DUnaligned(pCopy: CUDA_MEMCPY2D) -> None:
    """`cuMemcpy2D` without restrictions on the pitches."""
    process.current()
    _copy(pCopy)


@enqueue()
def cuMemcpy2DAsync(pCopy: CUDA_MEMCPY2D, hStream: Handle) -> None:
    """Copy a rectangle, in a stream."""
    if process.ready(process.stream(hStream).context.device):
        _copy(pCopy)


def _copy(copy: CUDA_MEMCPY2D) -> None:
    if not hasattr(copy, "WidthInBytes"):
        raise Refusal("INVALID_VALUE", "CUDA_MEMCPY2D is missing")
    source, target = _side(copy, "src"), _side(copy, "dst")
    target[:] = source


def _side(copy: CUDA_MEMCPY2D, side: str) -> Bytes:
    """Return one side of a copy as an array of rows."""
    try:
        kind = enum_field(copy, f"{side}MemoryType")
    except ValueError:  # the bindings make an enum of it
        raise Refusal("INVALID_VALUE", f"{side}MemoryType is not set") from None
    x, y, pitch = (getattr(copy, f"{side}{name}") for name in ("XInBytes", "Y", "Pitch"))
    if kind == CUmemorytype.CU_MEMORYTYPE_ARRAY:
        return _in_array(array_of(getattr(copy, f"{side}Array")), x, y, copy)
    pitch = pitch or x + copy.WidthInBytes
    if pitch > _WIDEST_PITCH or pitch < x + copy.WidthInBytes:
        raise Refusal("INVALID_VALUE", f"invalid {side}Pitch: {pitch} bytes")
    size = _extent(pitch, x + copy.WidthInBytes, y + copy.Height)
    if kind == CUmemorytype.CU_MEMORYTYPE_HOST:
        view = given_host_bytes(getattr(copy, f"{side}Host"), size)
    elif kind == CUmemorytype.CU_MEMORYTYPE_DEVICE:
        view = device_bytes(getattr(copy, f"{side}Device"), size, to_write=side == "dst")
    else:  # CU_MEMORYTYPE_UNIFIED
        view = any_bytes(getattr(copy, f"{side}Device"), size, to_write=side == "dst")
    return _rows(view[y * pitch + x :], pitch, copy.WidthInBytes, copy.Height)


def _in_array(array: CudaArray, x: int, y: int, copy: CUDA_MEMCPY2D) -> Bytes:
    rows, columns = array.rows.shape
    if x + copy.WidthInBytes > columns or y + copy.Height > rows:
        extent = f"{copy.Height} rows of {copy.WidthInBytes} bytes at x={x}, y={y}"
        raise Refusal(
            "INVALID_VALUE", f"{extent} exceed the array's {rows} rows of {columns} bytes"
        )
    return array.rows[y : y + copy.Height, x : x + copy.WidthInBytes]


def _extent(pitch: int, width: int, height: int) -> int:
    """Return the number of bytes from the first of a rectangle to its last."""
    return (height - 1) * pitch + width if width and height else 0


def _rows(view: Bytes, pitch: int, width: int, height: int) -> Bytes:
    return np.lib.stride_tricks.as_strided(view, (height, width), (pitch, 1))


# --- fills ---------------------------------------------------------------------------------------


def _fill(pointer: Handle, pitch: int, value: int, items: int, rows: int, width: int) -> None:
    check_alignment(pointer, width)
    if rows > 1 and (pitch < items * width or pitch % width):
        raise Refusal(
            "INVALID_VALUE", f"invalid pitch: {pitch} bytes for rows of {items * width} bytes"
        )
    size = _extent(pitch, items * width, rows)
    view = device_bytes(handle_value(pointer), size, to_write=True)
    for row in _rows(view, pitch, items * width, rows):
        fill(row, value, width)


def _fill_in_stream(
    pointer: Handle, pitch: int, value: int, items: int, rows: int, width: int, stream: Handle
) -> None:
    if process.ready(process.stream(stream).context.device):
        _fill(pointer, pitch, value, items, rows, width)


@call(waits=True)
def cuMemsetD2D8(dstDevice: Handle, dstPitch: int, uc: int, Width: int, Height: int) -> None:
    """Set ``Height`` rows of ``Width`` bytes."""
    process.current()
    _fill(dstDevice, dstPitch, uc, Width, Height, 1)


@call(waits=True)
def cuMemsetD2D16(dstDevice: Handle, dstPitch: int, us: int, Width: int, Height: int) -> None:
    """Set ``Height`` rows of ``Width`` items of 2 bytes."""
    process.current()
    _fill(dstDevice, dstPitch, us, Width, Height, 2)


@call(waits=True)
def cuMemsetD2D32(dstDevice: Handle, dstPitch: int, ui: int, Width: int, Height: int) -> None:
    """Set ``Height`` rows of ``Width`` items of 4 bytes."""
    process.current()
    _fill(dstDevice, dstPitch, ui, Width, Height, 4)


@enqueue()
def cuMemsetD2D8Async(
    dstDevice: Handle, dstPitch: int, uc: int, Width: int, Height: int, hStream: Handle
) -> None:
    """Set ``Height`` rows of ``Width`` bytes, in a stream."""
    _fill_in_stream(dstDevice, dstPitch, uc, Width, Height, 1, hStream)


@enqueue()
def cuMemsetD2D16Async(
    dstDevice: Handle, dstPitch: int, us: int, Width: int, Height: int, hStream: Handle
) -> None:
    """Set ``Height`` rows of ``Width`` items of 2 bytes, in a stream."""
    _fill_in_stream(dstDevice, dstPitch, us, Width, Height, 2, hStream)


@enqueue()
def cuMemsetD2D32Async(
    dstDevice: Handle, dstPitch: int, ui: int, Width: int, Height: int, hStream: Handle
) -> None:
    """Set ``Height`` rows of ``Width`` items of 4 bytes, in a stream."""
    _fill_in_stream(dstDevice, dstPitch, ui, Width, Height, 4, hStream)
