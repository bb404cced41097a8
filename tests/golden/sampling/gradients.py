"""Cases of ``tex.grad``: the level that gradients select, and anisotropic filters."""

from __future__ import annotations

import numpy as np

from tests.golden.sampling.case import (
    FULL_TRILINEAR,
    NORMALIZED,
    SEAMLESS,
    Array,
    Case,
    Resource,
    Sampling,
    words_of,
)

Random = np.random.Generator
_ONE_LEVEL = Sampling(filter=0, between_levels=1, flags=NORMALIZED | FULL_TRILINEAR, most=15.0)


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(13)
    return [*_levels(random), *_footprints(random)]


def numbered(kind: str, depth: int, rows: int, columns: int) -> Resource:
    """A resource whose texels are the number of their level."""
    levels = []
    while True:
        levels.append(np.full((depth, rows, columns, 1), len(levels), np.float32))
        if max(rows, columns, depth if kind == "3d" else 1) == 1:
            return Resource(kind, tuple(levels), mipmapped=True)
        rows, columns = max(rows >> 1, 1), max(columns >> 1, 1)
        depth = max(depth >> 1, 1) if kind == "3d" else depth


def _vectors(random: Random, count: int, axes: int, least: float, most: float) -> Array:
    """Random directions with lengths spread evenly over powers of two."""
    directions = random.standard_normal((count, axes))
    directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
    lengths = np.exp2(random.uniform(least, most, (count, 1)))
    return (directions * lengths).astype(np.float32)


