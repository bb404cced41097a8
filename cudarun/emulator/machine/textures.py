"""Textures and their fetches: programming guide, appendix "Texture Fetching".

A texture is an array T of N texels (N by M in two dimensions) of 1, 2 or 4 channels. A fetch with
integer coordinates returns that texel. Floating-point coordinates are brought into the range of T
by the address mode of each dimension; the fetch returns the texel at their `floor` (``POINT``) or
the weighted sum of the texels around them (``LINEAR``: `machine.filters`).

Undocumented details follow an H200 (``tests/golden/textures-h200.xz``): missing channels are zero;
the fraction of a coordinate that wraps or is mirrored is truncated to 21 bits. A filter treats a
one-dimensional texture as two-dimensional with a single row, at y = 0 between that row and the one
before it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.filters import STEPS, filtered
from cudarun.records import dataclass

Array = npt.NDArray[Any]

_CHANNELS = 4
_FRACTION = float(1 << 21)  # steps of a coordinate from 0 to 1 that wraps or is mirrored
_FARTHEST = float(1 << 30)  # beyond the ends of every texture
_REGISTERS: dict[str, type[np.generic]] = {"f": np.float32, "i": np.int32, "u": np.uint32}


class AddressMode(IntEnum):
    """The handling of coordinates out of range: ``CUaddress_mode``."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


class BeyondMemory(Exception):
    """A fetch of a texel beyond the end of the texture's memory.

    Attributes:
        lane: The first lane with such a fetch.
    """

    def __init__(self, lane: int) -> None:
        super().__init__(lane)
        self.lane = lane


