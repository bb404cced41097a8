"""Texture coordinates and address modes: programming guide, appendix "Texture Fetching".

Undocumented details follow an H200 (``tests/golden``): a normalized coordinate is truncated to 21
bits of fraction, in the largest textures to 22.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from cudarun.emulator.machine.textures.filters import STEPS
from cudarun.emulator.numerics.arrays import Array

_LARGE = 1 << 15  # texels
_FARTHEST = float(1 << 30)  # beyond the ends of every texture


class AddressMode(IntEnum):
    """The handling of coordinates out of range: ``CUaddress_mode``."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


def scaled(
    coordinate: Array, size: int, mode: AddressMode, *, normalized: bool
) -> tuple[Array, Array]:
    """Return a coordinate in texels, and where a mirror shows the texels in reverse order."""
    coordinate = np.nan_to_num(coordinate, nan=0.0, posinf=np.inf, neginf=-np.inf)
    reverse = np.zeros(len(coordinate), dtype=np.bool_)
    if normalized:
        coordinate = np.clip(coordinate, -_FARTHEST, _FARTHEST)
        if mode in (AddressMode.WRAP, AddressMode.MIRROR):
            floor = np.floor(coordinate)
            coordinate = coordinate - floor
            if mode is AddressMode.MIRROR:
                reverse = floor % 2 == 1
        coordinate = in_texels(coordinate, size)
    return np.clip(coordinate, -_FARTHEST, _FARTHEST), reverse


def in_texels(coordinate: Array, size: int) -> Array:
    """Return a normalized coordinate in texels."""
    parts = float(1 << (22 if size > _LARGE else 21))
    return np.floor(coordinate * parts) / parts * size


def steps_from_middle(place: Array) -> Array:
    """Return the nearest step from the middle of texel 0 to a place; ties round up."""
    return np.floor(place * STEPS - STEPS / 2 + 0.5).astype(np.int64)


def fraction(steps: Array, size: int, mode: AddressMode) -> Array:
    """Return the steps from a texel towards the next; none where a mode clamps them to one."""
    if mode is not AddressMode.CLAMP:
        return steps % STEPS
    inside = (steps >= 0) & (steps <= (size - 1) * STEPS)
    return np.where(inside, steps % STEPS, 0)


def in_range(
    place: Array, size: int, mode: AddressMode, reverse: Array | None
) -> tuple[Array, Array]:
    """Return the texel of an axis at integer places, and where there is the border instead."""
    outside = np.zeros(len(place), dtype=np.bool_)
    if mode is AddressMode.BORDER:
        outside = (place < 0) | (place >= size)
    elif mode is AddressMode.WRAP:  # the last texel's neighbor is the first
        place = place % size
    elif mode is AddressMode.MIRROR:
        place = np.minimum(place % (2 * size), (-1 - place) % (2 * size))
    place = np.clip(place, 0, size - 1)
    return place if reverse is None else np.where(reverse, size - 1 - place, place), outside
