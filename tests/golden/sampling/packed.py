"""Cases of formats whose elements hold several numbers: blocks of BC1 to BC7, and 10:10:10:2."""

from __future__ import annotations

import numpy as np

from tests.golden.sampling.case import LINEAR, Array, Case, Resource, Sampling, words_of

Random = np.random.Generator
BLOCKS = {
    "bc1": (0x91, 8, 4), "bc1_srgb": (0x92, 8, 4), "bc2": (0x93, 16, 4), "bc2_srgb": (0x94, 16, 4),
    "bc3": (0x95, 16, 4), "bc3_srgb": (0x96, 16, 4), "bc4": (0x97, 8, 1),
    "bc4_signed": (0x98, 8, 1), "bc5": (0x99, 16, 2), "bc5_signed": (0x9A, 16, 2),
    "bc6": (0x9B, 16, 3), "bc6_signed": (0x9C, 16, 3), "bc7": (0x9D, 16, 4),
    "bc7_srgb": (0x9E, 16, 4),
}  # fmt: skip
"""The ``CUarray_format``, the bytes of a block of 4 by 4 texels, and the channels."""
_SIDE = 24  # blocks
_TENS = 0x50
_SMOOTH = Sampling(filter=LINEAR)
_SOME = slice(None, None, 7)  # of all texels; an H200 was compared in all of them once


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(17)
    made = []
    for name, (format_, bytes_, channels) in BLOCKS.items():
        blocks = random.integers(0, 256, (1, _SIDE, _SIDE, bytes_)).astype(np.uint8)
        if name.startswith("bc7"):  # the mode is the number of zeros below the first one
            mode = random.integers(0, 9, (1, _SIDE, _SIDE))
            blocks[..., 0] = (blocks[..., 0] << mode + 1) | 1 << mode
        resource = Resource("2d", (blocks,), format=format_, block=4, packed=channels)
        made += _fetches(random, name, resource, 4 * _SIDE)
    words = random.integers(0, 1 << 32, (1, 32, 32, 1), dtype=np.uint32)
    words.reshape(-1)[:4] = 0, 0xFFFFFFFF, 0xC0000000, 0x3FFFFFFF
    resource = Resource("2d", (words,), format=_TENS, packed=4)
    return made + _fetches(random, "tens", resource, 32)


def _fetches(random: Random, name: str, resource: Resource, side: int) -> list[Case]:
    rows, columns = np.divmod(np.arange(side * side), side)
    middles: Array = words_of(columns + np.float32(0.5), rows + np.float32(0.5))
    places = words_of(*random.uniform(-1, side + 1, (2, 1024)).astype(np.float32))[:512]
    form = "tex.2d.v4.f32.f32"
    return [
        Case(f"{name}_point", form, resource, middles[_SOME]),
        Case(f"{name}_linear", form, resource, places, _SMOOTH),
    ]