def _levels(random: Random) -> list[Case]:
    made = []
    line = numbered("1d", 1, 1, 1024)
    zero = np.zeros(1, np.float32)
    fine = np.exp2(np.arange(-256, 2 * 1024) / 1024 - 9).astype(np.float32)
    coarse = np.exp2(np.arange(-14 * 16, 3 * 16) / 16).astype(np.float32)
    special = np.float32([0, -0.0, 1e-40, 1e-30, 1e30, np.inf, -np.inf, np.nan, 1 / 1024, 1 / 512])
    sweep = np.concatenate([fine, coarse, -coarse, special])
    half = np.full(len(sweep), 0.5, np.float32)
    form = "tex.grad.1d.v4.f32.f32"
    made.append(Case("grad1d_x", form, line, words_of(half, sweep, zero), _ONE_LEVEL))
    made.append(Case("grad1d_y", form, line, words_of(half, zero, sweep), _ONE_LEVEL))
    both = _vectors(random, 512, 2, -12, 2)
    made.append(Case("grad1d_both", form, line, words_of(half[:512], *both.T), _ONE_LEVEL))
    odd = numbered("1d", 1, 1, 1000)
    made.append(Case("grad1d_odd", form, odd, words_of(half, sweep, zero), _ONE_LEVEL))
    base = Case("", form, line, words_of(half, sweep, zero)[::8], _ONE_LEVEL)
    made += [
        base.with_sampling("grad1d_bias", bias=0.3),
        base.with_sampling("grad1d_clamped", least=1.25, most=5.5),
        base.with_sampling("grad1d_nearest", between_levels=0),
        base.with_sampling("grad1d_quick", flags=NORMALIZED),
        base.with_sampling("grad1d_anisotropy1", anisotropy=1),
        base.with_sampling("grad1d_anisotropy16", anisotropy=16, filter=1),
    ]
    form = "tex.grad.2d.v4.f32.f32"
    for name, plane in (("", numbered("2d", 1, 512, 512)), ("wide", numbered("2d", 1, 64, 1024)),
                        ("odd", numbered("2d", 1, 300, 777))):  # fmt: skip
        count = 2048 if not name else 768
        first, second = (_vectors(random, count, 2, -11, 1) for _ in range(2))
        middle = np.full((2, count), 0.4, np.float32)
        none = np.zeros((2, count), np.float32)
        made.append(
            Case(f"grad2d{name}_x", form, plane, words_of(*middle, *first.T, *none), _ONE_LEVEL)
        )
        made.append(
            Case(f"grad2d{name}_y", form, plane, words_of(*middle, *none, *first.T), _ONE_LEVEL)
        )
        made.append(
            Case(
                f"grad2d{name}_both",
                form,
                plane,
                words_of(*middle, *first.T, *second.T),
                _ONE_LEVEL,
            )
        )
        close = _vectors(random, count, 2, -6, -5)
        other = _vectors(random, count, 2, -6, -5)
        made.append(
            Case(
                f"grad2d{name}_close",
                form,
                plane,
                words_of(*middle, *close.T, *other.T),
                _ONE_LEVEL,
            )
        )
        for most in (2, 3, 4, 8, 16):
            made.append(Case(f"grad2d{name}_anisotropy{most}", form, plane,
                             words_of(*middle, *first.T, *second.T)[:768],
                             Sampling(filter=1, between_levels=1, most=15.0, anisotropy=most,
                                      flags=NORMALIZED | FULL_TRILINEAR)))  # fmt: skip
    plane = numbered("2d", 1, 512, 512)
    angles = np.arange(1024) / 1024 * np.pi / 2
    for length in (1 / 64, 0.8 / 64):
        turning = np.stack([np.cos(angles), np.sin(angles)]).astype(np.float32) * np.float32(length)
        none = np.zeros((2, 1024), np.float32)
        made.append(
            Case(
                f"grad2d_turning{length}",
                form,
                plane,
                words_of(*(none + np.float32(0.4)), *turning, *none),
                _ONE_LEVEL,
            )
        )
    for kind, sizes, axes in (("3d", (64, 64, 64), 3), ("3d", (9, 30, 100), 3),
                              ("cube", (6, 64, 64), 3), ("acube", (12, 64, 64), 3),
                              ("a1d", (3, 1, 256), 1), ("a2d", (3, 64, 64), 2)):  # fmt: skip
        resource = numbered(kind, *sizes)
        count = {"3d": 1024, "cube": 2048}.get(kind, 256)
        first, second = (_vectors(random, count, axes, -8, 1) for _ in range(2))
        none = np.zeros_like(first)
        layer = [random.integers(0, 2, count)] if kind.startswith("a") else []
        for name, pair in (("x", (first, none)), ("both", (first, second))):
            at = (
                _vectors(random, count, 3, -1, 1)
                if "cube" in kind
                else random.uniform(0, 1, (count, axes)).astype(np.float32)
            )
            made.append(Case(f"grad{kind}_{sizes[2]}_{name}", f"tex.grad.{kind}.v4.f32.f32",
                             resource, words_of(*layer, *at.T, *pair[0].T, *pair[1].T),
                             _ONE_LEVEL))  # fmt: skip
    # a cube in one direction of one face: what its derivatives are
    cube = numbered("cube", 6, 256, 256)
    for number, direction in enumerate(((1, 0, 0), (1, 0.5, 0), (2, 0.5, -0.7), (0.1, -0.3, 3))):
        for axis in range(3):
            steps = np.zeros((512, 3), np.float32)
            steps[:, axis] = np.exp2(np.arange(512) / 64 - 8)
            at = np.broadcast_to(np.float32(direction), (512, 3))
            made.append(Case(f"gradcube_{number}_{axis}", "tex.grad.cube.v4.f32.f32", cube,
                             words_of(*at.T, *steps.T, *np.zeros_like(steps).T),
                             Sampling(between_levels=1, flags=NORMALIZED | FULL_TRILINEAR
                                      | SEAMLESS, most=15.0)))  # fmt: skip
    return made


def _footprints(random: Random) -> list[Case]:
    """A single texel is lit: the weights of an anisotropic footprint that moves over it."""
    made = []
    plane = np.zeros((1, 64, 64, 1), np.float32)
    plane[0, 32, 32] = 1
    resource = Resource("2d", (plane,))
    form = "tex.grad.2d.v4.f32.f32"
    across = (np.arange(1024) / 16 / 64).astype(np.float32)
    fixed = np.full(1024, 32.5 / 64, np.float32)
    for most in (2, 4, 16):
        for number, (x, y) in enumerate((((4, 0), (0, 1)), ((8, 0), (0, 1)), ((3, 0), (0, 1.3)),
                                         ((16, 0), (0, 1)), ((5, 5), (0.5, -0.5)))):  # fmt: skip
            columns = [np.full(1024, value / 64, np.float32) for value in (*x, *y)]
            made.append(Case(f"footprint_{most}_{number}", form, resource,
                             words_of(across, fixed, *columns),
                             Sampling(filter=1, flags=NORMALIZED, anisotropy=most)))  # fmt: skip
    return made
