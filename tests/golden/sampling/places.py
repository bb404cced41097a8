"""Cases of coordinates: address modes, cubes, gathers, offsets, layers, levels of integers."""

from __future__ import annotations

import itertools

import numpy as np

from tests.golden.sampling.case import (
    BORDER,
    CLAMP,
    FULL_TRILINEAR,
    GATHER,
    LINEAR,
    MIRROR,
    NORMALIZED,
    SEAMLESS,
    WRAP,
    Array,
    Case,
    Resource,
    Sampling,
    ramp,
    words_of,
)
from tests.golden.sampling.filters import texels

Random = np.random.Generator
MODES = {"wrap": WRAP, "clamp": CLAMP, "mirror": MIRROR, "border": BORDER}


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(12)
    return [
        *_modes(random),
        *_cubes(random),
        *_gathers(random),
        *_offsets(random),
        *_integers(random),
        *_results(random),
        *_mismatches(random),
    ]


def _modes(random: Random) -> list[Case]:
    made = []
    for size in (1, 2, 3, 7, 100, 1000, 4096, 65536):
        line = Resource("1d", (ramp("1d", (1, 1, size))[..., :1],))
        near = random.integers(-2, 4, 96) + random.integers(-2, 3, 96) * 2.0 ** -random.integers(
            8, 24, 96
        )
        at = np.concatenate([random.uniform(-3, 3, 160), near]).astype(np.float32)
        for name, mode in MODES.items():
            for filter_ in (0, 1):
                made.append(Case(f"mode_{name}_{size}_{filter_}", "tex.1d.v4.f32.f32", line,
                                 words_of(at), Sampling(modes=(mode,) * 3, filter=filter_,
                                                        flags=NORMALIZED)))  # fmt: skip
    box = Resource("3d", (ramp("3d", (5, 6, 7)),))
    at = random.uniform(-2, 2, (3, 160)).astype(np.float32)
    for number, modes in enumerate(itertools.product(range(4), repeat=3)):
        if number % 3 == 1:
            made.append(
                Case(
                    f"modes_{modes}",
                    "tex.3d.v4.f32.f32",
                    box,
                    words_of(*at),
                    Sampling(modes=modes, filter=number % 2, flags=NORMALIZED),
                )
            )
            made.append(Case(f"modesu_{modes}", "tex.3d.v4.f32.f32", box, words_of(*at * 7),
                             Sampling(modes=modes, filter=number % 2)))  # fmt: skip
    return made


def _directions(random: Random) -> Array:
    axes = np.float32([-1, -0.5, -0.0, 0.0, 0.5, 1])
    ties = np.array(list(itertools.product(axes, repeat=3)), np.float32)
    around = random.standard_normal((1536, 3)).astype(np.float32)
    scaled = around[:128] * np.exp2(random.integers(-140, 120, (128, 1))).astype(np.float32)
    strange = np.float32([np.nan, np.inf, -np.inf, 1e-40, 3.4e38, 1.0])
    odd = np.array(list(itertools.product(strange, repeat=3)), np.float32)
    return np.concatenate([ties, around, scaled, odd])


def _near_edges(random: Random, count: int, size: int) -> Array:
    """Directions within two texels of an edge, some of a corner."""
    made = random.uniform(-1, 1, (count, 3))
    major = random.integers(0, 3, count)
    rows = np.arange(count)
    made[rows, major] = random.choice([-1.0, 1.0], count)
    edge = (major + 1 + random.integers(0, 2, count)) % 3
    made[rows, edge] = random.choice([-1, 1], count) * (1 - random.uniform(0, 4 / size, count))
    other = 3 - major - edge
    half = count // 2
    made[rows[:half], other[:half]] = random.choice([-1, 1], half) * (
        1 - random.uniform(0, 4 / size, half)
    )
    return made.astype(np.float32)


def _cube(size: int, count: int = 6) -> Array:
    """Faces whose texels say where they are: face, column, row, and all in one."""
    made = ramp("cube", (count, size, size))
    return made[..., [2, 0, 1, 3]].copy()


