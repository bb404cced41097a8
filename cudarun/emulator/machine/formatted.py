"""``sust.p``: stores of words that become texels of the surface's format (PTX manual 9.7.11.2).

Details follow an H200 (``tests/golden``): integers saturate, and floats are converted as by
`machine.texel_values`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.surfaces import OnSurface
from cudarun.emulator.machine.texel_values import fractions, truncated
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.words import Words

_UNITS = {1: ("u1", 1), 2: ("u2", 1), 4: ("u4", 1), 8: ("u8", 1), 16: ("u8", 2)}
"""The element and the count of an access of each texel size."""


class FormattedStore(OnSurface, MemoryAction):
    """``sust.p``: one texel per lane, at coordinates in texels."""

    def __init__(self, words: Words) -> None:
        self.geometry, self.mode = words["geom"], words["clamp"]
        self.given = words.counts[0]
        self.accesses = tuple(
            Access("global", np.dtype(unit), count, AccessKind.WRITE, 0)
            for unit, count in _UNITS.values()
        )

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Store texels to the arrays of the surfaces."""
        data = sources[1 + self.given :]
        for surface, lanes, addresses in self.placed(active, sources, 0, texels=True):
            if not len(lanes):
                continue
            access = self.accesses[list(_UNITS).index(surface.texel)]
            texels = np.zeros((len(lanes), surface.channels), dtype=surface.dtype)
            for channel, words in enumerate(data[: surface.channels]):
                given = words[lanes].view(np.uint32)
                convert = fractions if surface.normalized else _converted
                texels[:, channel] = convert(given, surface.dtype)
            units = texels.view(access.dtype)
            for view, index, positions in access.locate(active.some(lanes), addresses):
                rows = slice(None) if positions is None else positions
                for place in range(access.count):
                    view[place:][index] = units[rows, place]


def _converted(words: Array, dtype: np.dtype[Any]) -> Array:
    """Return words as channels of a format."""
    if dtype.itemsize == words.itemsize:
        return words.view(dtype)
    if dtype.kind == "f":
        return truncated(words)
    limits = np.iinfo(dtype)
    numbers = words if dtype.kind == "u" else words.view(np.int32)
    saturated: Array = np.clip(numbers, limits.min, limits.max).astype(dtype)
    return saturated
