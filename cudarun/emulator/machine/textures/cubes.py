"""Cube maps: the face and the place on it of a direction, and the texels beyond a face's edges.

The faces are those of the programming guide: +x, -x, +y, -y, +z, -z. Details follow an H200
(``tests/golden``): of equal magnitudes z is the major one, then y. NaN is less than all magnitudes,
and 0 as a coordinate. ptxas's code multiplies a direction by the approximate reciprocal of the
greatest magnitude first.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.textures.levels import cut
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.special_functions import reciprocal

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
        changes.append([change[_ACROSS[face], lanes], change[_DOWN[face], lanes]])
    return changes, leaves


def beyond_edge(face: Array, column: Array, row: Array, size: int) -> Places:
    """Return the texels of the neighboring faces for places one texel beyond one edge."""
    outside_columns = (column < 0) | (column >= size)
    outside = outside_columns | (row < 0) | (row >= size)
    lanes = np.arange(len(face))
    # The point on the edge that is nearest to the place, as a direction.
    across = np.clip((2 * column + 1) / size - 1, -1, 1) * _ACROSS_SIGN[face]
    down = np.clip((2 * row + 1) / size - 1, -1, 1) * _DOWN_SIGN[face]
    point = np.zeros((3, len(face)))
    point[_AXIS[face], lanes] = _SIGN[face]
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


def without_corner(weights: list[Array], missing: list[Array]) -> list[Array]:
    """Divide the weight of a texel beyond a corner of the cube among the three that exist.

    Args:
        weights: Of the four texels, with x as the faster axis.
        missing: For each of them where it is beyond a corner; empty if none is.
    """
    if not missing:
        return weights
    found = [np.where(gone, 0, weight) for weight, gone in zip(weights, missing, strict=True)]
    for place, gone in enumerate(missing):
        third = (2 * weights[place] + 3) // 6
        for other in range(4):
            if other != place:
                rest = weights[place] - 2 * third if other == 3 - place else third
                found[other] = found[other] + np.where(gone, rest, 0)
    return found
