"""Fetches against the programming guide's formulas, in fractions and one texel at a time.

Texels are whole numbers, so that sums are exact: how those of others are rounded was recorded on
hardware (`tests/golden/test_textures.py`).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest

from cudarun.emulator.machine.textures.addressing import AddressMode
from cudarun.emulator.machine.textures.texels import Texels
from cudarun.emulator.machine.textures.texture import Place, Sampler, Texture

MODES = ("wrap", "clamp", "mirror", "border")
ALL = [*product(MODES), *product(MODES, MODES)]
CASES = [
    *((True, modes) for modes in ALL),
    # the driver makes the other two clamp
    *((False, modes) for modes in ALL if not {"wrap", "mirror"} & set(modes)),
]
RANDOM = np.random.default_rng(20261122)
HEIGHT, WIDTH = 5, 13


def in_range(x: Fraction, size: int, mode: str, *, normalized: bool) -> tuple[Fraction, bool]:
    """A coordinate in texels: appendix "Texture Fetching"; a border is told by the texel.

    In a mirror the texels are in reverse order.
    """
    if not normalized:
        return x, False
    mirrored = mode == "mirror" and floor(x) % 2 == 1
    if mode in ("wrap", "mirror"):
        x -= floor(x)
    return Fraction(floor(x * 2**21), 2**21) * size, mirrored  # as many bits as hardware has


def texel(texels: np.ndarray, places: list[int], modes: list[str], mirrored: list[bool]) -> int:
    """T[i], or T[j, i], where i and j may lie outside by one step or more."""
    inside = []
    for place, size, mode, reverse in zip(places, texels.shape[::-1], modes, mirrored, strict=True):
        if mode == "border" and not 0 <= place < size:
            return 0
        if mode == "wrap" and place in (-1, size):
            place %= size
        place = min(max(place, 0), size - 1)
        inside.append(size - 1 - place if reverse else place)
    return int(texels[tuple(reversed(inside))])


def nearest(texels: np.ndarray, at: list[Fraction], modes: list[str], mirrored: list[bool]) -> int:
    return texel(texels, [floor(x) for x in at], modes, mirrored)


def filtered(
    texels: np.ndarray, at: list[Fraction], modes: list[str], mirrored: list[bool]
) -> Fraction:
    """The formula in two dimensions, which is what a filter always has."""
    if len(at) == 1:  # one row, half of which is the one before it
        texels, at, mirrored = texels.reshape(1, -1), [*at, Fraction(0)], [*mirrored, False]
    steps = [floor((x - Fraction(1, 2)) * 256 + Fraction(1, 2)) for x in at]
    i, j = (step // 256 for step in steps)
    right, below = (Fraction(step % 256, 256) for step in steps)
    both = Fraction(floor(right * below * 256 + Fraction(1, 2)), 256)  # weights of 8 bits
    return (
        (1 - right - below + both) * texel(texels, [i, j], modes, mirrored)
        + (right - both) * texel(texels, [i + 1, j], modes, mirrored)
        + (below - both) * texel(texels, [i, j + 1], modes, mirrored)
        + both * texel(texels, [i + 1, j + 1], modes, mirrored)
    )


def coordinates(size: int, *, normalized: bool) -> np.ndarray:
    """Some of chance, some at the edges of texels and in their middle."""
    anywhere = RANDOM.uniform(-2.5 * size, 3.5 * size, 300)
    edges = np.arange(-size, 2 * size + 1)
    found = np.concatenate([anywhere, edges, edges + 0.5, edges + 0.25])
    return (found / size if normalized else found).astype(np.float32)


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize(("normalized", "modes"), CASES)
def test_by_the_formulas(modes: tuple[str, ...], normalized: bool, linear: bool) -> None:
    shape = (HEIGHT, WIDTH)[2 - len(modes) :]
    # whole numbers, so that sums of weights of 8 bits have no more digits than a float
    texels = RANDOM.integers(-99, 99, shape)
    data = texels.astype(np.float32).view(np.uint8).ravel()
    level = Texels(data, np.dtype(np.float32), 1, WIDTH * 4)
    second = ("clamp", "border")[len(modes) == 1 and linear]  # seen by the filter of a line, too
    numbers = [AddressMode[mode.upper()] for mode in (*modes, second)[:2]]
    sampler = Sampler(
        (numbers[0], numbers[1], AddressMode.CLAMP), linear=linear, normalized=normalized
    )
    size = (WIDTH, HEIGHT if len(modes) == 2 else 1, 1)
    texture = Texture(lambda: (level,), (size,), f"{len(modes)}d", sampler)
    given = [coordinates(size, normalized=normalized) for size in shape[::-1]]
    count = min(map(len, given))
    given = [RANDOM.permutation(axis)[:count] for axis in given]
    words = texture.fetch((level,), Place(given))
    assert words.shape == (count, 4)
    got = words[:, 0].copy().view(np.float32)
    for lane in range(count):
        places = [
            in_range(Fraction(float(axis[lane])), size, mode, normalized=normalized)
            for axis, size, mode in zip(given, shape[::-1], modes, strict=True)
        ]
        at, mirrored = [place for place, _ in places], [turned for _, turned in places]
        known = [*modes, second] if linear else list(modes)
        wanted = (filtered if linear else nearest)(texels, at, known[:2], mirrored)
        assert Fraction(float(got[lane])) == wanted, [float(axis[lane]) for axis in given]
