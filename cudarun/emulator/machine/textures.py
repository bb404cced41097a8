"""Texture objects and fetches from them: programming guide, appendix "Texture Fetching".

A texture is an array T of N texels (N by M in two dimensions) of 1, 2 or 4 channels. A fetch with
integer coordinates gets the texel that has them. One with floating point coordinates has them
brought into the range of T by the address mode of each dimension, and gets the texel at their
`floor` (``POINT``) or the texels around them, weighted (``LINEAR``).

Coordinates are computed without rounding here. Hardware has fewer bits: how it rounds just below a
texel's border, and in the weights and sums of ``LINEAR``, is not documented beyond the 8 bits of
fraction that a weight has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.records import dataclass

if TYPE_CHECKING:
    from cudarun.emulator.isa.form import Words
    from cudarun.emulator.machine.active import Active

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]
Positions = slice | npt.NDArray[np.intp]

_ILLEGAL_ADDRESS = 700
_NOT_SUPPORTED = 801
_CHANNELS = 4
_WEIGHT = 256  # a weight of LINEAR has 8 bits of fraction
_FARTHEST = float(1 << 30)  # beyond the ends of every texture


class AddressMode(IntEnum):
    """What becomes of coordinates out of range: ``CUaddress_mode``."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


@dataclass(frozen=True, eq=False)
class Texture:
    """What a texture object holds.

    Attributes:
        texels: Gives the texels as an array of rows, columns and channels; ``None`` where their
            memory has been freed.
        width: Texels of a row.
        height: Rows; 0 in one dimension.
        modes: How coordinates are brought into range, by dimension.
        linear: Whether fetches by floating point coordinates filter.
        normalized: Whether coordinates go from 0 to 1.
        promoted: Whether integers are read as fractions of the largest: 255 as 1.0.
        fetch_only: It is linear memory, which has integer coordinates only.
        border: The texel beyond the border, as 32-bit words.
    """

    texels: Callable[[], Array | None]
    width: int
    height: int
    modes: tuple[AddressMode, AddressMode]
    linear: bool = False
    normalized: bool = False
    promoted: bool = False
    fetch_only: bool = False
    border: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The texels in each dimension."""
        return (self.width, self.height) if self.height else (self.width,)

    def unsuited(self, dimensions: int, *, whole: bool) -> str | None:
        """Why it has no fetch of so many coordinates, ``whole`` numbers or others."""
        if dimensions != len(self.sizes):
            return f"a fetch of {dimensions} dimensions from a texture of {len(self.sizes)}"
        if self.fetch_only and not whole:
            return "a fetch from linear memory by floating point coordinates"
        if self.normalized and whole:
            return "a fetch by integers from a texture of normalized coordinates"
        return None

    # --- fetches ---------------------------------------------------------------------------------

    def fetch(self, texels: Array, coordinates: list[Array], *, whole: bool) -> Array:
        """The values at coordinates, one for each dimension: a row of four words for each lane."""
        if whole:
            return self._words(
                self._values(texels, [c.astype(np.int64) for c in coordinates], None)
            )
        scaled = [
            self._scaled(coordinate.astype(np.float64), size, mode)
            for coordinate, size, mode in zip(coordinates, self.sizes, self.modes, strict=False)
        ]
        if self.linear:
            return self._words(self._filtered(texels, scaled))
        places = [np.floor(place).astype(np.int64) for place in scaled]
        return self._words(self._values(texels, places, self.modes))

    def _scaled(self, coordinate: Array, size: int, mode: AddressMode) -> Array:
        """A coordinate in texels, wrapped or mirrored if its mode says so."""
        coordinate = np.nan_to_num(coordinate, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if self.normalized:
            if mode in (AddressMode.WRAP, AddressMode.MIRROR):
                coordinate = np.clip(coordinate, -_FARTHEST, _FARTHEST)
                floor = np.floor(coordinate)
                fraction = coordinate - floor
                odd = (mode is AddressMode.MIRROR) & (floor % 2 == 1)
                coordinate = np.where(odd, 1 - fraction, fraction)
            coordinate = coordinate * size
        return np.clip(coordinate, -_FARTHEST, _FARTHEST)

    def _filtered(self, texels: Array, scaled: list[Array]) -> Array:
        """The texels around places, each with its weight: (1 - a) T[i] + a T[i + 1]."""
        steps = [np.rint((place - 0.5) * _WEIGHT).astype(np.int64) for place in scaled]
        total = np.zeros((len(scaled[0]), _CHANNELS))
        for corner in np.ndindex(*(2,) * len(steps)):
            weight = np.ones(len(scaled[0]))
            for step, after in zip(steps, corner, strict=True):
                fraction = (step % _WEIGHT) / _WEIGHT
                weight *= fraction if after else 1 - fraction
            places = [step // _WEIGHT + after for step, after in zip(steps, corner, strict=True)]
            values = self._values(texels, places, self.modes).astype(np.float64)
            # What has no weight is not there, were it infinite or NaN.
            total += np.where(weight[:, None] > 0, weight[:, None] * values, 0.0)
        return total.astype(np.float32)

    def _values(
        self, texels: Array, places: list[Array], modes: tuple[AddressMode, ...] | None
    ) -> Array:
        """The texels at whole places, as four channels; without modes all beyond T is zero."""
        outside = np.zeros(len(places[0]), dtype=np.bool_)
        inside = []
        for dimension, (place, size) in enumerate(zip(places, self.sizes, strict=True)):
            mode = AddressMode.BORDER if modes is None else modes[dimension]
            if mode is AddressMode.BORDER:
                outside |= (place < 0) | (place >= size)
            elif mode is AddressMode.WRAP and self.linear:  # the neighbour of the last is the first
                place = place % size
            inside.append(np.clip(place, 0, size - 1))
        rows = inside[1] if len(inside) > 1 else 0
        found = _promoted(texels[rows, inside[0]], self.promoted)
        values = np.zeros((len(outside), _CHANNELS), dtype=found.dtype)
        values[:, -1] = 1  # where there are fewer channels the last one is 1, the others 0
        channels = found.shape[1]
        values[:, :channels] = found
        if outside.any():
            border = np.array(self.border if modes else (0,) * _CHANNELS, dtype=np.uint32)
            values[outside, :channels] = border.view(found.dtype)[:channels]
        return values

    def _words(self, values: Array) -> Array:
        return np.ascontiguousarray(values).view(np.uint32)


def _promoted(values: Array, normalized: bool) -> Array:
    """Channels as registers have them: 32 bits, integers as integers or as fractions."""
    if normalized:
        most = np.iinfo(values.dtype).max
        return np.maximum(values / np.float64(most), -1.0).astype(np.float32)
    kinds = {"f": np.float32, "i": np.int32, "u": np.uint32}
    return values.astype(kinds[values.dtype.kind])


# --- instructions --------------------------------------------------------------------------------


def _by_handle(handles: Array) -> Iterator[tuple[int, Positions, int]]:
    """Each handle, with the lanes that have it and the first of them."""
    if (handles == handles[0]).all():  # the usual case
        yield int(handles[0]), slice(None), 0
        return
    for handle in np.unique(handles):
        positions = np.flatnonzero(handles == handle)
        yield int(handle), positions, int(positions[0])


class _OfTexture:
    """An instruction on a texture object, of which each lane may have another."""

    def _objects(self, active: Active, handles: Array) -> Iterator[tuple[Texture, Positions, int]]:
        """The texture objects, which of the active lanes have them, and the first of those."""
        for handle, positions, first in _by_handle(handles):
            texture = active.batch.launch.config.textures.get(handle)
            if texture is None:
                detail = f"{handle:#x} is no texture object of this context"
                raise active.fault(_ILLEGAL_ADDRESS, "an invalid texture object", first, detail)
            yield texture, positions, first


class Fetch(_OfTexture):
    """``tex``: a vector of four 32-bit channels.

    The type of the destination changes no bits: what they are is said by the texture.
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
                what = "a fetch from a texture whose memory has been freed"
                raise active.fault(_ILLEGAL_ADDRESS, what, lane)
            some = [coordinate[positions] for coordinate in coordinates]
            words = texture.fetch(texels, some, whole=self.whole)
            for channel, destination in enumerate(destinations):
                destination[positions] = words[:, channel].view(destination.dtype)


class Query(_OfTexture):
    """``txq``: the size of a texture in texels."""

    def __init__(self, words: Words) -> None:
        self.query = words["query"]

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Ask each lane's texture."""
        for texture, positions, lane in self._objects(active, sources[0]):
            value = texture.width if self.query == "width" else texture.height
            if value == 0:
                what = "txq.height of a texture of one dimension is not implemented"
                raise active.fault(_NOT_SUPPORTED, what, lane)
            destinations[0][positions] = value
