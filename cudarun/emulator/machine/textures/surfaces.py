"""Surfaces: ``suld``, ``sust``, ``sured`` and ``suq`` (PTX manual 9.7.11).

A surface access is an access of global memory: to the bytes of an array, at addresses that
coordinates determine. The detectors see it as such. What ``sust.p`` stores follows an H200
(``tests/golden``): integers saturate.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.textures.texels import Surface, fractions, truncated
from cudarun.emulator.numerics.arrays import Array, Arrays, DType, distinct
from cudarun.emulator.words import Words

Positions = slice | npt.NDArray[np.intp]
Object = TypeVar("Object")
ILLEGAL_ADDRESS = 700
_MISALIGNED_ADDRESS = 716
AXES = {"1d": "x", "2d": "xy", "3d": "xyz", "a1d": "zx", "a2d": "zxy"}
"""The coordinates of each geometry; a layer is a slice."""


def by_object(
    active: Active, handles: Array, objects: Mapping[int, Object], kind: str
) -> Iterator[tuple[Object, Positions, int]]:
    """Yield each object, the active lanes that use it, and the first of those."""
    is_one = bool((handles == handles[0]).all())  # the usual case
    for handle in handles[:1] if is_one else distinct(handles):
        positions = slice(None) if is_one else np.flatnonzero(handles == handle)
        first = 0 if isinstance(positions, slice) else int(positions[0])
        found = objects.get(int(handle))
        if found is None:
            detail = f"{int(handle):#x} is not a {kind} object of this context"
            raise active.fault(ILLEGAL_ADDRESS, f"invalid {kind} object", first, detail)
        yield found, positions, first


class OnSurface:
    """An instruction on surface objects, which may differ by lane."""

    def __init__(self, words: Words) -> None:
        self.geometry, self.mode = words["geom"], words["clamp"]

    def placed(
        self, active: Active, sources: Arrays, size: int, *, texels: bool = False
    ) -> Iterator[tuple[Surface, Array, Array]]:
        """Yield for each surface the lanes in range that access it, and their addresses.

        Raises:
            DeviceFault: An access is out of range, and the mode is ``trap``.
        """
        handles, *coordinates = sources[: 1 + len(AXES[self.geometry])]
        lanes = np.arange(len(handles))
        surfaces = active.batch.launch.config.surfaces
        for surface, positions, first in by_object(active, handles, surfaces, "surface"):
            if surface.geometry != self.geometry:
                what = f"a .{self.geometry} access to a .{surface.geometry} surface"
                raise active.unimplemented(what, first)
            some = lanes[positions]
            axes = {
                axis: coordinate[positions].view(np.int32).astype(np.int64)
                for axis, coordinate in zip(AXES[self.geometry], coordinates, strict=True)
            }
            if texels:
                axes["x"] *= surface.texel
            addresses, inside = surface.places(axes, size or surface.texel, self.mode)
            if self.mode == "trap" and not inside.all():
                lane = int(some[np.argmin(inside)])
                wrong = int(np.argmin(inside))
                place = ", ".join(f"{axis}={given[wrong]}" for axis, given in axes.items())
                detail = f"{place} is out of range of {_named(surface)}"
                raise active.fault(ILLEGAL_ADDRESS, "surface access out of range", lane, detail)
            misaligned = axes["x"] % (size or 1) != 0
            if misaligned.any():  # out of range, too
                lane = int(some[np.argmax(misaligned)])
                what = f"misaligned address in a {size}-byte surface access"
                raise active.fault(_MISALIGNED_ADDRESS, what, lane)
            if inside.any():
                yield surface, some[inside], addresses[inside]


def _named(surface: Surface) -> str:
    slices, rows, columns = surface.extent
    width = columns * surface.texel
    return f"a .{surface.geometry} surface of {slices} slices of {rows} rows of {width} bytes"


class SurfaceLoad(OnSurface, MemoryAction):
    """``suld.b``: elements at a byte offset in a row; zeros where out of range."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.accesses = (_access(words, AccessKind.READ),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Load from the arrays of the surfaces."""
        for column in destinations:
            column[...] = 0
        (access,) = self.accesses
        for _, lanes, addresses in self.placed(active, sources, access.bytes):
            rows = access.load(active.some(lanes), addresses)
            for column, values in zip(destinations, rows.T, strict=True):
                column[lanes] = values