def _cubes(random: Random) -> list[Case]:
    made = []
    directions = _directions(random)
    for size in (64, 5, 1):
        faces = Resource("cube", (_cube(size),))
        few = directions if size == 64 else directions[:600]
        for filter_, flags in ((0, NORMALIZED), (0, NORMALIZED | SEAMLESS)):
            made.append(Case(f"cube_{size}_{filter_}_{flags}", "tex.cube.v4.f32.f32", faces,
                             words_of(*few.T), Sampling(filter=filter_, flags=flags)))  # fmt: skip
        for flags in (NORMALIZED, NORMALIZED | SEAMLESS):
            for mode in (CLAMP, WRAP, BORDER, MIRROR):
                near = _near_edges(random, 512 if mode == CLAMP else 128, size)
                at = np.concatenate([few, near]) if mode == CLAMP else near
                made.append(
                    Case(f"cube_line_{size}_{flags}_{mode}", "tex.cube.v4.f32.f32", faces,
                         words_of(*at.T), Sampling(modes=(mode,) * 3, filter=LINEAR, flags=flags,
                                                   border=(9.0, 99.0, 99.0, 999.0)))
                )  # fmt: skip
    for dtype in ("u1", "f2"):
        faces = Resource("cube", (texels(random, dtype, 6, 4, 4, 1),))
        made.append(Case(f"cube_line_{dtype}", "tex.cube.v4.f32.f32", faces,
                         words_of(*_near_edges(random, 384, 4).T),
                         Sampling(filter=LINEAR, flags=NORMALIZED | SEAMLESS)))  # fmt: skip
    made.append(Case("cube_unnormalized", "tex.cube.v4.f32.f32", Resource("cube", (_cube(8),)),
                     words_of(*directions[:400].T)))  # fmt: skip
    # one face at a time has a single texel: the weights at edges and corners
    single = np.zeros((6, 2, 2, 4), np.float32)
    for face in range(6):
        single[face, :, :, face % 4] = [[1, 16], [256, 4096]]
    for first in (0, 3):
        some = np.where(np.arange(6)[:, None, None, None] // 3 * 3 == first, single, 0)
        made.append(Case(f"cube_corner{first}", "tex.cube.v4.f32.f32",
                         Resource("cube", (some.astype(np.float32),)),
                         words_of(*_near_edges(random, 768, 4).T),
                         Sampling(filter=LINEAR, flags=NORMALIZED | SEAMLESS)))  # fmt: skip
    layers = random.integers(-3, 7, 512)
    cubes = Resource("acube", (_cube(8, 18),))
    for filter_ in (0, 1):
        made.append(Case(f"acube_{filter_}", "tex.acube.v4.f32.f32", cubes,
                         words_of(layers, *_near_edges(random, 512, 8).T),
                         Sampling(filter=filter_, flags=NORMALIZED | SEAMLESS)))  # fmt: skip
    levels = tuple(_cube(size) for size in (8, 4, 2, 1))
    lods = random.uniform(-0.5, 4, 512).astype(np.float32)
    for flags in (NORMALIZED, NORMALIZED | SEAMLESS):
        made.append(Case(f"cube_level{flags}", "tex.level.cube.v4.f32.f32",
                         Resource("cube", levels),
                         words_of(*_near_edges(random, 512, 8).T, lods),
                         Sampling(filter=1, between_levels=1, most=9.0,
                                  flags=flags | FULL_TRILINEAR)))  # fmt: skip
    return made


def _gathers(random: Random) -> list[Case]:
    made = []
    plane = Resource("2d", (ramp("2d", (1, 9, 11)),), GATHER)
    steps = np.arange(-40, 40) / 1024
    fine = np.concatenate([place + steps for place in (2.5, 3.0, 4.5)])
    any_ = random.uniform(-3, 13, (2, 200))
    at = np.concatenate([np.stack([fine, fine[::-1]]), any_], axis=1).astype(np.float32)
    for letter in "rgba":
        made.append(Case(f"gather_{letter}", f"tld4.{letter}.2d.v4.f32.f32", plane, words_of(*at)))
    for name, mode in MODES.items():
        for filter_ in (0, 1):
            for flags, scale in ((0, 1), (NORMALIZED, 1 / 8)):
                made.append(Case(f"gather_{name}_{filter_}_{flags}", "tld4.a.2d.v4.f32.f32",
                                 plane, words_of(*(at * np.float32(scale))),
                                 Sampling(modes=(mode,) * 3, filter=filter_, flags=flags,
                                          border=(5.0, 6.0, 7.0, 8.0))))  # fmt: skip
    for dtype, channels in (("u1", 1), ("i2", 2), ("u4", 4), ("f2", 4)):
        other = Resource("2d", (texels(random, dtype, 1, 9, 11, channels),), GATHER)
        for letter in "ga":
            made.append(Case(f"gather_{dtype}_{letter}", f"tld4.{letter}.2d.v4.u32.f32", other,
                             words_of(*at[:, ::8])))  # fmt: skip
    ungathered = Resource("2d", plane.levels)
    made.append(Case("gather_noflag", "tld4.a.2d.v4.f32.f32", ungathered, words_of(*at[:, ::8])))
    layered = Resource("a2d", (ramp("a2d", (3, 9, 11)),))
    made.append(Case("gather_a2d", "tld4.a.a2d.v4.f32.f32", layered,
                     words_of(random.integers(-2, 5, at.shape[1]), *at)))  # fmt: skip
    faces = Resource("cube", (_cube(8),))
    near = np.concatenate([_near_edges(random, 320, 8), _directions(random)[:400]])
    for flags in (NORMALIZED, NORMALIZED | SEAMLESS):
        for letter in "ra":
            made.append(Case(f"gather_cube_{flags}_{letter}", f"tld4.{letter}.cube.v4.f32.f32",
                             faces, words_of(*near.T), Sampling(flags=flags)))  # fmt: skip
    cubes = Resource("acube", (_cube(8, 12),))
    made.append(Case("gather_acube", "tld4.a.acube.v4.f32.f32", cubes,
                     words_of(random.integers(-2, 4, len(near)), *near.T),
                     Sampling(flags=NORMALIZED | SEAMLESS)))  # fmt: skip
    shifts = random.integers(-9, 9, (2, at.shape[1]))
    made.append(Case("gather_offset", "tld4.a.2d.v4.f32.f32", plane, words_of(*at, *shifts),
                     more="offset"))  # fmt: skip
    levels = tuple(ramp("2d", (1, n, n)) + np.float32(n * 1000) for n in (8, 4, 2, 1))
    made.append(Case("gather_levels", "tld4.a.2d.v4.f32.f32", Resource("2d", levels, GATHER),
                     words_of(*at[:, ::8] / np.float32(8)),
                     Sampling(flags=NORMALIZED, least=1.0, most=9.0, bias=0.7)))  # fmt: skip
    made.append(Case("gather_residency", "tld4.a.2d.v4.f32.f32", plane, words_of(*at[:, ::16]),
                     more="residency"))  # fmt: skip
    return made


def _offsets(random: Random) -> list[Case]:
    made = []
    for kind, sizes in (("1d", (1, 1, 24)), ("2d", (1, 20, 24)), ("3d", (20, 20, 24)),
                        ("a1d", (3, 1, 24)), ("a2d", (3, 20, 24))):  # fmt: skip
        axes = int(kind[-2])
        resource = Resource(kind, (ramp(kind, sizes),))
        layer = [random.integers(0, 3, 256)] if kind.startswith("a") else []
        shifts = np.concatenate([random.integers(-8, 8, (axes, 192)),
                                 random.integers(-40, 40, (axes, 64))], axis=1)  # fmt: skip
        for name, mode, filter_, flags in (("clamp", CLAMP, 0, 0), ("wrap", WRAP, 0, NORMALIZED),
                                           ("line", WRAP, 1, NORMALIZED),
                                           ("border", BORDER, 1, 0)):  # fmt: skip
            at = random.uniform(0, 20, (axes, 256)) / (20 if flags else 1)
            made.append(Case(f"offset_{kind}_{name}", f"tex.{kind}.v4.f32.f32", resource,
                             words_of(*layer, *at.astype(np.float32), *shifts),
                             Sampling(modes=(mode,) * 3, filter=filter_, flags=flags),
                             more="offset"))  # fmt: skip
        whole = random.integers(0, 20, (axes, 256))
        made.append(Case(f"offset_{kind}_whole", f"tex.{kind}.v4.f32.s32", resource,
                         words_of(*layer, *whole, *shifts), more="offset"))  # fmt: skip
    levels = tuple(ramp("2d", (1, n, n)) for n in (16, 8, 4))
    made.append(Case("offset_level", "tex.level.2d.v4.f32.f32", Resource("2d", levels),
                     words_of(*random.uniform(0, 1, (2, 128)).astype(np.float32),
                              random.uniform(0, 2.5, 128).astype(np.float32),
                              *random.integers(-8, 8, (2, 128))),
                     Sampling(flags=NORMALIZED, filter=1, between_levels=1, most=9.0),
                     more="offset"))  # fmt: skip
    return made


def _integers(random: Random) -> list[Case]:
    """Fetches with integer coordinates, in range and out of it."""
    made = []
    shapes = {
        "1d": (1, 1, 7), "2d": (1, 6, 7), "3d": (5, 6, 7), "a1d": (3, 1, 7), "a2d": (3, 6, 7),
    }  # fmt: skip
    for kind, shape in shapes.items():
        axes = int(kind[-2])
        at = random.integers(-3, 10, (axes, 192))
        at[0, :4] = [1 << 30, -(1 << 31), (1 << 31) - 1, 1 << 16]
        layer = [random.integers(-3, 6, 192)] if kind.startswith("a") else []
        if layer:
            layer[0][:6] = [1 << 30, -(1 << 31), (1 << 31) - 1, 1 << 16, 1 << 11, -1]
        resource = Resource(kind, (ramp(kind, shape),))
        for number, sampling in enumerate((
            Sampling(), Sampling(filter=1), Sampling(flags=NORMALIZED),
            Sampling(modes=(BORDER,) * 3, border=(5.0, 6.0, 7.0, 8.0)),
            Sampling(modes=(WRAP,) * 3), Sampling(modes=(WRAP,) * 3, flags=NORMALIZED, filter=1),
        )):  # fmt: skip
            made.append(Case(f"whole_{kind}_{number}", f"tex.{kind}.v4.f32.s32", resource,
                             words_of(*layer, *at), sampling))  # fmt: skip
        levels = tuple(
            ramp(kind, [size if kind.startswith("a") and n == 0 else max(size >> k, 1)
                        for n, size in enumerate(shape)]) + np.float32(100 * k)
            for k in range(3)
        )  # fmt: skip
        lods = random.integers(-2, 5, 192)
        lods[:3] = [100, 1 << 30, -(1 << 31)]
        for number, sampling in enumerate((
            Sampling(most=9.0, flags=NORMALIZED), Sampling(most=9.0),
            Sampling(most=9.0, least=1.0, flags=NORMALIZED),
            Sampling(most=1.0, flags=NORMALIZED),
            Sampling(most=9.0, bias=1.0, flags=NORMALIZED, filter=1, between_levels=1),
        )):  # fmt: skip
            made.append(
                Case(
                    f"whole_level_{kind}_{number}",
                    f"tex.level.{kind}.v4.f32.s32",
                    Resource(kind, levels),
                    words_of(*layer, *at, lods),
                    sampling,
                )
            )
            made.append(
                Case(
                    f"whole_base_{kind}_{number}",
                    f"tex.{kind}.v4.f32.s32",
                    Resource(kind, levels),
                    words_of(*layer, *at)[::4],
                    sampling,
                )
            )
    return made  # fmt: skip


def _results(random: Random) -> list[Case]:
    """Results of 16 bits, the predicate of residency, a sampler of its own."""
    made = []
    at = words_of(*random.uniform(-1, 9, (2, 256)).astype(np.float32))
    for dtype in ("f4", "f2", "u1", "i2", "u4"):
        given = texels(random, dtype, 1, 8, 8, 4)
        if dtype == "f4":
            given = given * np.exp2(random.integers(-30, 20, given.shape)).astype("f4")
        for form in ("tex.2d.v4.f16.f32", "tex.2d.v2.f16x2.f32"):
            for filter_ in (0, 1) if dtype != "u4" else (0,):
                made.append(
                    Case(
                        f"result_{form}_{dtype}_{filter_}",
                        form,
                        Resource("2d", (given,)),
                        at,
                        Sampling(filter=filter_),
                    )
                )
    plane = Resource("2d", (ramp("2d", (1, 8, 8)),))  # fmt: skip
    made.append(Case("residency", "tex.2d.v4.f32.f32", plane, at[::4], more="residency"))
    for sampling, name in ((Sampling(), "point"), (Sampling(filter=1), "line"),
                           (Sampling(filter=1, flags=NORMALIZED), "normal")):  # fmt: skip
        made.append(
            Case(
                f"independent_{name}", "tex.2d.v4.f32.f32", plane, at[::4], sampling, "independent"
            )
        )
        made.append(Case(f"sampler_{name}", "tex.2d.v4.f32.f32", plane, at[::4], sampling,
                         "sampler"))  # fmt: skip
    return made


def _mismatches(random: Random) -> list[Case]:
    """Fetches of one geometry from textures of another."""
    made = []
    shapes = {
        "1d": (1, 1, 6), "2d": (1, 6, 6), "3d": (5, 6, 6), "a1d": (3, 1, 6), "a2d": (3, 6, 6),
        "cube": (6, 6, 6), "acube": (12, 6, 6),
    }  # fmt: skip
    axes = {"1d": "f", "2d": "ff", "3d": "fff", "a1d": "if", "a2d": "iff", "cube": "fff",
            "acube": "ifff"}  # fmt: skip
    for has, shape in shapes.items():
        resource = Resource(has, (ramp(has, shape),))
        for asked, letters in axes.items():
            for flags in (0, NORMALIZED):
                for filter_ in (0, 1):
                    columns = [
                        random.integers(-1, 4, 48) if letter == "i"
                        else random.uniform(-1, 1 if flags else 7, 48).astype(np.float32)
                        for letter in letters
                    ]  # fmt: skip
                    made.append(Case(f"mismatch_{has}_{asked}_{flags}_{filter_}",
                                     f"tex.{asked}.v4.f32.f32", resource, words_of(*columns),
                                     Sampling(filter=filter_, flags=flags)))  # fmt: skip
            if asked in ("cube", "acube"):
                continue
            columns = [random.integers(-1, 7, 48) for _ in letters]
            made.append(Case(f"mismatch_{has}_{asked}_whole", f"tex.{asked}.v4.f32.s32",
                             resource, words_of(*columns)))  # fmt: skip
    return made
