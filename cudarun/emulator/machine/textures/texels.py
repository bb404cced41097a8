"""Texels in memory, those of surfaces too, and the numbers that they stand for."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from cudarun.base.records import dataclass
from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics.arrays import Array, DType
from cudarun.emulator.numerics.formats import from_f32


class BeyondMemory(Exception):
    """A fetch of a texel beyond the end of the texture's memory."""

    def __init__(self, lane: int) -> None:
        super().__init__(lane)
        self.lane = lane  # the first lane with such a fetch


@dataclass(frozen=True, eq=False)
class Texels:
    """Texels in memory, in rows that may overlap."""

    bytes: Array  # the memory from the first texel on, which may be smaller than the texture
    dtype: DType  # the type of one channel
    channels: int  # channels per texel
    pitch: int  # bytes from the start of a row to that of the next
    slice_pitch: int = 0  # bytes from the start of a slice, layer or face to that of the next

    def at(self, columns: Array, rows: Array, slices: Array) -> Array:
        """Return texels, a row of channels for each.

        Raises:
            BeyondMemory: One of them is not in memory.
        """
        item = self.dtype.itemsize
        places = slices * self.slice_pitch + rows * self.pitch + columns * (item * self.channels)
        first = places // item
        items = self.bytes[: len(self.bytes) // item * item].view(self.dtype)
        beyond = first + self.channels > len(items)
        if beyond.any():
            raise BeyondMemory(int(np.argmax(beyond)))
        found: Array = items[first[:, None] + np.arange(self.channels)]
        return found

    def fractions(self, values: Array) -> Array:
        """Return channels as fractions of the largest integer."""
        return values / np.float64(np.iinfo(self.dtype).max)


@dataclass(frozen=True, eq=False)
class Surface:
    """The properties of a surface object."""

    geometry: str  # that of the array, as PTX names it
    address: int  # the device address of the first texel
    extent: tuple[int, int, int]  # slices or layers, rows, and texels per row
    pitch: int  # bytes from a row to the next one
    dtype: DType  # the type of a channel
    channels: int  # channels per texel
    normalized: bool = False  # integers are fractions of the largest

    @property
    def texel(self) -> int:
        """Bytes of a texel."""
        return self.dtype.itemsize * self.channels

    def size(self, axis: int, levels: Array | None = None) -> int:
        """Return the width, height or depth; layers are the last axis that the geometry has."""
        slices, rows, columns = self.extent
        sizes = {"1d": (columns, 0, 0), "2d": (columns, rows, 0), "a1d": (columns, slices, 0)}.get(
            self.geometry, (columns, rows, slices)
        )
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


# --- conversions of f32, which surfaces and border colors have in common -------------------------

_GUARD = 1 << 4  # parts of the last bit of a fraction before it is rounded


def truncated(words: Array) -> Array:
    """Return f32 values, given as words, as halves, rounded towards zero; NaN keeps its payload."""
    with np.errstate(over="ignore", invalid="ignore"):
        half = from_f32(words.view(np.float32), "f16", rounding.ZERO).view(np.uint16)
    payload = (words >> 16 & 0x8000 | 0x7C00 | (words & 0x7FFFFF) >> 13).astype(np.uint16)
    return np.where(words & 0x7FFFFFFF > 0x7F800000, payload, half).view(np.float16)


def fractions(words: Array, dtype: DType) -> Array:
    """Return f32 values, given as words, as fractions of the largest integer of a type.

    They are truncated 4 bits below the last bit of the integer without its sign, and rounded to
    nearest; ties are rounded towards zero.
    """
    limits = np.iinfo(dtype)
    floats = np.nan_to_num(words.view(np.float32).astype(np.float64), nan=0.0)
    parts = float(_GUARD * (limits.max + 1))
    exact = np.trunc(np.clip(floats, -1.0 if limits.min else 0.0, 1.0) * parts) / parts * limits.max
    nearest = np.copysign(np.ceil(np.abs(exact) - 0.5), exact)
    return nearest.astype(np.int64).astype(dtype)


# --- sRGB colors: the numbers that bytes stand for -----------------------------------------------

# They are those of an H200 (``tests/golden``), which rounds the standard's formula to few bits.
_LAST_BITS = np.repeat(2.0 ** np.arange(-14, -6), (4, 2, 2, 4, 5, 6, 8, 1))
"""The values of the last bits of numbers, which 8 bytes have in common."""
_LINEAR_PART = 0.0031308
COLORS = {1: 1, 2: 1, 4: 3}
"""The number of channels of texels that are colors, by the number of channels."""


@cache
def _numbers() -> Array:
    """Return the number of each byte: that of the standard's formula, to nearest."""
    colors = np.arange(256)
    shares, unit = colors / 255, last_bits(colors)
    curve = ((shares + 0.055) / 1.055) ** 2.4
    light = np.where(shares <= _LINEAR_PART * 12.92, shares / 12.92, curve)
    return (np.rint(light / unit) * unit).astype(np.float32)


def linear_light(colors: Array) -> Array:
    """Return the numbers that bytes of a color stand for."""
    return _numbers()[colors]


def last_bits(colors: Array) -> Array:
    """Return the value of the last bit of the numbers that bytes stand for."""
    found: Array = _LAST_BITS[colors >> 3]
    return found


def encoded(light: Array) -> Array:
    """Return the bytes that are nearest to numbers, by the standard's formula."""
    numbers = np.clip(np.nan_to_num(light.astype(np.float64), nan=0.0), 0.0, 1.0)
    curve = 1.055 * numbers ** (1 / 2.4) - 0.055
    shares = np.where(numbers <= _LINEAR_PART, numbers * 12.92, curve)
    found: Array = np.rint(shares * 255).astype(np.uint32)
    return found
