"""Texels in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudarun.emulator.numerics.arrays import Array
from cudarun.records import dataclass


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
        slice_pitch: Bytes from the start of a slice, layer or face to that of the next.
    """

    bytes: Array
    dtype: np.dtype[Any]
    channels: int
    pitch: int
    slice_pitch: int = 0

    def at(self, columns: Array, rows: Array, slices: Array) -> Array:
        """Return texels, a row of channels for each.

        Raises:
            BeyondMemory: One of them is not in memory.
        """
        item = self.dtype.itemsize
        places = slices * self.slice_pitch + rows * self.pitch + columns * (item * self.channels)
        first = places // item
        held = self.bytes[: len(self.bytes) // item * item].view(self.dtype)
        beyond = first + self.channels > len(held)
        if beyond.any():
            raise BeyondMemory(int(np.argmax(beyond)))
        found: Array = held[first[:, None] + np.arange(self.channels)]
        return found

    def fractions(self, values: Array) -> Array:
        """Return channels as fractions of the largest integer."""
        shares: Array = values / np.float64(np.iinfo(self.dtype).max)
        return shares
