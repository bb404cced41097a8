"""Instructions on texture objects: ``tex``, ``tld4``, ``txq`` (PTX manual 9.7.10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.textures.addressing import face_gradients, without_corner
from cudarun.emulator.machine.textures.filters import STEPS, WHOLE, weighted
from cudarun.emulator.machine.textures.levels import (
    AnisotropicFootprint,
    footprint,
    gradient_steps,
    lod_steps,
)
from cudarun.emulator.machine.textures.surfaces import ILLEGAL_ADDRESS, by_object
from cudarun.emulator.machine.textures.texels import BeyondMemory, Surface, Texels
from cudarun.emulator.machine.textures.texture import CHANNELS, Place, Texture
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.words import Words

COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
"""The number of coordinates of each geometry, without that of a layer."""


_Detail = Array | AnisotropicFootprint | None


class _OfTexture:
    """An instruction that reads texels; objects may differ by lane."""

    offset_bits = 4
    mode = ""

    def __init__(self, words: Words) -> None:
        self.geometry = words["geom"]
        self.layered = self.geometry.startswith("a")
        self.count = COORDINATES[self.geometry]
        self.whole = words.get("ctype", "f32") == "s32"
        self.sampler = "sampler" in words.given
        self.shift = "e" in words.given
        self.resident = "p" in words.given
        # Vectors of three elements have four.
        self._given = words.counts[1]

    def _read(
        self,
        active: Active,
        sources: Arrays,
        fetch: Callable[[Texture, tuple[Texels, ...], Place], Array],
    ) -> Array:
        """Return what is read by each lane: four words."""
        handles, *rest = sources
        if self.sampler:  # of independent mode; hardware uses that of the texture object
            del rest[0]
        given, rest = rest[: self._given], rest[self._given :]
        textures = active.batch.launch.config.textures
        words = np.zeros((len(handles), CHANNELS), dtype=np.uint32)
        for texture, positions, lane in by_object(active, handles, textures, "texture"):
            if texture.geometry != self.geometry:
                unsuited = f"a .{self.geometry} fetch from a .{texture.geometry} texture"
                raise active.unimplemented(unsuited, lane)
            texels = texture.texels()
            if texels is None:
                raise active.fault(ILLEGAL_ADDRESS, "texture fetch from freed memory", lane)
            if texture.linear and not self.whole:
                continue
            place = self._place(texture, [axis[positions] for axis in given],
                                [operand[positions] for operand in rest])  # fmt: skip
            try:
                words[positions] = fetch(texture, texels, place)
            except BeyondMemory as beyond:
                what = "texture fetch out of bounds of the texture's memory"
                lane = int(np.arange(len(handles))[positions][beyond.lane])
                raise active.fault(ILLEGAL_ADDRESS, what, lane) from None
        return words

    def _place(self, texture: Texture, given: list[Array], rest: list[Array]) -> Place:
        layers = given[0] if self.layered else None
        first = 1 if self.layered else 0
        coordinates = given[first : first + self.count]
        detail = self._detail(texture, coordinates, rest)
        offsets = [_signed(offset, self.offset_bits) for offset in rest] if rest else None
        if offsets and self.geometry == "1d":  # the next bits move the row that a filter reads
            offsets.append(_signed(rest[0].view(np.int32) >> self.offset_bits, self.offset_bits))
        if isinstance(detail, AnisotropicFootprint):
            return Place(coordinates, layers, offsets, detail.steps, footprint=detail)
        return Place(coordinates, layers, offsets, detail, self.whole)

    def _detail(self, texture: Texture, coordinates: list[Array], rest: list[Array]) -> _Detail:
        """Return the level of detail, and remove its operands from the rest."""
        return None


def _signed(offset: Array, bits: int) -> Array:
    """Return offsets as hardware takes them, numbers of few bits with a sign, as steps."""
    half = 1 << (bits - 1)
    signed: Array = ((offset.view(np.int32).astype(np.int64) + half) & (2 * half - 1)) - half
    return signed * STEPS


def _write(destinations: Arrays, words: Array, *, resident: bool, halves: str) -> None:
    if halves:
        numbers = words.view(np.float32)
        with np.errstate(over="ignore"):
            narrow = numbers.astype(np.float16).view(np.uint16)
        if halves == "f16x2":
            columns = [narrow[:, :2], narrow[:, 2:]]
        else:
            columns = [narrow[:, channel] for channel in range(CHANNELS)]
    else:
        columns = [words[:, channel] for channel in range(CHANNELS)]
    values = destinations[:-1] if resident else destinations
    for column, destination in zip(columns, values, strict=False):
        if destination.dtype.itemsize == column.dtype.itemsize:
            column = np.ascontiguousarray(column).view(destination.dtype)
        destination[...] = column
    if resident:  # all textures are
        destinations[-1][...] = True


class Fetch(_OfTexture):
    """``tex``: a vector of four 32-bit channels, or of halves.

    The type of the destination changes no bits of 32: the texture determines them.
    """

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.mode = next((word for word in ("level", "grad") if words.get(word)), "")
        self.halves = words["dtype"] if words["dtype"] in ("f16", "f16x2") else ""
        self._vectors = words.counts[2:]

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Fetch; further coordinates than the texture has dimensions are ignored."""
        words = self._read(active, sources, Texture.fetch)
        _write(destinations, words, resident=self.resident, halves=self.halves)

    def _detail(self, texture: Texture, coordinates: list[Array], rest: list[Array]) -> _Detail:
        if self.mode == "level":
            lod = rest.pop(0)
            return (
                lod.view(np.int32).astype(np.int64)
                if self.whole
                else lod_steps(lod.view(np.float32))
            )
        if self.mode == "grad":
            vectors = [[rest.pop(0) for _ in range(length)] for length in self._vectors[:2]]
            gradients = [[part.view(np.float32) for part in vector[: self.count]]
                         for vector in vectors]  # fmt: skip
            if self.geometry == "3d":  # the driver's code subtracts coordinates of four threads
                gradients = [
                    [(at + part) - at for at, part in zip(coordinates, vector, strict=True)]
                    for vector in gradients
                ]
            sizes: tuple[float, ...] = texture.sizes[0] if texture.sampler.normalized else (1, 1, 1)
            leaves: Array | bool = False
            if "cube" in self.geometry:
                gradients, leaves = face_gradients(coordinates, gradients)
                sizes = (texture.sizes[0][0] / 2,) * 2
            if texture.sampler.anisotropy > 1 and texture.geometry not in ("a1d", "3d"):
                return footprint(gradients, sizes, texture.sampler.anisotropy, leaves)
            return gradient_steps(gradients, sizes, leaves)
        return None