@dataclass(frozen=True, eq=False)
class Texels:
    """Texels in memory, in rows that may overlap.

    Attributes:
        bytes: The memory from the first texel on, which may be smaller than the texture.
        dtype: The type of one channel.
        channels: Channels per texel.
        pitch: Bytes from the start of a row to that of the next.
    """

    bytes: Array
    dtype: np.dtype[Any]
    channels: int
    pitch: int

    def at(self, columns: Array, rows: Array) -> Array:
        """Return texels, a row of channels for each.

        Raises:
            BeyondMemory: One of them is not in memory.
        """
        item = self.dtype.itemsize
        first = (rows * self.pitch + columns * (item * self.channels)) // item
        held = self.bytes[: len(self.bytes) // item * item].view(self.dtype)
        beyond = first + self.channels > len(held)
        if beyond.any():
            raise BeyondMemory(int(np.argmax(beyond)))
        found: Array = held[first[:, None] + np.arange(self.channels)]
        return found


@dataclass(frozen=True, eq=False)
class Texture:
    """The properties of a texture object.

    Attributes:
        texels: Returns the texels; ``None`` if their memory has been freed.
        width: Texels per row.
        height: Rows; 0 in one dimension.
        modes: The address mode of each dimension.
        linear: Filter fetches with floating-point coordinates.
        normalized: Coordinates are from 0 to 1.
        promoted: Integers are read as fractions of the largest: 255 as 1.0.
        fetch_only: The texture is linear memory, which has integer coordinates only.
        border: The texel beyond the border, as 32-bit words.
    """

    texels: Callable[[], Texels | None]
    width: int
    height: int
    modes: tuple[AddressMode, AddressMode]
    linear: bool = False
    normalized: bool = False
    promoted: bool = False
    fetch_only: bool = False
    border: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def dimensions(self) -> int:
        """The number of coordinates of a texel."""
        return 2 if self.height else 1

    @property
    def sizes(self) -> tuple[int, int]:
        """Texels per row, and rows: one in one dimension."""
        return (self.width, max(self.height, 1))

    def unsuited(self, dimensions: int, *, whole: bool) -> str | None:
        """Return the reason why such a fetch is invalid, by number and kind of its coordinates."""
        if dimensions != self.dimensions:
            return f"a {dimensions}-D fetch from a {self.dimensions}-D texture"
        if self.fetch_only and not whole:
            return "a fetch from linear memory with floating-point coordinates"
        if self.normalized and whole:
            return "a fetch with integer coordinates from a texture with normalized coordinates"
        return None

    # --- fetches ---------------------------------------------------------------------------------

    def fetch(self, texels: Texels, coordinates: list[Array], *, whole: bool) -> Array:
        """Return the values at coordinates (an array per dimension): four words per lane.

        Raises:
            BeyondMemory: A texel is beyond the memory of the texture.
        """
        if self.dimensions == 1:
            coordinates = [*coordinates, np.zeros_like(coordinates[0])]
        if whole:
            places = [coordinate.astype(np.int64) for coordinate in coordinates]
            return self._words(texels, self._values(texels, places, None))
        scaled = [
            self._scaled(coordinate.astype(np.float64), size, mode)
            for coordinate, size, mode in zip(coordinates, self.sizes, self.modes, strict=True)
        ]
        if self.linear:
            return np.ascontiguousarray(self._filtered(texels, scaled)).view(np.uint32)
        places = [np.floor(place).astype(np.int64) for place in scaled]
        return self._words(texels, self._values(texels, places, self.modes))

    def _scaled(self, coordinate: Array, size: int, mode: AddressMode) -> Array:
        """Return a coordinate in texels, wrapped or mirrored if its mode says so."""
        coordinate = np.nan_to_num(coordinate, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if self.normalized:
            if mode in (AddressMode.WRAP, AddressMode.MIRROR):
                coordinate = np.clip(coordinate, -_FARTHEST, _FARTHEST)
                floor = np.floor(coordinate)
                fraction = np.floor((coordinate - floor) * _FRACTION) / _FRACTION
                odd = (mode is AddressMode.MIRROR) & (floor % 2 == 1)
                coordinate = np.where(odd, 1 - fraction, fraction)
            coordinate = coordinate * size
        return np.clip(coordinate, -_FARTHEST, _FARTHEST)

    def _filtered(self, texels: Texels, scaled: list[Array]) -> Array:
        """Return filtered texels, weighted by the distance of a position from their centers."""
        # The nearest step; ties round up.
        steps = [np.floor(place * STEPS - STEPS / 2 + 0.5).astype(np.int64) for place in scaled]
        corners = [
            self._values(texels, [steps[0] // STEPS + right, steps[1] // STEPS + below], self.modes)
            for below in (0, 1)
            for right in (0, 1)
        ]
        kind = texels.dtype
        return filtered(np.stack(corners), kind, steps[0] % STEPS, steps[1] % STEPS)

    def _values(
        self, texels: Texels, places: list[Array], modes: tuple[AddressMode, ...] | None
    ) -> Array:
        """Return texels at integer positions, as four channels; without modes zero beyond T."""
        outside = np.zeros(len(places[0]), dtype=np.bool_)
        inside = []
        for dimension, (place, size) in enumerate(zip(places, self.sizes, strict=True)):
            mode = AddressMode.BORDER if modes is None else modes[dimension]
            if mode is AddressMode.BORDER:
                outside |= (place < 0) | (place >= size)
            elif mode is AddressMode.WRAP and self.linear:  # the last texel's neighbor is the first
                place = place % size
            inside.append(np.clip(place, 0, size - 1))
        lanes = np.flatnonzero(~outside)
        values = np.zeros((len(outside), _CHANNELS), dtype=_REGISTERS[texels.dtype.kind])
        try:
            values[lanes, : texels.channels] = texels.at(inside[0][lanes], inside[1][lanes])
        except BeyondMemory as beyond:
            raise BeyondMemory(int(lanes[beyond.lane])) from None
        if modes is not None and outside.any():
            border = np.array(self.border, dtype=np.uint32).view(values.dtype)
            values[outside, : texels.channels] = border[: texels.channels]
        return values

    def _words(self, texels: Texels, values: Array) -> Array:
        """Return values as in registers: integers as integers or as fractions."""
        if self.promoted:
            most = np.float64(np.iinfo(texels.dtype).max)
            values = np.maximum(values / most, -1.0).astype(np.float32)
        return values.view(np.uint32)
