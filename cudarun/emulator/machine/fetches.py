"""Instructions on texture objects: ``tex`` and ``txq`` (PTX manual 9.7.10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.textures import BeyondMemory, Texture

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.words import Words

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]
Positions = slice | npt.NDArray[np.intp]

_ILLEGAL_ADDRESS = 700
_NOT_SUPPORTED = 801


def _by_handle(handles: Array) -> Iterator[tuple[int, Positions, int]]:
    """Yield each handle, with the lanes that have it and the first of them."""
    if (handles == handles[0]).all():  # the usual case
        yield int(handles[0]), slice(None), 0
        return
    for handle in np.unique(handles):
        positions = np.flatnonzero(handles == handle)
        yield int(handle), positions, int(positions[0])


class _OfTexture:
    """An instruction on texture objects, which may differ by lane."""

    def _objects(self, active: Active, handles: Array) -> Iterator[tuple[Texture, Positions, int]]:
        """Yield the texture objects, the active lanes that use them, and the first of those."""
        for handle, positions, first in _by_handle(handles):
            texture = active.batch.launch.config.textures.get(handle)
            if texture is None:
                detail = f"{handle:#x} is not a texture object of this context"
                raise active.fault(_ILLEGAL_ADDRESS, "invalid texture object", first, detail)
            yield texture, positions, first


class Fetch(_OfTexture):
    """``tex``: a vector of four 32-bit channels.

    The type of the destination changes no bits: the texture determines them.
    """

    def __init__(self, words: Words) -> None:
        self.dimensions = int(words["geom"][0])
        self.whole = words["ctype"] == "s32"

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Fetch; further coordinates than the texture has dimensions are ignored."""
        handles, *coordinates = sources[: 1 + self.dimensions]
        for texture, positions, lane in self._objects(active, handles):
            unsuited = texture.unsuited(self.dimensions, whole=self.whole)
            if unsuited is not None:
                what = f"{unsuited} is not implemented by the emulated device"
                raise active.fault(_NOT_SUPPORTED, what, lane)
            texels = texture.texels()
            if texels is None:
                what = "texture fetch from freed memory"
                raise active.fault(_ILLEGAL_ADDRESS, what, lane)
            some = [coordinate[positions] for coordinate in coordinates]
            try:
                words = texture.fetch(texels, some, whole=self.whole)
            except BeyondMemory as beyond:
                what = "texture fetch out of bounds of the texture's memory"
                lane = int(np.arange(len(handles))[positions][beyond.lane])
                raise active.fault(_ILLEGAL_ADDRESS, what, lane) from None
            for channel, destination in enumerate(destinations):
                destination[positions] = words[:, channel].view(destination.dtype)


class Query(_OfTexture):
    """``txq``: the size of a texture in texels."""

    def __init__(self, words: Words) -> None:
        self.query = words["query"]

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write the size of each lane's texture."""
        for texture, positions, lane in self._objects(active, sources[0]):
            value = texture.width if self.query == "width" else texture.height
            if value == 0:
                what = "txq.height of a 1-D texture is not implemented by the emulated device"
                raise active.fault(_NOT_SUPPORTED, what, lane)
            destinations[0][positions] = value
