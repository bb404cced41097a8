"""The chunks of 16 bytes that a copy of tensor memory access moves (PTX manual 5.5).

A copy is a list of chunks, each with its place in global memory, its place in shared memory, and
its number of elements, as the tensor may end in the middle of one. The manual describes the modes;
the layout of interleaved tensors and of rows that are shorter than the swizzle was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.tensor_maps.tensor_map import TensorMap
from cudarun.emulator.numerics.arrays import Array

CHUNK = 16
_BOXES_KEPT = 64
_WITH_HALVES = 2  # an atomicity
SPANS = (0, 32, 64, 128, 96)
"""Bytes of shared memory from one row to the next, by the swizzle; without one, those of a row."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of one copy, in the order of shared memory before it is swizzled."""

    addresses: Array  # their global addresses
    counts: Array  # the number of elements in the tensor, from the first one on; 0 for none
    offsets: Array  # their offsets in shared memory


def chunks(tensor: TensorMap, coordinates: Sequence[int], offsets: Sequence[int]) -> Chunks:
    """Return the chunks of a box at some coordinates; of im2col, also with offsets."""
    if is_inside(tensor, coordinates):
        first = inner_box(tensor)
        steps = tensor.global_bytes, *tensor.strides
        moved = sum(at * step for at, step in zip(coordinates, steps, strict=True))
        return replace(first, addresses=first.addresses + np.uint64(moved))
    return _chunks(tensor, coordinates, offsets)


def four_rows(tensor: TensorMap, coordinates: Sequence[int]) -> Chunks:
    """Return the chunks of four rows of a tensor of two dimensions: a column, and their numbers."""
    first, *rows = coordinates
    parts = [chunks(tensor, (first, row), ()) for row in rows]
    pitch = SPANS[tensor.swizzle] or len(parts[0].counts) * CHUNK
    return Chunks(
        np.concatenate([part.addresses for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.offsets + np.uint64(pitch * n) for n, part in enumerate(parts)]),
    )


def is_inside(tensor: TensorMap, coordinates: Sequence[int]) -> bool:
    """Return whether a box of tiles without interleaving consists of whole chunks."""
    return (
        not tensor.im2col
        and not tensor.interleave
        and tensor.box[0] * tensor.element_bytes % CHUNK == 0
        and all(
            0 <= at <= size - side
            for at, size, side in zip(coordinates, tensor.dims, tensor.box, strict=True)
        )
    )


@lru_cache(maxsize=_BOXES_KEPT)
def inner_box(tensor: TensorMap) -> Chunks:
    """Return the chunks of a box that is inside of the tensor, at coordinates of 0."""
    return _chunks(tensor, (0,) * tensor.rank, ())


