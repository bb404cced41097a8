"""The tensor entries of a launch: what compiled code has to know of the tensor maps it uses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.spaces import Region, Section
from cudarun.emulator.machine.tensor_maps.boxes import CHUNK, inner_box, is_inside, swizzled_bits
from cudarun.emulator.machine.tensor_maps.copies import TensorLoad, TensorStore
from cudarun.emulator.machine.tensor_maps.tensor_map import BYTES, TensorMap, decode
from cudarun.emulator.numerics.arrays import Array, Arrays

_BYTE = np.dtype(np.uint8)
_LINE = 128  # bytes of shared memory in which a swizzle moves chunks


class TensorEntries:
    """The tensor entries of a launch."""

    def __init__(self, count: int, observe: Callable[[Region, int, Region, int], int]) -> None:
        # Called with the places of a map and of its first element; returns the shadow of this one.
        self._observe = observe
        self.memory = np.zeros((max(count, 1), layout.TENSOR_BYTES // 8), dtype=np.uint64)
        self.memory[:, layout.TENSOR_MAP_ADDRESS // 8] = layout.NO_ADDRESS
        self._entered: dict[int, tuple[object, Array]] = {}  # by number, with the offsets

    def enter(self, number: int, operation: Action, active: Active, sources: Arrays) -> bool:
        """Enter the tensor map that a lane uses; return whether that has changed the entry.

        Nothing is entered if compiled code cannot copy boxes of the tensor.
        """
        copy = operation.action
        assert isinstance(copy, TensorLoad | TensorStore)
        if active.count > 1:
            return False
        address = int(sources[1 if isinstance(copy, TensorLoad) else 0][0])
        own = copy.accesses[0].region(active, address)
        data = _bytes_at(own, address, BYTES)
        tensor = None if data is None else decode(data.tobytes())
        if own is None or data is None or tensor is None or not _is_simple(tensor, copy.rank):
            return False
        region = copy.accesses[2].region(active, tensor.address)
        elements = _bytes_at(region, tensor.address, _size(tensor))
        if region is None or elements is None:
            return False
        known = address, data.tobytes(), elements.ctypes.data
        if number in self._entered and self._entered[number][0] == known:
            return False
        box = inner_box(tensor)
        offsets = np.concatenate([box.addresses - np.uint64(tensor.address), box.offsets])
        self._entered[number] = known, offsets
        unwritten = region.unwritten
        ahead = tensor.address - region.base
        span = int(box.offsets.max()) + CHUNK
        entry = self.memory[number]
        for place, values in (
            (layout.TENSOR_MAP, data.view(np.uint64)),
            (layout.TENSOR_MAP_ADDRESS, address),
            (layout.TENSOR_MAP_HOST, data.ctypes.data),
            (layout.TENSOR_HOST, elements.ctypes.data),
            (layout.TENSOR_UNWRITTEN, 0 if unwritten is None else unwritten.ctypes.data + ahead),
            (layout.TENSOR_CHUNKS, len(box.counts)),
            (layout.TENSOR_OFFSETS, offsets.ctypes.data),
            (layout.TENSOR_SPAN, -(-span // _LINE) * _LINE if tensor.swizzle else span),
            (layout.TENSOR_SWIZZLE, swizzled_bits(tensor)),
            (layout.TENSOR_LIMITS, np.subtract(tensor.dims, tensor.box)),
            (layout.TENSOR_SHADOW, self._observe(own, address - own.base, region, ahead)),
            (layout.TENSOR_STEPS, (tensor.element_bytes, *tensor.strides)),
        ):
            row = np.atleast_1d(values)
            entry[place // 8 : place // 8 + len(row)] = row
        return True


def _is_simple(tensor: TensorMap, rank: int) -> bool:
    """Return whether boxes in a tensor are whole chunks that are copied as they are."""
    return (
        (tensor.rank, tensor.im2col, tensor.tf32) == (rank, False, False)
        and tensor.group == 1
        and not tensor.atomicity
        and tensor.address % CHUNK == 0
        and is_inside(tensor, (0,) * rank)
    )


def _size(tensor: TensorMap) -> int:
    """Return the bytes from the first element of a tensor to the end of the last one."""
    sizes = (tensor.element_bytes, *tensor.strides)
    return sizes[0] + sum((dim - 1) * size for dim, size in zip(tensor.dims, sizes, strict=True))


def _bytes_at(region: Region | None, address: int, size: int) -> Array | None:
    """Return bytes of memory that all lanes share; nothing if a region does not have them."""
    if region is None or (isinstance(region, Section) and region.starts is not None):
        return None
    first = address - region.base
    return None if first + size > region.size else region.view(_BYTE)[first : first + size]
