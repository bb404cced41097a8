"""Cases of anisotropic footprints between levels, in cubes, and of samplers that move levels.

A level of each texture is **alone** in a channel: the others have zeros in it. So a channel has the
share of its level. **Ramps** begin at one side of the middle of a level, where the places are, so
that they add distances of the samples at that side. **Stripes** are columns of ones in a channel
each: their shares are those of single samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests.golden.sampling.anisotropy import vectors_of
from tests.golden.sampling.case import (
    BORDER,
    FULL_TRILINEAR,
    INTEGER,
    LINEAR,
    MIRROR,
    NORMALIZED,
    POINT,
    SEAMLESS,
    SRGB,
    WRAP,
    Array,
    Case,
    Resource,
    Sampling,
    words_of,
)

Random = np.random.Generator
_SIDE = 64
_LEVELS = 7
_FORM = "tex.grad.2d.v4.f32.f32"
_BASE = Sampling(filter=LINEAR, between_levels=LINEAR, most=15.0, anisotropy=16,
                 flags=NORMALIZED | FULL_TRILINEAR)  # fmt: skip
_MOVED: dict[str, dict[str, float | int]] = {
    "nearest": {"between_levels": POINT},
    "quick": {"flags": NORMALIZED},
    "more": {"bias": 0.8},
    "less": {"bias": -1.3},
    "bit": {"bias": 0.05},
    "least": {"least": 1.6},
    "half": {"least": 0.4},
    "most": {"most": 1.6},
    "first": {"most": 0.3},
    "nearest_more": {"between_levels": POINT, "bias": 0.8},
    "nearest_less": {"between_levels": POINT, "bias": -1.3},
    "nearest_least": {"between_levels": POINT, "least": 1.6},
    "nearest_most": {"between_levels": POINT, "most": 1.6},
    "both_moved": {"bias": 0.7, "least": 0.9, "most": 2.2},
}
"""What a sampler changes."""


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(35)
    return [
        *_swept(), *_turned(random), *_any_texels(random), *_in_cubes(random),
        *_of_one_level(random), *_quick(), *_rounded(), *_in_corners(), *_extreme(),
    ]  # fmt: skip


def _plane(level: int, *channels: Array) -> Resource:
    """Levels of a square; the channels of one level, and zeros in the others."""
    levels = [np.zeros((1, _SIDE >> each, _SIDE >> each, 4), np.float32)
              for each in range(_LEVELS)]  # fmt: skip
    for channel, texels in enumerate(channels):
        levels[level][0, ..., channel] = texels
    return Resource("2d", tuple(levels), mipmapped=True)


def _alone(make: str) -> Resource:
    """A channel for each of the first levels."""
    levels = []
    for number in range(_LEVELS):
        side = _SIDE >> number
        made = np.zeros((1, side, side, 4), np.float32)
        if number < 4:
            rows, columns = np.indices((side, side)) - side // 2
            made[0, ..., number] = {
                "ones": np.ones((side, side)),
                "right": np.maximum(columns + 1, 0),
                "left": np.maximum(-columns, 0),
                "below": np.maximum(rows + 1, 0),
            }[make]
        levels.append(made)
    return Resource("2d", tuple(levels), mipmapped=True)


def _stripes(level: int, first: int) -> Resource:
    side = _SIDE >> level
    columns = np.arange(side) - side // 2
    lit = [np.broadcast_to(columns == first + each, (side, side)) for each in range(4)]
    return _plane(level, *lit)


def _at(x: float, y: float, *vectors: Array, sizes: Sequence[int] = (_SIDE, _SIDE)) -> Array:
    """Operands: a normalized place, and gradients in texels."""
    count = max(vector.size for vector in vectors)
    columns = [np.full(count, x), np.full(count, y)]
    for number, vector in enumerate(vectors):
        columns.append(np.broadcast_to(vector, (count,)) / sizes[number % len(sizes)])
    return words_of(*(column.astype(np.float32) for column in columns))


def _swept() -> list[Case]:
    """Samples along rows, for all levels of detail from 0 to 1, by numbers of samples."""
    made = []
    details = (np.arange(256) + 0.5) / 256
    ratios = np.array([1.15, 1.4, 1.7, 1.95, 2.1, 2.6, 3.2, 4.1, 5.3, 6.7, 9.5, 14, 24])
    minor = np.exp2(np.tile(details, len(ratios)))
    major = minor * np.repeat(ratios, len(details))
    none = np.zeros(1)
    operands = _at(0.5, 0.5, major, none, none, minor)
    some = _at(0.5, 0.5, major[::4], none, none, minor[::4])
    farther = _at(0.5, 0.5, 2 * major[::4], none, none, 2 * minor[::4])
    for level, first in ((0, 0), (0, 4), (0, 8), (0, 12), (1, 0), (1, 4), (0, -4), (1, -4)):
        stripes = _stripes(level, first)
        base = Case(f"between_{level}_{first}", _FORM, stripes, operands, _BASE)
        made.append(base)
        for limit in (2, 4, 8, 10):
            narrow = Case("", _FORM, stripes, some, _BASE)
            if first < limit * 2:
                made.append(narrow.with_sampling(f"between_{level}_{first}_{limit}",
                                                 anisotropy=limit))  # fmt: skip
    for level, first in ((1, 0), (1, 4), (2, 0)):
        made.append(Case(f"farther_{level}_{first}", _FORM, _stripes(level, first), farther, _BASE))
    for name in ("nearest", "quick", "more", "less", "least", "half", "most", "first"):
        for level, first in ((0, 0), (1, 0), (2, 0)):
            base = Case("", _FORM, _stripes(level, first), some, _BASE)
            made.append(base.with_sampling(f"between_{level}_{first}_{name}", **_MOVED[name]))
    return made


def _turned(random: Random) -> list[Case]:
    """Weights and distances of random gradients, by level."""
    made = []
    pair = [*vectors_of(random, 1024, -1, 5.5), *vectors_of(random, 1024, -1, 4)]
    operands = _at(0.5, 0.5, *pair)
    for make in ("ones", "right", "left", "below"):
        base = Case(f"turned_{make}", _FORM, _alone(make), operands, _BASE)
        made += [base, base.with_sampling(f"turned_{make}_4", anisotropy=4)]
        fewer = Case("", _FORM, _alone(make), operands[:384], _BASE)
        made += [fewer.with_sampling(f"turned_{make}_{limit}", anisotropy=limit)
                 for limit in (2, 6, 8, 12)]  # fmt: skip
        if make != "left":
            made += [fewer.with_sampling(f"turned_{make}_{name}", **moved)
                     for name, moved in _MOVED.items()]  # fmt: skip
    return made


def _any_levels(
    random: Random, kind: str, sizes: tuple[int, int, int], count: int, dtype: str = "f4"
) -> Resource:
    """Levels of random integers."""
    depth, rows, columns = sizes
    levels = []
    for number in range(count):
        shape = [depth if kind != "3d" else max(depth >> number, 1), max(rows >> number, 1),
                 max(columns >> number, 1), 4]  # fmt: skip
        levels.append(random.integers(0, 120, shape).astype(dtype))
    return Resource(kind, tuple(levels), mipmapped=True)


def _any_texels(random: Random) -> list[Case]:
    """Random texels and places."""
    made = []
    for name, sizes, levels in (("square", (64, 64), 7), ("two", (64, 64), 2),
                                ("three", (64, 64), 3), ("wide", (16, 128), 7),
                                ("odd", (60, 100), 5)):  # fmt: skip
        resource = _any_levels(random, "2d", (1, *sizes), levels)
        pair = [*vectors_of(random, 512, -1, 5.5), *vectors_of(random, 512, -1, 4)]
        operands = _at(0, 0, *pair, sizes=sizes[::-1])
        operands[:, :2] = words_of(*random.uniform(-0.2, 1.2, (2, 512)).astype(np.float32))
        base = Case(f"any_{name}", _FORM, resource, operands, _BASE)
        made.append(base)
        made += [base.with_sampling(f"any_{name}_{limit}", anisotropy=limit)
                 for limit in (2, 3, 4, 8, 10)]  # fmt: skip
        some = _MOVED if name == "square" else ("nearest", "quick", "bit", "least", "most")
        made += [base.with_sampling(f"any_{name}_{each}", **_MOVED[each]) for each in some]
        made += [
            base.with_sampling(f"any_{name}_point", filter=POINT),
            base.with_sampling(f"any_{name}_wrap", modes=(WRAP,) * 3),
            base.with_sampling(f"any_{name}_border", modes=(BORDER,) * 3),
        ]
    for dtype in ("u1", "u2", "f2"):
        resource = _any_levels(random, "2d", (1, 64, 64), 7, dtype)
        made.append(Case(f"any_{dtype}", _FORM, resource, operands, _BASE))
    for kind, shape in (("1d", (1, 1, 64)), ("a1d", (3, 1, 64)), ("a2d", (3, 64, 64)),
                        ("3d", (32, 32, 32))):  # fmt: skip
        axes = int(kind[-2])
        vectors = random.standard_normal((2, axes, 512))
        vectors *= np.exp2(random.uniform(-6, -1, (2, 1, 512)))
        at = [random.uniform(0, 1, (axes, 512)), *vectors]
        layer = [random.integers(0, 2, 512)] if kind.startswith("a") else []
        floats = [axis.astype(np.float32) for part in at for axis in part]
        resource = _any_levels(random, kind, shape, 6)
        operands = words_of(*layer, *floats)
        base = Case(f"any_{kind}", f"tex.grad.{kind}.v4.f32.f32", resource, operands, _BASE)
        made += [base, base.with_sampling(f"any_{kind}_4", anisotropy=4),
                 base.with_sampling(f"any_{kind}_nearest", between_levels=POINT)]  # fmt: skip
    return made


def _in_cubes(random: Random) -> list[Case]:
    """The middle of a face and random directions, in one level and several."""
    made = []
    ramps, numbers = [], []
    for number in range(_LEVELS):
        side = _SIDE >> number
        rows, columns = np.indices((side, side)) - side // 2
        face = np.stack([columns + 1, -columns, rows + 1, -rows], axis=-1).clip(0)
        ramps.append(np.broadcast_to(face, (6, side, side, 4)).astype(np.float32))
        lit = np.zeros((6, side, side, 4), np.float32)
        if number < 4:
            lit[..., number] = 1
        numbers.append(lit)
    places = [np.indices((6, _SIDE, _SIDE)), np.zeros((1, 6, _SIDE, _SIDE))]
    which = np.moveaxis(np.concatenate(places), 0, -1)[..., [2, 1, 0, 3]].astype(np.float32)
    which[..., 3] = which[..., 2] * 8 + (which[..., 0] > 31)
    count = 768
    vectors = random.standard_normal((2, count, 3)) * np.exp2(random.uniform(-7, -1, (2, count, 1)))
    flat = vectors * np.array([1, 1, 0])
    faces = np.zeros((count, 3))
    faces[np.arange(count), np.arange(count) % 3] = np.where(np.arange(count) // 3 % 2, -1, 1)
    front = np.broadcast_to(np.array([0.0, 0.0, 1.0]), (count, 3))
    anywhere = random.standard_normal((count, 3))
    edges = faces + np.roll(faces, 1, axis=1) * random.uniform(0.8, 1.2, (count, 1))
    edges += np.roll(faces, 2, axis=1) * random.uniform(-1.1, 1.1, (count, 1))
    smooth = NORMALIZED | FULL_TRILINEAR | SEAMLESS
    textures = {"ramps": tuple(ramps), "numbers": tuple(numbers), "which": (which,),
                "any": _any_levels(random, "cube", (6, 64, 64), 7).levels}  # fmt: skip
    for name, at, gradients, kinds in (
        ("front", front, flat, ("ramps", "numbers")),
        ("faces", faces, vectors, ("ramps", "numbers")),
        ("anywhere", anywhere, vectors, ("numbers", "which", "any")),
        ("edges", edges, vectors, ("numbers", "which", "any")),
    ):
        operands = words_of(*(axis.astype(np.float32) for part in (at, *gradients)
                              for axis in part.T))  # fmt: skip
        for kind in kinds:
            for levels in (1, 7):
                if kind in ("numbers", "which") and levels != len(textures[kind]):
                    continue
                resource = Resource("cube", textures[kind][:levels], mipmapped=levels > 1)
                base = Case(f"cube_{name}_{kind}_{levels}", "tex.grad.cube.v4.f32.f32", resource,
                            operands, _BASE)  # fmt: skip
                made += [
                    base.with_sampling(f"{base.name}_{limit}", anisotropy=limit, flags=smooth)
                    for limit in (2, 4, 16)
                ]
                if kind != "numbers":
                    made.append(base.with_sampling(f"{base.name}_apart"))
    resource = Resource("acube", _any_levels(random, "acube", (12, 64, 64), 7).levels)
    operands = words_of(random.integers(0, 2, count), *(axis.astype(np.float32)
                        for part in (anywhere, *vectors) for axis in part.T))  # fmt: skip
    base = Case("cubes_any", "tex.grad.acube.v4.f32.f32", resource, operands, _BASE)
    return [*made, base.with_sampling("cubes_any", flags=smooth)]


def _of_one_level(random: Random) -> list[Case]:
    """Other coordinates and texels: what a filter of one level refuses."""
    made = []
    pair = [*vectors_of(random, 512, -1, 5), *vectors_of(random, 512, -1, 4)]
    operands = _at(0, 0, *pair)
    operands[:, :2] = words_of(*random.uniform(-1.2, 2.2, (2, 512)).astype(np.float32))
    base = Case("", _FORM, Resource("2d", (random.integers(0, 255, (1, 64, 64, 4))
                .astype(np.float32),)), operands, _BASE)  # fmt: skip
    made += [
        base.with_sampling("one_mirror", modes=(MIRROR,) * 3),
        base.with_sampling("one_mirror_point", modes=(MIRROR,) * 3, filter=POINT),
        base.with_sampling("one_more", bias=0.8),
        base.with_sampling("one_less", bias=-1.3),
        base.with_sampling("one_least", least=0.7),
        base.with_sampling("one_least_less", least=0.7, bias=-1.3, most=0.2),
    ]
    texels = operands.view(np.float32) * _SIDE
    whole = Case("", _FORM, base.resource, words_of(*texels.T), _BASE)
    made.append(whole.with_sampling("one_in_texels", flags=FULL_TRILINEAR))
    for dtype in ("u1", "i1", "u2", "i2"):
        limits = np.iinfo(dtype)
        bits = random.integers(limits.min, limits.max, (1, 64, 64, 4)).astype(dtype)
        of_integers = Case("", _FORM, Resource("2d", (bits,)), operands, _BASE)
        made += [
            of_integers.with_sampling(f"one_{dtype}"),
            of_integers.with_sampling(f"one_{dtype}_point", filter=POINT),
        ]
        if dtype == "u1":
            made.append(of_integers.with_sampling("one_srgb", flags=_BASE.flags | SRGB))
            made.append(of_integers.with_sampling("one_srgb_point", filter=POINT,
                                                  flags=_BASE.flags | SRGB))  # fmt: skip
        kind = "u32" if dtype[0] == "u" else "s32"
        made.append(Case(f"one_{dtype}_integer", f"tex.grad.2d.v4.{kind}.f32",
                         of_integers.resource, operands,
                         Sampling(anisotropy=16, flags=NORMALIZED | INTEGER)))  # fmt: skip
    offsets = np.zeros((512, 2), np.int64)
    offsets[:] = random.integers(-8, 8, (512, 2))
    made.append(Case("one_offset", _FORM, base.resource, words_of(*operands.view(np.float32).T,
                     *offsets.T), _BASE, more="offset"))  # fmt: skip
    return made


def _quick() -> list[Case]:
    """The share of the second level where the filter between levels is optimized."""
    made = []
    details = (np.arange(384) + 0.5) / 256
    minor, none = np.exp2(np.tile(details, 2)), np.zeros(1)
    major = minor * np.repeat([1.2, 3.3], len(details))
    operands = _at(0.5, 0.5, major, none, none, minor)
    given = operands.view(np.float32)
    base = Case("", _FORM, _alone("ones"), operands, _BASE)
    for limit in (0, 1, 2, 3, 4, 6, 8, 10, 12, 16):
        made.append(base.with_sampling(f"quick_{limit}", anisotropy=limit, flags=NORMALIZED))
    levels = words_of(given[:, 0], given[:, 1], np.tile(details, 2))
    of_level = Case("", "tex.level.2d.v4.f32.f32", _alone("ones"), levels, _BASE)
    made += [
        base.with_sampling("quick_moved", flags=NORMALIZED, bias=0.3, least=0.2, most=1.6),
        base.with_sampling("quick_point", flags=NORMALIZED, filter=POINT),
        of_level.with_sampling("quick_level", flags=NORMALIZED),
        of_level.with_sampling("quick_level_2", flags=NORMALIZED, anisotropy=2),
    ]
    for kind in ("1d", "a1d", "a2d", "3d", "cube"):
        axes = int(kind[-2]) if kind != "cube" else 3
        ones = _alone("ones").levels
        shape = {"1d": (1, 1), "a1d": (2, 1), "a2d": (2, 64), "3d": (64, 64), "cube": (6, 64)}
        depth, rows = shape[kind]
        resource = Resource(kind, tuple(
            np.broadcast_to(level[0, 0, 0], (max(depth >> number, 1) if kind == "3d" else depth,
                                             max(rows >> number, 1), _SIDE >> number, 4)).copy()
            for number, level in enumerate(ones)), mipmapped=True)  # fmt: skip
        layer = [np.zeros(768, np.int64)] if kind.startswith("a") else []
        at = np.full((axes, 768), 0.01 if kind == "cube" else 0.5, np.float32)
        if kind == "cube":
            at[2] = 1
        vectors = np.zeros((2, axes, 768), np.float32)
        scale = _SIDE / 2 if kind == "cube" else _SIDE
        vectors[0, 0] = major / scale
        vectors[1, 1 % axes] = minor / scale
        made.append(Case(f"quick_{kind}", f"tex.grad.{kind}.v4.f32.f32", resource,
                         words_of(*layer, *at, *vectors[0], *vectors[1]),
                         Sampling(filter=LINEAR, between_levels=LINEAR, most=15.0, anisotropy=16,
                                  flags=NORMALIZED)))  # fmt: skip
        made.append(made[-1].with_sampling(f"full_{kind}", flags=NORMALIZED | FULL_TRILINEAR))
    return made


def _rounded() -> list[Case]:
    """Texels that use all bits of their format."""
    random = np.random.default_rng(36)
    made = []
    pair = [*vectors_of(random, 512, -1, 5.5), *vectors_of(random, 512, -1, 4)]
    operands = _at(0, 0, *pair)
    operands[:, :2] = words_of(*random.uniform(0, 1, (2, 512)).astype(np.float32))
    for dtype in ("f4", "f2", "u1", "i1", "u2", "i2"):
        levels = []
        for number in range(_LEVELS):
            shape = (1, _SIDE >> number, _SIDE >> number, 4)
            if dtype[0] == "f":
                texels = random.standard_normal(shape) * np.exp2(random.uniform(-6, 6, shape))
            else:
                limits = np.iinfo(dtype)
                texels = random.integers(limits.min, limits.max, shape, endpoint=True)
            levels.append(texels.astype(dtype))
        for count in (1, _LEVELS):
            resource = Resource("2d", tuple(levels[:count]), mipmapped=count > 1)
            base = Case(f"rounded_{dtype}_{count}", _FORM, resource, operands, _BASE)
            made += [base, base.with_sampling(f"{base.name}_point", filter=POINT)]
            if dtype[0] == "f":
                made.append(base.with_sampling(f"{base.name}_4", anisotropy=4))
            if dtype == "u1":
                for name, changes in (("", {}), ("_point", {"filter": POINT}),
                                      ("_4", {"anisotropy": 4})):  # fmt: skip
                    named = f"rounded_srgb_{count}{name}"
                    made.append(base.with_sampling(named, flags=_BASE.flags | SRGB, **changes))
            if dtype in ("u1", "i2"):
                kind = "u32" if dtype[0] == "u" else "s32"
                whole = Sampling(anisotropy=16, most=15.0, flags=_BASE.flags | INTEGER)
                for between in (POINT, LINEAR) if count > 1 else ():
                    sampling = replace(whole, between_levels=between)
                    name, form = f"rounded_{dtype}_integer_{between}", f"tex.grad.2d.v4.{kind}.f32"
                    made.append(Case(name, form, resource, operands, sampling))
    return made


def _in_corners() -> list[Case]:
    """Samples beyond a corner of a cube."""
    random = np.random.default_rng(37)
    made = []
    count = 768
    at = np.where(random.integers(0, 2, (count, 3)), 1, -1) * random.uniform(0.8, 1, (count, 3))
    vectors = random.standard_normal((2, count, 3)) * np.exp2(random.uniform(-6, -2, (2, count, 1)))
    vectors[1] *= np.exp2(random.uniform(-4, 0, (count, 1)))
    operands = words_of(*(axis.astype(np.float32) for part in (at, *vectors) for axis in part.T))
    smooth = NORMALIZED | FULL_TRILINEAR | SEAMLESS
    for dtype in ("f4", "u1", "f2"):
        levels = tuple(random.standard_normal((6, _SIDE >> each, _SIDE >> each, 4)).astype(dtype)
                       if dtype == "f2" else
                       random.integers(0, 120, (6, _SIDE >> each, _SIDE >> each, 4)).astype(dtype)
                       for each in range(_LEVELS))  # fmt: skip
        for many in (1, _LEVELS):
            resource = Resource("cube", levels[:many], mipmapped=many > 1)
            base = Case(f"corners_{dtype}_{many}", "tex.grad.cube.v4.f32.f32", resource, operands,
                        _BASE)  # fmt: skip
            made += [base.with_sampling(base.name, flags=smooth),
                     base.with_sampling(f"{base.name}_4", flags=smooth, anisotropy=4),
                     base.with_sampling(f"{base.name}_point", flags=smooth, filter=POINT),
                     base.with_sampling(f"{base.name}_apart")]  # fmt: skip
    made.append(base.with_sampling("corners_quick", flags=NORMALIZED | SEAMLESS))
    return made


def _extreme() -> list[Case]:
    """Gradients and texels that are infinite, not a number, zero or tiny."""
    random = np.random.default_rng(38)
    special = np.float32([0, -0.0, 1e-40, 1e-30, 1e-4, 0.03, 0.3, -0.05, 1e30, np.inf, -np.inf,
                          np.nan])  # fmt: skip
    values = special[random.integers(0, len(special), (4, 1024))]
    numbers = np.concatenate([np.full((2, 1024), 0.4, np.float32), values])
    texels = _any_levels(random, "2d", (1, 64, 64), 7)
    made = [Case("extreme_gradients", _FORM, texels, words_of(*numbers), _BASE)]
    made.append(made[0].with_sampling("extreme_gradients_one", between_levels=POINT))
    cube = _any_levels(random, "cube", (6, 64, 64), 7)
    direction = [*np.full((2, 1024), 0.3, np.float32), np.ones(1024, np.float32)]
    values = special[random.integers(0, len(special), (6, 1024))]
    made.append(Case("extreme_directions", "tex.grad.cube.v4.f32.f32", cube,
                     words_of(*direction, *values), _BASE))  # fmt: skip
    pair = [*vectors_of(random, 512, -1, 5.5), *vectors_of(random, 512, -1, 4)]
    operands = _at(0, 0, *pair)
    operands[:, :2] = words_of(*random.uniform(0, 1, (2, 512)).astype(np.float32))
    for dtype in ("f2", "f4"):
        levels = []
        for number in range(_LEVELS):
            side = _SIDE >> number
            made_of = random.standard_normal((1, side, side, 4)).astype(dtype)
            rare = random.uniform(0, 1, made_of.shape)
            for least, value in ((0.01, np.nan), (0.02, np.inf), (0.03, -np.inf), (0.06, 6e-5),
                                 (0.1, 3e4), (0.12, 1e-7)):  # fmt: skip
                made_of[(rare < least) & (rare > least - 0.01)] = value
            levels.append(made_of)
        for count in (1, _LEVELS):
            resource = Resource("2d", tuple(levels[:count]), mipmapped=count > 1)
            base = Case(f"extreme_{dtype}_{count}", _FORM, resource, operands, _BASE)
            made += [base, base.with_sampling(f"{base.name}_2", anisotropy=2)]
    return made
