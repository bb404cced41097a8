"""Surface objects, as kernels see them: the bytes of a CUDA array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.numerics.arrays import Array
from cudarun.records import dataclass


@dataclass(frozen=True, eq=False)
class Surface:
    """The properties of a surface object.

    Attributes:
        geometry: That of the array, as PTX names it.
        address: The device address of the first texel.
        extent: Slices or layers, rows, and texels per row.
        pitch: Bytes from a row to the next one.
        dtype: The type of a channel.
        channels: Channels per texel.
        normalized: Integers are fractions of the largest.
    """

    geometry: str
    address: int
    extent: tuple[int, int, int]
    pitch: int
    dtype: np.dtype[Any]
    channels: int
    normalized: bool = False

    @property
    def texel(self) -> int:
        """Bytes of a texel."""
        return self.dtype.itemsize * self.channels

    def size(self, axis: int, levels: Array | None = None) -> int:
        """Return the width, height or depth; layers are the last axis that the geometry has."""
        slices, rows, columns = self.extent
        sizes = {
            "1d": (columns, 0, 0),
            "2d": (columns, rows, 0),
            "a1d": (columns, slices, 0),
        }.get(self.geometry, (columns, rows, slices))
        return sizes[axis]

    def places(
        self, coordinates: dict[str, Array], size: int, mode: str
    ) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Return the addresses of accesses, and which of them are in range.

        Args:
            coordinates: x in bytes, y, z.
            size: Bytes of an access.
            mode: ``clamp`` moves accesses into range.
        """
        slices, rows, columns = self.extent
        width = columns * self.texel
        address = np.full(len(coordinates["x"]), self.address, np.int64)
        inside = np.ones(len(address), np.bool_)
        for axis, last, pitch in (
            ("x", width // size * size - size, 1),
            ("y", rows - 1, self.pitch),
            ("z", slices - 1, self.pitch * rows),
        ):
            if axis not in coordinates:
                continue
            place = coordinates[axis]
            if mode == "clamp":
                # A negative layer is a large one.
                layer = axis == "z" and self.geometry != "3d"
                place = np.where((place < 0) & layer, last, np.clip(place, 0, max(last, 0)))
            inside &= (place >= 0) & (place <= last)
            address += place * pitch
        return address.view(np.uint64), inside
