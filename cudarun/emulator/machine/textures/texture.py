"""Textures and their fetches: programming guide, appendix "Texture Fetching".

A texture is an array T of N texels (N by M in two dimensions, and so on) of 1, 2 or 4 channels. A
fetch with integer coordinates returns that texel. Floating-point coordinates are brought into the
range of T by the address mode of each dimension; the fetch returns the texel at their `floor`
(``POINT``) or the weighted sum of the texels around them (``LINEAR``: `textures.filters`), of one
level of a mipmapped texture or of two.

Undocumented details follow an H200 (``tests/golden``): missing channels are zero. A filter treats a
one-dimensional texture as two-dimensional with a single row, at y = 0 between that row and the one
before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.textures.addressing import (
    AddressMode,
    Places,
    beyond_edge,
    corner_texels,
    faced,
    fraction,
    in_range,
    in_texels,
    scaled,
    steps_from_middle,
    without_corner,
)
from cudarun.emulator.machine.textures.filters import (
    NOTHING,
    STEPS,
    WHOLE,
    averaged,
    corner_weights,
    divided,
    weighted,
    without_unread,
)
from cudarun.emulator.machine.textures.levels import AnisotropicFootprint, optimized
from cudarun.emulator.machine.textures.texels import (
    COLORS,
    BeyondMemory,
    Texels,
    last_bits,
    linear_light,
)
from cudarun.emulator.numerics.arrays import Array, distinct

Size = tuple[int, int, int]

CHANNELS = 4
FACES = 6
REGISTERS: dict[str, type[np.generic]] = {"f": np.float32, "i": np.int32, "u": np.uint32}
AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 2, "acube": 2}
"""The number of axes of a slice, layer or face of each geometry."""


@dataclass(frozen=True, eq=False)
class Sampler:
    """The way in which a texture is read."""

    modes: tuple[AddressMode, AddressMode, AddressMode]  # the address mode of each dimension
    linear: bool = False  # filter fetches with floating-point coordinates
    between: bool = False  # filter between two levels
    normalized: bool = False  # coordinates are from 0 to 1
    seamless: bool = False  # filters continue on the neighboring faces of a cube
    bias: int = 0  # steps that are added to the level of detail
    least: int = 0  # the least level of detail, in steps
    most: int = 0  # the greatest one
    anisotropy: int = 1  # the most samples that gradients of different lengths average; 1 for none
    optimized: bool = False  # most levels of detail between two levels are nearer to one of them
    # The texel beyond the border: its channels as 32-bit words.
    border: tuple[int, int, int, int] = (0, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Place:
    """The places at which lanes fetch."""

    coordinates: list[Array]  # the coordinates without that of a layer
    layers: Array | None = None  # the layer per lane, if the geometry has layers
    offsets: list[Array] | None = None  # what is added to each coordinate in texels, as steps
    # The level of detail in steps, or the number of a level if ``whole``.
    steps: Array | None = None
    whole: bool = False  # coordinates are integers
    # The samples around each place that are averaged, if several.
    footprint: AnisotropicFootprint | None = None

    def samples(
        self, share: Array, fraction: Array, *, second: bool
    ) -> Iterator[tuple[Array, Array | int, Place]]:
        """Yield the weights, of which sum, and the places that are read in a level."""
        if self.footprint is None:
            yield share, STEPS, self
            return
        for weight, whole, moves in self.footprint.samples(share, fraction, second=second):
            offsets = moves if self.offsets is None else _shifted(self.offsets, moves)
            yield weight, whole, replace(self, offsets=offsets)


@dataclass(frozen=True, eq=False)
class Texture:
    """The properties of a texture object."""

    # Returns the texels of each level; ``None`` if their memory has been freed.
    texels: Callable[[], tuple[Texels, ...] | None]
    sizes: tuple[Size, ...]  # texels per row, rows, and slices, of each level
    geometry: str  # as PTX names it
    sampler: Sampler  # the way in which it is read
    layers: int = 1  # the number of layers, or of cubes
    first_layer: int = 0  # the layer of a view that is layer 0 of the texture
    promoted: bool = False  # integers are read as fractions of the largest: 255 as 1.0
    srgb: bool = False  # bytes are sRGB colors; the fourth channel is not
    # The texture is linear memory; at floating-point coordinates hardware reads zeros.
    linear: bool = False

    def size(self, axis: int, levels: Array | None = None) -> Array | int:
        """Return the width, height or depth of a level, or of level 0; a level beyond has none.

        Layers are the last axis that the geometry has.
        """
        sizes = [self._extent(size)[axis] for size in self.sizes]
        if levels is None:
            return sizes[0]
        inside = (levels >= 0) & (levels < len(sizes))
        return np.where(inside, np.array(sizes)[np.where(inside, levels, 0)], 0)

    def _extent(self, size: Size) -> Size:
        width, height, _ = size
        if self.geometry == "3d":
            return size
        if self.geometry == "a1d":
            return width, self.layers, 0
        return width, height, self.layers if self.geometry.startswith("a") else 0

    # --- fetches ---------------------------------------------------------------------------------

    def fetch(self, texels: tuple[Texels, ...], place: Place) -> Array:
        """Return the values at a place: four words per lane."""
        sampler = self.sampler
        first, second = self.levels(place)
        shares = divided(np.full_like(second, STEPS), second)
        kind = texels[0].dtype
        most = 8 if AXES[self.geometry] > 2 else 4  # texels around a place
        most += 3 * (sampler.seamless and "cube" in self.geometry)  # at the corner of a cube
        rows, row_weights = [], []
        for part, (levels, share) in enumerate(zip((first, first + 1), shares, strict=True)):
            if not share.any():
                continue
            for weight, whole, sample in place.samples(share, second, second=part > 0):
                values = np.full(
                    (most if sampler.linear else 1, len(second), CHANNELS), NOTHING,
                    dtype=REGISTERS[kind.kind],
                )  # fmt: skip
                weights = np.zeros(values.shape[:2], dtype=np.int64)
                for level in distinct(levels[weight > 0]):
                    lanes = np.flatnonzero((levels == level) & (weight > 0))
                    some = _of_lanes(sample, lanes)
                    with _mapped(lanes):
                        found, steps, missing = self.around(texels[level], level, some, sampler)
                    without_unread(found, steps, missing)
                    values[: len(found), lanes] = found
                    corners = without_corner(corner_weights(weight[lanes], steps), missing)
                    weights[: len(found), lanes] = corners
                rows.append(values)
                row_weights.append(weights * (WHOLE // whole))
        if not (place.footprint or second.any() or (sampler.linear and not place.whole)):
            return self.words(texels[0], rows[0][0])
        slices, weights = np.stack(rows), np.stack(row_weights)
        if self.geometry == "3d" and sampler.linear:
            slices, weights = (each.reshape(-1, 4, *each.shape[2:]) for each in (slices, weights))
        if not self.promoted and kind.kind != "f":
            return averaged(slices, weights).astype(kind).astype(slices.dtype).view(np.uint32)
        sums = weighted(slices, kind, weights)
        if self.srgb:
            colors = slices[..., : COLORS[texels[0].channels]]
            light = linear_light(colors).astype(np.float16)
            sums[:, : colors.shape[-1]] = weighted(light, light.dtype, weights, last_bits(colors))
        return np.ascontiguousarray(sums).view(np.uint32)

    def levels(self, place: Place) -> tuple[Array, Array]:
        """Return the first level of each lane, and the weight of the next one."""
        sampler = self.sampler
        count, last = len(place.coordinates[0]), len(self.sizes) - 1
        none = np.zeros(count, dtype=np.int64)
        if place.whole:
            return none if place.steps is None else np.clip(place.steps, 0, last), none
        steps = none if place.steps is None else place.steps + sampler.bias
        if sampler.between and sampler.optimized:
            steps = optimized(steps, sampler.anisotropy)
        steps = np.clip(steps, sampler.least, max(sampler.most, sampler.least))
        steps = np.clip(steps, 0, last * STEPS)
        if not sampler.between:
            return (steps + STEPS // 2) // STEPS, none
        return steps // STEPS, steps % STEPS

    def around(
        self, texels: Texels, level: int, place: Place, sampler: Sampler
    ) -> tuple[list[Array], list[Array], list[Array]]:
        """Return the texels at or around places in one level.

        The second list has the steps from the first to the second texel of each axis; it is empty
        for nearest texels. The third one has where each texel is beyond the corner of a cube.
        """
        if place.whole:
            whole_steps = [axis.astype(np.int64) * STEPS for axis in place.coordinates]
            places = [axis // STEPS for axis in _shifted(whole_steps, place.offsets)]
            if place.steps is not None:  # of a level, the nearest texels
                places = [
                    np.clip(axis, 0, size - 1)
                    for axis, size in zip(places, self.sizes[level], strict=False)
                ]
            whole = self._values(texels, level, place, places)
            if place.steps is not None:
                whole[(place.steps < 0) | (place.steps >= len(self.sizes))] = 0
            if self.geometry == "1d" and not self.linear:
                whole[...] = 0  # hardware reads linear memory only
            return [whole], [], []
        if "cube" in self.geometry:
            return self._around_on_cube(texels, level, place, sampler)
        sizes, modes = self.sizes[level], sampler.modes
        axes, reverse = [], []
        for axis, size, mode in zip(place.coordinates, sizes, modes, strict=False):
            inside, turned = scaled(
                axis.astype(np.float64), size, mode, normalized=sampler.normalized
            )
            axes.append(inside)
            reverse.append(turned)
        if not sampler.linear:
            steps = [np.floor(axis * STEPS).astype(np.int64) for axis in axes]
            places = [axis // STEPS for axis in _shifted(steps, place.offsets)]
            return [self._values(texels, level, place, places, sampler, reverse)], [], []
        if len(axes) == 1:
            axes.append(np.full_like(axes[0], 0.5 if place.layers is not None else 0.0))
        steps = _shifted([steps_from_middle(axis) for axis in axes], place.offsets)
        low = [axis // STEPS for axis in steps]
        found = []
        for corner in range(1 << len(steps)):
            places = _corner(low, corner)
            found.append(self._values(texels, level, place, places, sampler, reverse))
        fractions = [
            fraction(axis, size, mode)
            for axis, size, mode in zip(steps, sizes, modes, strict=False)
        ]
        return found, fractions, []

    def _around_on_cube(
        self, texels: Texels, level: int, place: Place, sampler: Sampler
    ) -> tuple[list[Array], list[Array], list[Array]]:
        face, *places = faced(place.coordinates)
        size = self.sizes[level][0]
        places = [in_texels(axis, size) for axis in places]
        slices = self._slices(place) * FACES
        if not sampler.linear:
            steps = [np.floor(axis * STEPS).astype(np.int64) for axis in places]
            column, row = (axis // STEPS for axis in _shifted(steps, place.offsets))
            return [self._of_cube(texels, (face, column, row), slices, size)], [], []
        steps = _shifted([steps_from_middle(axis) for axis in places], place.offsets)
        low = [axis // STEPS for axis in steps]
        if not sampler.seamless:
            on_face = Place(place.coordinates, slices + face)
            found = [
                self._values(texels, level, on_face, _corner(low, corner), sampler)
                for corner in range(4)
            ]
            fractions = [
                fraction(axis, size, mode) for axis, mode in zip(steps, sampler.modes, strict=False)
            ]
            return found, fractions, []
        found = []
        missing: list[Array] = []
        at_corner = np.logical_and(*((axis < 0) | (axis >= size - 1) for axis in low))
        steps = [np.where(at_corner, np.clip(axis, -STEPS, size * STEPS), axis) for axis in steps]
        low = [axis // STEPS for axis in steps]
        for corner in range(4):
            column, row = _corner(low, corner)
            outside = [(axis < 0) | (axis >= size) for axis in (column, row)]
            missing.append(outside[0] & outside[1])
            found.append(self._of_cube(texels, beyond_edge(face, column, row, size), slices, size))
        if np.any(missing):
            for where in corner_texels(face, low[0], low[1], size):
                found.append(self._of_cube(texels, where, slices, size))
        return found, [axis % STEPS for axis in steps], missing

    def _of_cube(self, texels: Texels, where: Places, slices: Array, size: int) -> Array:
        face, *axes = where
        column, row = (np.clip(axis, 0, size - 1) for axis in axes)
        return self._stored(texels, column, row, slices + face)

    # --- texels ----------------------------------------------------------------------------------

    def _slices(self, place: Place) -> Array:
        """Return the layer of each lane; those out of range are the last."""
        if place.layers is None:
            return np.zeros(len(place.coordinates[0]), dtype=np.int64) + self.first_layer
        layers = place.layers.view(np.uint32).astype(np.int64)
        return np.minimum(layers, self.layers - 1) + self.first_layer

    def _values(
        self,
        texels: Texels,
        level: int,
        place: Place,
        places: list[Array],
        sampler: Sampler | None = None,
        reverse: list[Array] | None = None,
    ) -> Array:
        """Return texels at integer places, as four channels; without a sampler zero beyond T."""
        axes = places + [np.zeros_like(places[0])] * (3 - len(places))
        outside = np.zeros(len(places[0]), dtype=np.bool_)
        inside = []
        for axis, size, dimension in zip(axes, self.sizes[level], range(3), strict=True):
            mode = AddressMode.BORDER if sampler is None else sampler.modes[dimension]
            if dimension >= len(places):
                mode = AddressMode.CLAMP
            turned = reverse[dimension] if reverse and dimension < len(reverse) else None
            index, beyond = in_range(axis, size, mode, turned)
            inside.append(index)
            outside |= beyond
        column, row, slice_ = inside
        if AXES[self.geometry] < 3:
            slice_ = self._slices(place)
            if place.whole and place.layers is not None and place.steps is None:
                outside |= place.layers.view(np.uint32) >= self.layers
            elif "cube" in self.geometry and place.layers is not None:
                slice_ = place.layers  # a face already
        lanes = np.flatnonzero(~outside)
        values = np.zeros((len(outside), CHANNELS), dtype=REGISTERS[texels.dtype.kind])
        with _mapped(lanes):
            values[lanes] = self._stored(texels, column[lanes], row[lanes], slice_[lanes])
        if sampler is not None and outside.any():
            border = np.array(sampler.border, dtype=np.uint32).view(values.dtype)
            values[outside, : texels.channels] = border[: texels.channels]
        return values

    def _stored(self, texels: Texels, column: Array, row: Array, slice_: Array) -> Array:
        values = np.zeros((len(column), CHANNELS), dtype=REGISTERS[texels.dtype.kind])
        values[:, : texels.channels] = texels.at(column, row, slice_)
        return values

    def words(self, texels: Texels, values: Array) -> Array:
        """Return values as in registers: integers as integers or as fractions."""
        if self.promoted:
            fractions = np.maximum(texels.fractions(values), -1.0).astype(np.float32)
            if self.srgb:
                colors = COLORS[texels.channels]
                fractions[:, :colors] = linear_light(values[:, :colors])
            values = fractions
        return np.ascontiguousarray(values).view(np.uint32)


@contextmanager
def _mapped(lanes: Array) -> Iterator[None]:
    """Let the lane of `BeyondMemory` be one of a selection."""
    try:
        yield
    except BeyondMemory as error:
        error.lane = int(lanes[error.lane])
        raise


def _of_lanes(place: Place, lanes: Array) -> Place:
    """Return the places of some lanes."""
    if len(lanes) == len(place.coordinates[0]):
        return place
    return Place(
        [axis[lanes] for axis in place.coordinates],
        None if place.layers is None else place.layers[lanes],
        None if place.offsets is None else [axis[lanes] for axis in place.offsets],
        None if place.steps is None else place.steps[lanes],
        place.whole,
    )


def _corner(low: list[Array], corner: int) -> list[Array]:
    """Return the places of a corner: bit n says whether it is the second one of axis n."""
    return [axis + (corner >> n & 1) for n, axis in enumerate(low)]


def _shifted(places: list[Array], offsets: list[Array] | None) -> list[Array]:
    if offsets is None:
        return places
    moved = [place + shift for place, shift in zip(places, offsets, strict=False)]
    return moved + places[len(moved) :]
