"""``tld4``: the four texels that a linear filter would weigh (PTX manual 9.7.10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.filters import STEPS, weighted
from cudarun.emulator.machine.texels import Texels
from cudarun.emulator.machine.textures import CHANNELS, Place, Sampler, Texture

Array = npt.NDArray[Any]

_ORDER = (2, 3, 1, 0)  # of the corners, with x as the faster axis: around the place


def gathered(
    texture: Texture, texels: tuple[Texels, ...], place: Place, sampler: Sampler, channel: int
) -> Array:
    """Return one channel of four texels per lane, as words: counterclockwise from the lower left.

    Raises:
        BeyondMemory: A texel is beyond the memory of the texture.
    """
    filtering = replace(sampler, linear=True)
    weight = np.zeros(len(place.coordinates[0]), dtype=np.int64)
    corners, _ = texture.around(texels[0], 0, place, filtering, weight)
    words = np.zeros((len(weight), CHANNELS), dtype=np.uint32)
    for column, corner in enumerate(_ORDER):
        words[:, column] = _words(texture, texels[0], corners[corner])[:, channel]
    return words


def _words(texture: Texture, texels: Texels, values: Array) -> Array:
    """Return texels as words: fractions are those of a filter, which have 16 bits."""
    if not texture.promoted or texture.srgb:
        return texture.words(texels.dtype, values, texels.channels)
    whole = np.full((1, len(values)), STEPS, dtype=np.int64)
    fractions = weighted(values[None], texels.dtype, whole)
    return np.ascontiguousarray(fractions).view(np.uint32)
