"""Cases of anisotropic footprints: which samples ``tex.grad`` takes, where, and with which weights.

A **tent** has the distance from a texel in its texels, so that an average of samples at both sides
of that texel is the average of their distances. **Stripes** are columns of ones in a channel each:
at the edge between two columns, every channel has the weight of one sample.
"""

from __future__ import annotations

import numpy as np

from tests.golden.sampling.case import (
    BORDER,
    CLAMP,
    FULL_TRILINEAR,
    LINEAR,
    NORMALIZED,
    POINT,
    SEAMLESS,
    WRAP,
    Array,
    Case,
    Resource,
    Sampling,
    words_of,
)

Random = np.random.Generator
_SIDE = 64
_MIDDLE = 32
_FORM = "tex.grad.2d.v4.f32.f32"
_LIMITS = (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 1000)


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(19)
    return [
        *_directions(random), *_counts(random), *_levels(random), *_other(random),
    ]  # fmt: skip


def _tent(side: int = _SIDE, number: int = 0) -> Array:
    """Distances from the texel in the middle, by column and row; their sum; the level's number."""
    rows, columns = np.abs(np.indices((side, side)) - side // 2).astype(np.float32)
    return np.stack([columns, rows, columns + rows, np.full_like(rows, number)], axis=-1)[None]


def _stripes(first: int, axis: int = 1) -> Array:
    made = np.zeros((1, _SIDE, _SIDE, 4), np.float32)
    for channel in range(4):
        np.moveaxis(made, 1 + axis, 0)[_MIDDLE + first + channel, ..., channel] = 1
    return made


def _sampling(most: int, **changes: object) -> Sampling:
    fields = {"filter": LINEAR, "between_levels": LINEAR, "most": 15.0, "anisotropy": most,
              "flags": NORMALIZED | FULL_TRILINEAR}  # fmt: skip
    return Sampling(**{**fields, **changes})  # type: ignore[arg-type]


def _at(x: float, y: float, *vectors: Array) -> Array:
    """Operands: a place, and gradients, in texels."""
    count = max(vector.size for vector in vectors)
    columns = [np.full(count, x), np.full(count, y), *vectors]
    return words_of(*((np.broadcast_to(each, (count,)) / _SIDE).astype(np.float32)
                      for each in columns))  # fmt: skip


def vectors_of(random: Random, count: int, least: float, most: float) -> Array:
    """Random vectors in a plane; the lengths are between two powers of two."""
    angles = random.uniform(0, 2 * np.pi, count)
    lengths = np.exp2(random.uniform(least, most, count))
    vectors: Array = np.stack([np.cos(angles), np.sin(angles)]) * lengths
    return vectors


def _directions(random: Random) -> list[Case]:
    made = []
    tent, none, middle = Resource("2d", (_tent(),)), np.zeros(1), _MIDDLE + 0.5
    angles = np.arange(2048) / 2048 * 2 * np.pi
    for most in (2, 4, 16):
        for length in (32.0, 23.7):
            turning = length * np.cos(angles), length * np.sin(angles)
            operands = _at(middle, middle, *turning, none, none)
            made.append(Case(f"turning{most}_{length}_x", _FORM, tent, operands, _sampling(most)))
        operands = _at(middle, middle, none, none, *turning)
        made.append(Case(f"turning{most}_y", _FORM, tent, operands, _sampling(most)))
        pair = vectors_of(random, 2048, 0, 5), vectors_of(random, 2048, -3, 5)
        operands = _at(middle, middle, *pair[0], *pair[1])
        made.append(Case(f"turning{most}_both", _FORM, tent, operands, _sampling(most)))
    return made


def _counts(random: Random) -> list[Case]:
    """How many samples there are, and the weights of those at one side."""
    made = []
    none, one, edge = np.zeros(1), np.ones(1), float(_MIDDLE + 1)
    lengths = np.arange(64, 20 * 128) / 128
    diagonal = np.sqrt(0.5) * lengths
    pair = vectors_of(random, 2048, -1, 5), vectors_of(random, 2048, -1, 5)
    for name, first in (("near", 1), ("far", 5)):
        columns = Resource("2d", (_stripes(first),))
        rows = Resource("2d", (_stripes(first, axis=0),))
        across = _at(edge, _MIDDLE + 0.5, lengths, none, none, one)
        made += [
            Case(f"count_{name}_x", _FORM, columns, across, _sampling(16)),
            Case(f"count_{name}_y", _FORM, rows,
                 _at(_MIDDLE + 0.5, edge, none, lengths, one, none), _sampling(16)),
            Case(f"count_{name}_diagonal", _FORM, columns,
                 _at(edge, edge, diagonal, diagonal, 0.5 * one, -0.5 * one), _sampling(16)),
            Case(f"count_{name}_minor", _FORM, columns,
                 _at(edge, _MIDDLE + 0.5, 24 * one, none, none, lengths), _sampling(16)),
            Case(f"count_{name}_both", _FORM, columns,
                 _at(edge, _MIDDLE + 0.5, *pair[0], *pair[1]), _sampling(16)),
            Case(f"count_{name}_point", _FORM, columns, across[::4], _sampling(16, filter=POINT)),
        ]  # fmt: skip
        for most in _LIMITS:
            made.append(Case(f"count_{name}_{most}", _FORM, columns, across[::40],
                             _sampling(most)))  # fmt: skip
    return made


def _levels(random: Random) -> list[Case]:
    """Between two levels, and where the level of detail is moved or limited."""
    made = []
    tents = tuple(_tent(_SIDE >> number, number) for number in range(7))
    resource = Resource("2d", tents, mipmapped=True)
    none, middle = np.zeros(1), _MIDDLE + 0.5
    lengths = np.exp2(random.uniform(0, 6, (2, 2048)))
    along = _at(middle, middle, lengths[0], none, none, lengths[1])
    pair = vectors_of(random, 2048, -1, 6), vectors_of(random, 2048, -1, 6)
    places = random.uniform(0, 1, (2, 2048)).astype(np.float32)
    both = _at(middle, middle, *pair[0], *pair[1])
    both[:, :2] = words_of(*places)
    for name, operands in (("along", along), ("both", both)):
        base = Case(f"levels_{name}", _FORM, resource, operands, _sampling(16))
        some = Case("", _FORM, resource, operands[:512], _sampling(16))
        made += [
            base,
            base.with_sampling(f"levels_{name}_4", anisotropy=4),
            base.with_sampling(f"levels_{name}_nearest", between_levels=POINT),
            some.with_sampling(f"levels_{name}_point", filter=POINT),
            some.with_sampling(f"levels_{name}_quick", flags=NORMALIZED),
            some.with_sampling(f"levels_{name}_quick2", flags=NORMALIZED, anisotropy=2),
            some.with_sampling(f"levels_{name}_bias", bias=0.8),
            some.with_sampling(f"levels_{name}_less", bias=-1.3),
            some.with_sampling(f"levels_{name}_least", least=2.3),
            some.with_sampling(f"levels_{name}_most", most=1.6),
        ]
    return made


def _other(random: Random) -> list[Case]:
    """Other texels, address modes and geometries."""
    made = []
    pair = vectors_of(random, 512, -1, 5), vectors_of(random, 512, -1, 5)
    operands = _at(0, 0, *pair[0], *pair[1])
    operands[:, :2] = words_of(*random.uniform(-0.2, 1.2, (2, 512)).astype(np.float32))
    for dtype, mode in (("u1", CLAMP), ("i2", WRAP), ("f2", CLAMP), ("f4", WRAP), ("f4", BORDER)):
        texels = random.integers(0, 100, (1, _SIDE, _SIDE, 4)).astype(dtype)
        made.append(Case(f"anisotropic_{dtype}_{mode}", _FORM, Resource("2d", (texels,)), operands,
                         _sampling(16, modes=(mode,) * 3)))  # fmt: skip
    shapes = {"1d": (1, 1, 64), "a1d": (3, 1, 64), "a2d": (3, 64, 64), "3d": (32, 32, 32),
              "cube": (6, 64, 64), "acube": (12, 64, 64)}  # fmt: skip
    axes = {"1d": 1, "a1d": 1, "a2d": 2, "3d": 3, "cube": 3, "acube": 3}
    for kind, shape in shapes.items():
        texels = random.integers(0, 1000, (*shape, 4)).astype(np.float32)
        vectors = random.standard_normal((2, axes[kind], 512))
        vectors *= np.exp2(random.uniform(-7, -2, (2, 1, 512)))
        at = [random.standard_normal((axes[kind], 512)), *vectors]
        layer = [random.integers(0, 2, 512)] if kind.startswith("a") else []
        floats = [axis.astype(np.float32) for part in at for axis in part]
        flags = NORMALIZED | FULL_TRILINEAR | (SEAMLESS if "cube" in kind else 0)
        made.append(Case(f"anisotropic_{kind}", f"tex.grad.{kind}.v4.f32.f32",
                         Resource(kind, (texels,)), words_of(*layer, *floats),
                         _sampling(16, flags=flags, modes=(WRAP,) * 3)))  # fmt: skip
    return made
