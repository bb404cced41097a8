"""``tld4``: the four texels that a linear filter would weigh (PTX manual 9.7.10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cudarun.emulator.machine.cubes import without_corner
from cudarun.emulator.machine.filters import NOTHING, STEPS, weighted
from cudarun.emulator.machine.texels import Texels
from cudarun.emulator.machine.textures import CHANNELS, Place, Sampler, Texture
from cudarun.emulator.numerics.arrays import Array

_ORDER = (2, 3, 1, 0)  # of the corners, with x as the faster axis: around the place


def gathered(
    texture: Texture, texels: tuple[Texels, ...], place: Place, sampler: Sampler, channel: int
) -> Array:
    """Return one channel of four texels per lane, as words: counterclockwise from the lower left.

    Raises:
        BeyondMemory: A texel is beyond the memory of the texture.
    """
    filtering = replace(sampler, linear=True)
    corners, _, missing = texture.around(texels[0], 0, place, filtering)
    if missing and texels[0].dtype.kind == "f":
        _replace_missing(corners, missing, texels[0].dtype)
    words = np.zeros((len(corners[0]), CHANNELS), dtype=np.uint32)
    for column, corner in enumerate(_ORDER):
        words[:, column] = _words(texture, texels[0], corners[corner])[:, channel]
    return words


def _replace_missing(corners: list[Array], missing: list[Array], kind: np.dtype[Any]) -> None:
    """Replace texels beyond a corner of a cube by the average of the others."""
    for place, gone in enumerate(missing):
        some = np.stack(corners)[:, gone]
        some[place] = NOTHING
        alone = [np.full(some.shape[1], STEPS * (each == place)) for each in range(len(corners))]
        shares = without_corner(alone, [weight > 0 for weight in alone])
        corners[place][gone] = weighted(some, kind, np.stack(shares))


def _words(texture: Texture, texels: Texels, values: Array) -> Array:
    """Return texels as words: fractions are those of a filter, which have 16 bits."""
    if not texture.promoted or texture.srgb:
        return texture.words(texels, values)
    whole = np.full((1, len(values)), STEPS, dtype=np.int64)
    fractions = weighted(values[None], texels.dtype, whole)
    return np.ascontiguousarray(fractions).view(np.uint32)
