"""Fills of pitched rows: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from functools import partial

import numpy as np

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.memory import check_alignment, device_bytes, fill_operation
from cudarun.emulator.host.addresses import Bytes
from cudarun.emulator.host.allocations import fill
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal


def _extent(pitch: int, width: int, height: int) -> int:
    """Return the number of bytes from the first of a rectangle to its last."""
    return (height - 1) * pitch + width if width and height else 0


def _rows(view: Bytes, pitch: int, width: int, height: int) -> Bytes:
    return np.lib.stride_tricks.as_strided(view, (height, width), (pitch, 1))


def _check(pointer: Handle, pitch: int, items: int, rows: int, width: int) -> None:
    check_alignment(pointer, width)
    if rows > 1 and (pitch < items * width or pitch % width):
        raise Refusal(
            "INVALID_VALUE", f"invalid pitch: {pitch} bytes for rows of {items * width} bytes"
        )
    device_bytes(pointer, _extent(pitch, items * width, rows))


def fill_rows(pointer: Handle, pitch: int, value: int, items: int, rows: int, width: int) -> None:
    """Fill ``rows`` rows of ``items`` items of ``width`` bytes.

    Raises:
        Refusal: The address, the pitch or the extent is invalid.
    """
    _check(pointer, pitch, items, rows, width)
    size = _extent(pitch, items * width, rows)
    view = device_bytes(handle_value(pointer), size, to_write=True)
    for row in _rows(view, pitch, items * width, rows):
        fill(row, value, width)


def _fill_in_stream(
    pointer: Handle, pitch: int, value: int, items: int, rows: int, width: int, stream: Handle
) -> None:
    fill = fill_rows_operation(pointer, pitch, value, items, rows, width)
    process.submit(process.stream(stream), fill)


def fill_rows_operation(
    pointer: Handle, pitch: int, value: int, items: int, rows: int, width: int
) -> Operation:
    """Return the operation that fills rows.

    Raises:
        Refusal: The address, the pitch or the extent is invalid.
    """
    _check(pointer, pitch, items, rows, width)
    return fill_operation(partial(fill_rows, pointer, pitch, value, items, rows, width))


@call(waits=True)
def cuMemsetD2D8(dstDevice: Handle, dstPitch: int, uc: int, Width: int, Height: int) -> None:
    """Set ``Height`` rows of ``Width`` bytes."""
    process.current()
    fill_rows(dstDevice, dstPitch, uc, Width, Height, 1)


@call(waits=True)
def cuMemsetD2D16(dstDevice: Handle, dstPitch: int, us: int, Width: int, Height: int) -> None:
    """Set ``Height`` rows of ``Width`` items of 2 bytes."""
    process.current()
    fill_rows(dstDevice, dstPitch, us, Width, Height, 2)


@call(waits=True)
def cuMemsetD2D32(dstDevice: Handle, dstPitch: int, ui: int, Width: int, Height: int) -> None:
    """Set ``Height`` rows of ``Width`` items of 4 bytes."""
    process.current()
    fill_rows(dstDevice, dstPitch, ui, Width, Height, 4)


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
