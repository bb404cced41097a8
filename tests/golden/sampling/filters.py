"""Cases of filters in three dimensions, between levels, of extreme numbers, of sRGB, of borders."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from tests.golden.sampling.case import (
    BORDER,
    FULL_TRILINEAR,
    INTEGER,
    LINEAR,
    NORMALIZED,
    SRGB,
    Case,
    Resource,
    Sampling,
    words_of,
)

Random = np.random.Generator
FORMATS = ("u1", "i1", "u2", "i2", "f2", "f4")
_SMOOTH = Sampling(filter=LINEAR)
_BETWEEN = Sampling(
    filter=LINEAR, between_levels=LINEAR, flags=NORMALIZED | FULL_TRILINEAR, most=15.0
)


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(11)
    return [
        *_in_space(random),
        *_between_levels(random),
        *_extremes(random),
        *_srgb(random),
        *_borders(random),
    ]


def texels(random: Random, dtype: str, *shape: int) -> npt.NDArray[np.generic]:
    """Random texels over the whole range of integers, around 0 of floats."""
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def _fractions(random: Random, count: int, axes: int) -> npt.NDArray[np.float64]:
    """Steps of 1/256, then anything in between."""
    steps = random.integers(0, 256, (count // 2, axes)) / 256
    return np.concatenate([steps, random.uniform(0, 1, (count - count // 2, axes))])


def _corner(depth: int, rows: int, columns: int, at: int) -> npt.NDArray[np.float32]:
    made = np.zeros((depth, rows, columns, 1), np.float32)
    made[at >> 2 & 1, at >> 1 & 1, at & 1] = 1
    return made


def _in_space(random: Random) -> list[Case]:
    places = _fractions(random, 1024, 3) + 0.5
    operands = words_of(*places.astype(np.float32).T)
    instruction = "tex.3d.v4.f32.f32"
    made = [
        Case(f"space_corner{n}", instruction, Resource("3d", (_corner(2, 2, 2, n),)), operands,
             _SMOOTH)
        for n in range(8)
    ]  # fmt: skip
    anywhere = words_of(*random.uniform(-1, 9, (3, 768)).astype(np.float32))
    for dtype in FORMATS:
        resource = Resource("3d", (texels(random, dtype, 8, 8, 8, 2),))
        made.append(Case(f"space_{dtype}", instruction, resource, anywhere, _SMOOTH))
    # single slices, rows and columns
    for number, shape in enumerate(((1, 4, 4), (4, 1, 4), (4, 4, 1), (1, 1, 1))):
        resource = Resource("3d", (texels(random, "f4", *shape, 1),))
        for mode in (1, BORDER):
            made.append(
                Case(f"space_thin{number}_{mode}", instruction, resource, anywhere[:192],
                     Sampling(modes=(mode,) * 3, filter=LINEAR))
            )  # fmt: skip
    for kind, coordinates in (("a1d", 1), ("a2d", 2)):
        for dtype in ("f4", "u1"):
            rows = 1 if kind == "a1d" else 8
            resource = Resource(kind, (texels(random, dtype, 3, rows, 8, 1),))
            layers = random.integers(-3, 6, 512)
            places = random.uniform(-1, 9, (coordinates, 512)).astype(np.float32)
            made.append(
                Case(f"layers_{kind}_{dtype}", f"tex.{kind}.v4.f32.f32", resource,
                     words_of(layers, *places), _SMOOTH)
            )  # fmt: skip
    return made


def _between_levels(random: Random) -> list[Case]:
    made = []
    lods = np.concatenate([
        np.arange(-64, 3 * 1024 + 64) / 1024,
        [np.nan, np.inf, -np.inf, 1e30, -1e30, 1e-40, 100.0, 0.5 - 2**-20, 0.5 + 2**-20],
    ]).astype(np.float32)  # fmt: skip
    constant = tuple(np.full((1, 1 << (4 - n), 1 << (4 - n), 1), n, np.float32) for n in range(5))
    resource = Resource("2d", constant)
    operands = words_of(np.full(len(lods), 0.4, np.float32), np.float32([0.6]), lods)
    for name, changes in (
        ("point", {"filter": 0, "between_levels": 0, "flags": NORMALIZED}),
        ("line", {"filter": 0, "between_levels": 1, "flags": NORMALIZED}),
        ("full", {"filter": 0, "between_levels": 1, "flags": NORMALIZED | FULL_TRILINEAR}),
        ("smooth", {"filter": 1, "between_levels": 1, "flags": NORMALIZED}),
        ("smoothpoint", {"filter": 1, "between_levels": 0, "flags": NORMALIZED}),
        ("smoothfull", {"filter": 1, "between_levels": 1, "flags": NORMALIZED | FULL_TRILINEAR}),
    ):
        base = Case("", "tex.level.2d.v4.f32.f32", resource, operands, Sampling(most=15.0))
        made.append(base.with_sampling(f"lod_{name}", **changes))
    few = operands[::16]
    base = Case("", "tex.level.2d.v4.f32.f32", resource, few, _BETWEEN)
    for bias in (0.3, -0.3, 0.00390625, 0.001, 0.0019, 0.0021, 1.7777, -1.1234, 40.0, -40.0,
                 15.99, 16.0, -15.999, -16.0, 31.0, np.inf, np.nan):  # fmt: skip
        made.append(base.with_sampling(f"lod_bias{bias}", bias=bias))
    for least in (0.3, 0.001, 0.002, 0.00390625, 0.0058, 1.2345, 3.7, 4.0, 10.0, 16.0, 20.0, -1.0):
        made.append(base.with_sampling(f"lod_least{least}", least=least))
    for most in (0.3, 0.001, 0.002, 0.00390625, 0.0058, 1.2345, 2.5, 3.7, 4.0, 16.0, -1.0, np.nan):
        made.append(base.with_sampling(f"lod_most{most}", most=most))
    made.append(base.with_sampling("lod_crossed", least=2.5, most=1.25))
    made.append(base.with_sampling("lod_view", view=(
        ("format", 0x16), ("width", 16), ("height", 16), ("firstMipmapLevel", 1),
        ("lastMipmapLevel", 3))))  # fmt: skip
    plain = few[:16, :2]
    for form in ("tex", "tex.base"):
        for name, changes in (("", {}), ("_bias", {"bias": 1.3}), ("_least", {"least": 1.7})):
            case = Case("", f"{form}.2d.v4.f32.f32", resource, plain, _BETWEEN)
            made.append(case.with_sampling(f"lod_{form}{name}", **changes))
    # both filters: the weight of each corner of each level
    places = _fractions(random, 384, 2) + 0.5
    lods = _fractions(random, 384, 1)[:, 0]
    zeros = [np.zeros((1, 2, 2, 1), np.float32), np.zeros((1, 1, 1, 1), np.float32)]
    operands = words_of(*(places / 2).astype(np.float32).T, lods.astype(np.float32))
    for corner in range(4):
        pair = (_corner(1, 2, 2, corner), zeros[1])
        made.append(Case(f"trilinear_corner{corner}", "tex.level.2d.v4.f32.f32",
                         Resource("2d", pair), operands, _BETWEEN))  # fmt: skip
    pair = (zeros[0], np.ones((1, 1, 1, 1), np.float32))
    made.append(Case("trilinear_below", "tex.level.2d.v4.f32.f32", Resource("2d", pair),
                     operands, _BETWEEN))  # fmt: skip
    four = (np.zeros((1, 4, 4, 1), np.float32), *(np.zeros((1, 2, 2, 1), np.float32),))
    for corner in range(4):
        pair = (four[0], _corner(1, 2, 2, corner))
        made.append(Case(f"trilinear_second{corner}", "tex.level.2d.v4.f32.f32",
                         Resource("2d", pair), operands, _BETWEEN))  # fmt: skip
    # sizes that are no powers of two; every format
    operands = words_of(*random.uniform(-1.5, 1.5, (2, 640)).astype(np.float32),
                        random.uniform(-0.5, 3.5, 640).astype(np.float32))  # fmt: skip
    shapes = ((7, 13), (3, 6), (1, 3), (1, 1))
    for dtype in FORMATS:
        levels = tuple(texels(random, dtype, 1, *shape, 1) for shape in shapes)
        for name, changes in (
            ("trilinear", {}),
            ("brilinear", {"flags": NORMALIZED}),
            ("pointline", {"filter": 0}),
            ("linepoint", {"between_levels": 0}),
            ("points", {"filter": 0, "between_levels": 0}),
        ):
            if name in ("brilinear", "points", "linepoint") and dtype not in ("f4", "u1"):
                continue
            for mode in (0, 1) if dtype == "f4" else (1,):
                case = Case("", "tex.level.2d.v4.f32.f32", Resource("2d", levels), operands,
                            _BETWEEN)  # fmt: skip
                made.append(
                    case.with_sampling(f"{name}_{dtype}_{mode}", modes=(mode,) * 3, **changes)
                )
    operands = words_of(*random.uniform(-0.2, 1.2, (3, 384)).astype(np.float32),
                        random.uniform(-0.5, 3.5, 384).astype(np.float32))  # fmt: skip
    for dtype in FORMATS:
        levels = tuple(texels(random, dtype, *shape, 1)
                       for shape in ((5, 7, 12), (2, 3, 6), (1, 1, 3), (1, 1, 1)))  # fmt: skip
        made.append(Case(f"trilinear3d_{dtype}", "tex.level.3d.v4.f32.f32",
                         Resource("3d", levels), operands, _BETWEEN))  # fmt: skip
    levels = tuple(texels(random, "f4", 1, 1, n, 1) for n in (9, 4, 2, 1))
    made.append(Case("trilinear1d", "tex.level.1d.v4.f32.f32", Resource("1d", levels),
                     operands[:, 2:], _BETWEEN))  # fmt: skip
    layers = random.integers(-2, 5, 384)
    levels = tuple(texels(random, "f4", 3, 1, n, 1) for n in (9, 4, 2, 1))
    made.append(Case("trilinear_a1d", "tex.level.a1d.v4.f32.f32", Resource("a1d", levels),
                     np.concatenate([words_of(layers), operands[:, 2:]], 1), _BETWEEN))  # fmt: skip
    levels = tuple(texels(random, "f4", 3, *shape, 1) for shape in ((9, 5), (4, 2), (2, 1), (1, 1)))
    made.append(Case("trilinear_a2d", "tex.level.a2d.v4.f32.f32", Resource("a2d", levels),
                     np.concatenate([words_of(layers), operands[:, 1:]], 1), _BETWEEN))  # fmt: skip
    return made


def _extremes(random: Random) -> list[Case]:
    """Planes whose texels have all exponents, subnormals, infinities and NaNs with payloads."""
    made = []
    for dtype, unsigned, mantissa, exponents in (("f4", "u4", 23, 255), ("f2", "u2", 10, 31)):
        for name, near in (("wide", exponents), ("near", 12), ("tiny", 6)):
            base = 0 if name == "tiny" else random.integers(0, exponents - near + 1, (24, 24))
            exponent = base + random.integers(0, near + (name == "wide"), (24, 24))
            fraction = random.integers(0, 1 << mantissa, (24, 24))
            sign = random.integers(0, 2, (24, 24)) << (mantissa + (8 if dtype == "f4" else 5))
            bits = (sign | (exponent << mantissa) | fraction).astype(unsigned)
            plane = bits.view(dtype).reshape(1, 24, 24, 1)
            places = random.integers(1, 22, (512, 2)) + 0.5 + _fractions(random, 512, 2)
            places[:128, 0] = np.floor(places[:128, 0]) + 0.5  # texels without weight
            made.append(Case(f"extreme_{name}_{dtype}", "tex.2d.v4.f32.f32",
                             Resource("2d", (plane,)),
                             words_of(*places.astype(np.float32).T), _SMOOTH))  # fmt: skip
            made.append(Case(f"extreme_point_{name}_{dtype}", "tex.2d.v4.f32.f32",
                             Resource("2d", (plane,)),
                             words_of(*places[:256].astype(np.float32).T)))  # fmt: skip
    return made


def _srgb(random: Random) -> list[Case]:
    made = []
    line = np.arange(256, dtype=np.uint8)
    four = np.stack([line, line[::-1], line, line], axis=1).reshape(1, 1, 256, 4)
    places = words_of(np.arange(256) + 0.5)
    for channels in (1, 2, 4):
        made.append(Case(f"srgb_point{channels}", "tex.1d.v4.f32.f32",
                         Resource("1d", (np.ascontiguousarray(four[..., :channels]),)), places,
                         Sampling(flags=SRGB)))  # fmt: skip
    wide = words_of(random.uniform(0, 256, 1536).astype(np.float32))
    mixed = texels(random, "u1", 1, 1, 256, 4)
    for name, row in (("ramp", four), ("mixed", mixed)):
        made.append(Case(f"srgb_line_{name}", "tex.1d.v4.f32.f32", Resource("1d", (row,)), wide,
                         Sampling(filter=LINEAR, flags=SRGB)))  # fmt: skip
    pairs = np.zeros((1, 1, 512, 4), np.uint8)
    pairs[0, 0, 1::2, 0] = np.arange(256)
    weights = np.repeat(np.arange(0, 512, 2), 8) + 0.5 + np.tile(np.arange(8) / 8, 256)
    made.append(Case("srgb_weights", "tex.1d.v4.f32.f32", Resource("1d", (pairs,)),
                     words_of(weights.astype(np.float32)),
                     Sampling(filter=LINEAR, flags=SRGB)))  # fmt: skip
    plane = Resource("2d", (texels(random, "u1", 1, 16, 16, 4),))
    made.append(Case("srgb_plane", "tex.2d.v4.f32.f32", plane,
                     words_of(*random.uniform(0, 16, (2, 768)).astype(np.float32)),
                     Sampling(filter=LINEAR, flags=SRGB)))  # fmt: skip
    made.append(Case("srgb_gather", "tld4.g.2d.v4.f32.f32", Resource("2d", plane.levels, 8),
                     words_of(*random.uniform(0, 16, (2, 64)).astype(np.float32)),
                     Sampling(flags=SRGB)))  # fmt: skip
    made.append(Case("srgb_integer", "tex.2d.v4.u32.s32", plane,
                     words_of(*random.integers(0, 16, (2, 64))),
                     Sampling(flags=SRGB | INTEGER)))  # fmt: skip
    return made


def _borders(random: Random) -> list[Case]:
    """Colors as floats, then as bits, that are beyond the range of the texels."""
    made = []
    floats = ((0.5, -0.5, 0.25, 0.75), (1.5, -1.5, 1 / 3, 0.001), (2 / 255, 3 / 65535, -1e-3, 1e9),
              (np.inf, -np.inf, np.nan, 0.1), (1 / 510, 1.0, -1.0, 127.5 / 255))  # fmt: skip
    whole = ((1, 2, 3, 4), (255, 256, -1, -128), (65535, 65536, -32768, 32767),
             (1 << 30, -(1 << 31), 70000, -70000))  # fmt: skip
    bits = tuple(struct.unpack("<4f", struct.pack("<4i", *color)) for color in whole)
    places = words_of(*np.float32([[-2, 0.25, 0.5, 4.0, 3.75, 9], [1.0, 1, -0.2, 4, 2, 9]]))
    for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"):
        for flags in (0, INTEGER):
            if flags and np.dtype(dtype).kind == "f":
                continue
            for number, color in enumerate(floats + bits):
                if any(np.isnan(color)) and number > 5:
                    continue
                for filter_ in (0, 1):
                    if filter_ and (flags or dtype in ("u4", "i4")):
                        continue
                    plane = Resource("2d", (texels(random, dtype, 1, 4, 4, 4),))
                    made.append(Case(
                        f"border_{dtype}_{flags}_{number}_{filter_}", "tex.2d.v4.f32.f32", plane,
                        places, Sampling(modes=(BORDER,) * 3, filter=filter_, flags=flags,
                                         border=color)))  # fmt: skip
    for channels in (1, 2):
        plane = Resource("2d", (texels(random, "u1", 1, 4, 4, channels),))
        color = (0.5, 0.25, 1.0, 0.125)
        made.append(Case(f"border_channels{channels}", "tex.2d.v4.f32.f32", plane, places,
                         Sampling(modes=(BORDER,) * 3, border=color)))  # fmt: skip
    plane = Resource("2d", (texels(random, "u1", 1, 4, 4, 4),))
    for filter_ in (0, 1):
        made.append(Case(f"border_srgb{filter_}", "tex.2d.v4.f32.f32", plane, places,
                         Sampling(modes=(BORDER,) * 3, filter=filter_, flags=SRGB,
                                  border=(0.5, 0.25, 0.1, 0.5))))  # fmt: skip
    return made