def _chunks(tensor: TensorMap, coordinates: Sequence[int], offsets: Sequence[int]) -> Chunks:
    if tensor.im2col:
        outer, inside = _pixels(tensor, coordinates, offsets)
    else:
        outer, inside = _rows(tensor, coordinates)
    if tensor.im2col and tensor.interleave:
        starts = np.arange(tensor.interleave, dtype=np.int64) * CHUNK
        counts = np.full(len(starts), CHUNK // tensor.element_bytes)
    elif tensor.interleave:
        starts, counts = _slices(tensor, coordinates[0])
    else:
        starts, counts = _row(tensor, coordinates[0])
    addresses = (outer[:, None] + (starts + tensor.address)).ravel()
    sizes = np.where(inside[:, None], counts, 0).ravel()
    width = len(starts) * CHUNK
    pitch = width if tensor.interleave else SPANS[tensor.swizzle] or width
    places = np.arange(len(outer))[:, None] * pitch + np.arange(0, width, CHUNK)
    return Chunks(addresses.view(np.uint64), sizes, places.ravel().astype(np.uint64))


def _row(tensor: TensorMap, first: int) -> tuple[Array, Array]:
    """Return the global offsets of the chunks of a row, and their elements in the tensor."""
    unit = CHUNK // tensor.element_bytes
    at = first + np.arange(0, tensor.box[0], unit, dtype=np.int64)
    counts = np.clip(tensor.dims[0] - at, 0, unit)
    counts[at < 0] = 0
    return at * tensor.global_bytes, counts


def _slices(tensor: TensorMap, first: int) -> tuple[Array, Array]:
    """Return the same of an interleaved tensor, whose first dimension has slices of channels."""
    at = first + np.arange(0, tensor.box[0], tensor.steps[0], dtype=np.int64)
    count = tensor.interleave  # chunks of a slice
    starts = at[:, None] * (count * CHUNK) + np.arange(count) * CHUNK
    here = (at >= 0) & (at < tensor.dims[0])
    counts = np.where(here, CHUNK // tensor.element_bytes, 0)
    return starts.ravel(), np.repeat(counts, count)


def _rows(tensor: TensorMap, coordinates: Sequence[int]) -> tuple[Array, Array]:
    """Return the global offsets of the rows of a box, and whether they are in the tensor.

    Of the slices of an interleaved tensor, the last but one dimension, a box has one.
    """
    found = np.zeros(1, dtype=np.int64)
    inside = np.ones(1, dtype=np.bool_)
    for place in range(1, tensor.rank):
        side = 1 if tensor.interleave and place == tensor.rank - 2 else tensor.box[place]
        at = coordinates[place] + np.arange(0, side, tensor.steps[place], dtype=np.int64)
        here = (at >= 0) & (at < tensor.dims[place])
        found = (at[:, None] * tensor.strides[place - 1] + found).ravel()
        inside = (here[:, None] & inside).ravel()
    return found, inside


def _pixels(
    tensor: TensorMap, coordinates: Sequence[int], offsets: Sequence[int]
) -> tuple[Array, Array]:
    """Return the global offsets of pixels, and whether they are in the tensor.

    The pixels follow each other in the bounding box, in steps; after its end comes its beginning
    in the next image.
    """
    spatial = _spatial(tensor)
    at = np.array(coordinates, dtype=np.int64)
    places = np.zeros((tensor.pixels, tensor.rank), dtype=np.int64)
    box = bounding_box(tensor)
    for pixel in range(tensor.pixels):
        places[pixel] = at
        for place, (low, end) in zip(spatial, box, strict=True):
            at[place] += tensor.steps[place]
            if at[place] < end:
                break
            at[place] = low
        else:
            at[-1] += 1
    for place, offset in zip(spatial, offsets, strict=False):
        places[:, place] += offset
    first = 0 if tensor.interleave else 1  # in which dimension the pixels are
    strides = (tensor.interleave * CHUNK, *tensor.strides)
    within = (places >= 0) & (places < np.array(tensor.dims))
    inside: Array = np.all(within[:, first:], axis=1)
    return places[:, first:] @ np.array(strides[first:], dtype=np.int64), inside


def _spatial(tensor: TensorMap) -> range:
    """Return the dimensions of pixels: after the channels, or before their slices."""
    first = 0 if tensor.interleave else 1
    return range(first, first + tensor.rank - 2)


def bounding_box(tensor: TensorMap) -> list[tuple[int, int]]:
    """Return the first coordinate and the end of the box of pixels in each of its dimensions."""
    sizes = (tensor.dims[place] for place in _spatial(tensor))
    corners = zip(sizes, tensor.lower, tensor.upper, strict=True)
    return [(low, size + high) for size, low, high in corners]


def outside(tensor: TensorMap, coordinates: Sequence[int]) -> bool:
    """Return whether pixels would start outside of the bounding box, which hardware refuses."""
    starts = (coordinates[place] for place in _spatial(tensor))
    return any(
        not low <= start < end
        for start, (low, end) in zip(starts, bounding_box(tensor), strict=True)
    )


def swizzled_bits(tensor: TensorMap) -> int:
    """Return the bits of an address, from bit 7 on, that the swizzle adds to lower ones."""
    return (0, 1, 3, 7, 1)[tensor.swizzle] >> (0, 1, 1, 2)[tensor.atomicity]


def swizzled(addresses: Array, tensor: TensorMap) -> Array:
    """Return the addresses in shared memory at which chunks are, by those without a swizzle."""
    if not tensor.swizzle:
        return addresses
    mask = np.uint64(swizzled_bits(tensor))
    lowest = np.uint64((4, 5, 5, 6)[tensor.atomicity])
    moved: Array = addresses ^ ((addresses >> np.uint64(7) & mask) << lowest)
    return moved


def with_halves(data: Array, addresses: Array, tensor: TensorMap) -> Array:
    """Return chunks, rows of two words, with the words exchanged where the swizzle does so."""
    if tensor.atomicity != _WITH_HALVES:
        return data
    return np.where((addresses & np.uint64(128))[:, None] != 0, data[:, ::-1], data)