class SurfaceStore(OnSurface, MemoryAction):
    """``sust.b``: elements at a byte offset in a row; ignored where out of range."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.given = words.counts[0]  # a vector of three coordinates has four elements
        self.accesses = (_access(words, AccessKind.WRITE),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Store to the arrays of the surfaces."""
        (access,) = self.accesses
        values = np.stack(sources[1 + self.given :], axis=1).astype(access.dtype)
        for _, lanes, addresses in self.placed(active, sources, access.bytes):
            access.store(active.some(lanes), addresses, values[lanes])


_UNITS = {1: ("u1", 1), 2: ("u2", 1), 4: ("u4", 1), 8: ("u8", 1), 16: ("u8", 2)}
"""The element and the count of an access of each texel size."""


class FormattedStore(OnSurface, MemoryAction):
    """``sust.p``: one texel per lane, at coordinates in texels."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.given = words.counts[0]
        self.accesses = tuple(
            Access("global", np.dtype(unit), count, AccessKind.WRITE, 0)
            for unit, count in _UNITS.values()
        )

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Store texels to the arrays of the surfaces."""
        data = sources[1 + self.given :]
        for surface, lanes, addresses in self.placed(active, sources, 0, texels=True):
            access = self.accesses[list(_UNITS).index(surface.texel)]
            texels = np.zeros((len(lanes), surface.channels), dtype=surface.dtype)
            for channel, words in enumerate(data[: surface.channels]):
                given = words[lanes].view(np.uint32)
                convert = fractions if surface.normalized else _converted
                texels[:, channel] = convert(given, surface.dtype)
            access.store(active.some(lanes), addresses, texels.view(access.dtype))


class SurfaceReduction(OnSurface, MemoryAction):
    """``sured``: an atomic operation without result; that of a texel has the surface's sign."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.texels = words["how"] == "p"
        bits = words["type"][1:]
        types = (f"u{bits}", f"s{bits}") if self.texels else (words["type"],)
        self.operations = tuple(_atomic(words, type_) for type_ in types)
        self.accesses = tuple(operation.accesses[0] for operation in self.operations)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Combine words of the arrays with operands."""
        data = sources[-1]
        placed = self.placed(active, sources, self.accesses[0].bytes, texels=self.texels)
        for surface, lanes, addresses in placed:
            if self.texels and surface.texel != self.accesses[0].bytes:
                raise active.unimplemented(f"sured.p of texels of {surface.texel} bytes", 0)
            chosen = int(self.texels and surface.dtype.kind == "i")
            operation = copy.copy(self.operations[chosen])
            operation.accesses = (self.accesses[chosen],)
            operation(active.some(lanes), (addresses, data[lanes]), ())


def _atomic(words: Words, type_: str) -> Atomic:
    """Return the atomic operation on global memory of the same name and another type."""
    bits = words["op"] in ("and", "or")
    given = Words({**words, "space": "global", "type": f"b{type_[1:]}" if bits else type_})
    given.offsets = [0]
    made = Atomic(given)
    made.without_result()
    return made


def _access(words: Words, kind: AccessKind) -> Access:
    vector = words.get("vec")
    return Access("global", words.type.dtype, int(vector[1:]) if vector else 1, kind, 0)


def _converted(words: Array, dtype: DType) -> Array:
    """Return words as channels of a format."""
    if dtype.itemsize == words.itemsize:
        return words.view(dtype)
    if dtype.kind == "f":
        return truncated(words)
    limits = np.iinfo(dtype)
    numbers = words if dtype.kind == "u" else words.view(np.int32)
    saturated: Array = np.clip(numbers, limits.min, limits.max).astype(dtype)
    return saturated