class Gather(_OfTexture):
    """``tld4``: one channel of the four texels that a filter weighs."""

    offset_bits = 6

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.channel = "rgba".index(words["comp"])

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Gather the texels around a place."""
        words = self._read(active, sources, partial(gathered, channel=self.channel))
        _write(destinations, words, resident=self.resident, halves="")


# --- tld4 ----------------------------------------------------------------------------------------

_ORDER = (2, 3, 1, 0)  # of the corners, with x as the faster axis: around the place


def gathered(texture: Texture, texels: tuple[Texels, ...], place: Place, *, channel: int) -> Array:
    """Return a channel of four texels per lane, as words: counterclockwise from the lower left."""
    filtering = replace(texture.sampler, linear=True)
    corners, _, missing = texture.around(texels[0], 0, place, filtering)
    if len(corners) > len(_ORDER) and texels[0].dtype.kind == "f":
        whole = np.full(len(corners[0]), STEPS)
        shares = np.stack(without_corner([whole], [whole > 0])[1:]) * (WHOLE // STEPS)
        average = weighted(np.stack(corners[len(_ORDER) :])[None], texels[0].dtype, shares[None])
        for around, gone in zip(corners, missing, strict=False):
            around[gone] = average[gone]
    words = np.zeros((len(corners[0]), CHANNELS), dtype=np.uint32)
    for column, corner in enumerate(_ORDER):
        words[:, column] = _words(texture, texels[0], corners[corner])[:, channel]
    return words


def _words(texture: Texture, texels: Texels, values: Array) -> Array:
    """Return texels as words: fractions are those of a filter, which have 16 bits."""
    if not texture.promoted or texture.srgb:
        return texture.words(texels, values)
    whole = np.full((1, 1, len(values)), WHOLE)
    fractions = weighted(values[None, None], texels.dtype, whole)
    return np.ascontiguousarray(fractions).view(np.uint32)


class Query:
    """``txq`` and ``suq``: the size of a texture or a surface in texels."""

    def __init__(self, words: Words) -> None:
        self.axis = ("width", "height", "depth").index(words["query"])
        self.level = bool(words.get("level"))

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write the size of each lane's texture or surface."""
        config = active.batch.launch.config
        objects: dict[int, Texture | Surface] = {**config.textures, **config.surfaces}
        for found, positions, _ in by_object(active, sources[0], objects, "texture or surface"):
            destinations[0][positions] = found.size(
                self.axis, sources[1][positions].view(np.int32) if self.level else None
            )
