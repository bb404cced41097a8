"""Texture coordinates, address modes, and cube maps: programming guide, "Texture Fetching".

Undocumented details follow an H200 (``tests/golden``): a normalized coordinate is truncated to 21
bits of fraction, in the largest textures to 22.

The face of a cube and the place on it belong to a direction. The faces are those of the guide: +x,
-x, +y, -y, +z, -z. Of equal magnitudes z is the major one, then y. NaN is less than all magnitudes,
and 0 as a coordinate. ptxas's code multiplies a direction by the approximate reciprocal of the
greatest magnitude first.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from cudarun.emulator.machine.textures.filters import STEPS
from cudarun.emulator.machine.textures.levels import cut
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.special_functions import reciprocal

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


Places = tuple[Array, Array, Array]

# Per face: its axis and sign, then the axis and sign of the first and the second coordinate.
_AXIS = np.array([0, 0, 1, 1, 2, 2])
_SIGN = np.array([1, -1, 1, -1, 1, -1])
_ACROSS = np.array([2, 2, 0, 0, 0, 0])
_ACROSS_SIGN = np.array([-1, 1, 1, 1, 1, -1])
_DOWN = np.array([1, 1, 2, 2, 1, 1])
_DOWN_SIGN = np.array([-1, -1, 1, -1, -1, -1])


def faced(direction: list[Array]) -> Places:
    """Return the face of directions, and the place on it, from 0 to 1 in both coordinates."""
    face, product = _projected(direction)
    vector = np.nan_to_num(product, nan=0.0, posinf=np.inf, neginf=-np.inf)
    lanes = np.arange(vector.shape[1])
    limited = np.clip(vector, -1, 1).astype(np.float64)
    across = limited[_ACROSS[face], lanes] * _ACROSS_SIGN[face]
    down = limited[_DOWN[face], lanes] * _DOWN_SIGN[face]
    return face, (across + 1) / 2, (down + 1) / 2


def _projected(direction: list[Array]) -> tuple[Array, Array]:
    """Return the face of directions, and these with 1 as their greatest magnitude."""
    given = np.stack(direction).astype(np.float32)
    with np.errstate(all="ignore"):
        greatest = np.fmax.reduce(np.abs(given))
        product = given * reciprocal(greatest.view(np.int32)).view(np.float32)
    x, y, z = np.where(np.isnan(product), np.float32(-1), np.abs(product))
    axis = np.where((z >= x) & (z >= y), 2, np.where(y >= x, 1, 0))
    return 2 * axis + (product[axis, np.arange(len(axis))] < 0), product


def face_gradients(
    direction: list[Array], gradients: list[list[Array]]
) -> tuple[list[list[Array]], Array]:
    """Return how the place on a face changes with a direction, and where it leaves the face.

    The vectors of the gradients are added to the direction. A place on a neighboring face is as far
    beyond the edge as it is from it there; the opposite face is infinitely far.
    """
    face, start = _projected(direction)
    lanes = np.arange(len(face))
    leaves = np.zeros(len(face), dtype=np.bool_)
    changes = []
    for gradient in gradients:
        with np.errstate(all="ignore"):
            ends = [at + part for at, part in zip(direction, gradient, strict=True)]
            other, end = _projected(ends)
            change = end.astype(np.float64) - start
        axis, sign = _AXIS[other], _SIGN[other]
        before = cut(1 - np.float64(start[axis, lanes]) * sign)
        beyond = cut(1 - np.float64(end[_AXIS[face], lanes]) * _SIGN[face])
        edge = sign * (before + beyond)
        change[axis, lanes] = np.where(other == face, change[axis, lanes], edge)
        change[:, other == face ^ 1] = np.inf
        leaves |= other != face
        across = change[_ACROSS[face], lanes] * _ACROSS_SIGN[face]
        changes.append([across, change[_DOWN[face], lanes] * _DOWN_SIGN[face]])
    return changes, leaves


def beyond_edge(face: Array, column: Array, row: Array, size: int) -> Places:
    """Return the texels of the neighboring faces for places beyond one edge."""
    outside_columns = (column < 0) | (column >= size)
    outside = outside_columns | (row < 0) | (row >= size)
    lanes = np.arange(len(face))
    # The point on the edge that is nearest to the place, as a direction.
    across = np.clip((2 * column + 1) / size - 1, -1, 1) * _ACROSS_SIGN[face]
    down = np.clip((2 * row + 1) / size - 1, -1, 1) * _DOWN_SIGN[face]
    point = np.zeros((3, len(face)))
    place = np.where(outside_columns, column, row)
    depth = np.maximum(-place, place + 1 - size)
    point[_AXIS[face], lanes] = _SIGN[face] * np.where(outside, 1 - (2 * depth - 1) / size, 1)
    point[_ACROSS[face], lanes] = across
    point[_DOWN[face], lanes] = down
    axis = np.where(outside_columns, _ACROSS[face], _DOWN[face])
    other = 2 * axis + (point[axis, lanes] < 0)
    columns = _texel(point[_ACROSS[other], lanes] * _ACROSS_SIGN[other], size)
    rows = _texel(point[_DOWN[other], lanes] * _DOWN_SIGN[other], size)
    return (
        np.where(outside, other, face),
        np.where(outside, columns, column),
        np.where(outside, rows, row),
    )


def _texel(place: Array, size: int) -> Array:
    return np.clip(np.floor((place + 1) / 2 * size), 0, size - 1).astype(np.int64)


def corner_texels(face: Array, column: Array, row: Array, size: int) -> list[Places]:
    """Return the three texels at a corner of the cube: that of the face itself is the last."""
    beyond = [np.where(axis < 0, -1, size) for axis in (column, row)]
    inside = [np.clip(axis, 0, size - 1) for axis in beyond]
    neighbors = [(beyond[0], inside[1]), (inside[0], beyond[1])]
    return [*(beyond_edge(face, *each, size) for each in neighbors), (face, inside[0], inside[1])]


def without_corner(weights: list[Array], missing: list[Array]) -> list[Array]:
    """Divide the weights of texels beyond a corner of the cube among the three at the corner.

    Args:
        weights: Of the four texels, with x as the faster axis.
        missing: For each of them where it is beyond a corner; empty if none is.
    """
    if not np.any(missing):
        return weights
    found, corner = [], [np.zeros_like(weights[0])] * 3
    for weight, gone in zip(weights, missing, strict=True):
        found.append(np.where(gone, 0, weight))
        third = (2 * weight + 3) // 6
        parts = (third, third, weight - 2 * third)
        corner = [sum_ + np.where(gone, part, 0) for sum_, part in zip(corner, parts, strict=True)]
    return found + corner
