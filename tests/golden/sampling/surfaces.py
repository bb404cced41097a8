"""Cases of surfaces: loads, stores, formatted stores, reductions, queries."""

from __future__ import annotations

import itertools

import numpy as np

from tests.golden.sampling.case import (
    CUBEMAP,
    LAYERED,
    NORMALIZED,
    SURFACE,
    Array,
    Case,
    Resource,
    Sampling,
    words_of,
)
from tests.golden.sampling.filters import texels

Random = np.random.Generator
SHAPES = {
    "1d": (1, 1, 7), "2d": (1, 5, 7), "3d": (4, 5, 7), "a1d": (3, 1, 7), "a2d": (3, 5, 7),
}  # fmt: skip
_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
_WIDTHS = {"b8": 1, "b16": 2, "b32": 4, "b64": 8}
_NORMALIZED = {
    "unorm8": (0xC0, "u1"), "unorm16": (0xC3, "u2"), "snorm8": (0xC6, "i1"), "snorm16": (0xC9, "i2")
}  # fmt: skip


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(14)
    return [*_loads(random), *_stores(random), *_formatted(random), *_reductions(random),
            *_queries(random)]  # fmt: skip


def _places(random: Random, kind: str, count: int, bytes_: int, *, beyond: int) -> list[Array]:
    """Columns of coordinates, x in bytes, up to ``beyond`` texels out of range."""
    depth, rows, columns = SHAPES[kind]
    x = random.integers(-beyond, columns + beyond, count) * bytes_
    y = random.integers(-beyond, rows + beyond, count)
    z = random.integers(-beyond, depth + beyond, count)
    return {"1d": [x], "2d": [x, y], "3d": [x, y, z], "a1d": [z, x], "a2d": [z, x, y]}[kind]


def _resource(random: Random, kind: str, dtype: str, channels: int) -> Resource:
    return Resource(kind, (texels(random, dtype, *SHAPES[kind], channels),), SURFACE)


def _loads(random: Random) -> list[Case]:
    made = []
    for kind in SHAPES:
        for dtype, channels, form in (
            ("u1", 1, "b8"), ("u1", 2, "v2.b8"), ("u1", 4, "v4.b8"), ("u1", 4, "b32"),
            ("u2", 1, "b16"), ("i2", 2, "v2.b16"), ("f2", 4, "v4.b16"), ("f2", 4, "b64"),
            ("u4", 1, "b32"), ("f4", 2, "v2.b32"), ("f4", 4, "v4.b32"), ("u4", 2, "b64"),
            ("u4", 4, "v2.b64"),
        ):  # fmt: skip
            size = np.dtype(dtype).itemsize * channels
            for mode in ("clamp", "zero"):
                at = _places(random, kind, 64, size, beyond=3)
                made.append(Case(f"suld_{kind}_{dtype}{channels}_{form}_{mode}",
                                 f"suld.b.{kind}.{form}.{mode}",
                                 _resource(random, kind, dtype, channels),
                                 words_of(*at)))  # fmt: skip
            at = _places(random, kind, 32, size, beyond=0)
            made.append(
                Case(
                    f"suld_{kind}_{dtype}{channels}_{form}_trap",
                    f"suld.b.{kind}.{form}.trap",
                    _resource(random, kind, dtype, channels),
                    words_of(*at),
                )
            )
    # other widths than a texel's, and bytes within texels
    for dtype, channels in (("u1", 1), ("u1", 4), ("u2", 2), ("u4", 1), ("u4", 4)):
        for form in ("b8", "b16", "b32", "b64", "v2.b32", "v4.b32", "v2.b64", "v4.b8", "v2.b16"):
            size = _WIDTHS[form.split(".")[-1]] * (int(form[1]) if form[0] == "v" else 1)
            x = np.arange(-32 // size, 144 // size) * size
            for mode in ("clamp", "zero"):
                made.append(Case(f"suld_bytes_{dtype}{channels}_{form}_{mode}",
                                 f"suld.b.1d.{form}.{mode}",
                                 _resource(random, "1d", dtype, channels),
                                 words_of(x)))  # fmt: skip
    for cache in ("ca", "cg", "cs", "cv"):
        made.append(Case(f"suld_{cache}", f"suld.b.2d.{cache}.b32.zero",
                         _resource(random, "2d", "u4", 1),
                         words_of(*_places(random, "2d", 32, 4, beyond=1))))  # fmt: skip
    faces = Resource("cube", (texels(random, "u4", 6, 5, 5, 1),), SURFACE)
    z, x, y = (random.integers(-2, 8, 96) * scale for scale in (1, 4, 1))
    for mode in ("clamp", "zero"):
        made.append(Case(f"suld_cube_{mode}", f"suld.b.a2d.b32.{mode}", faces, words_of(z, x, y)))
    huge = np.array([1 << 30, -(1 << 31), (1 << 31) - 1, 1 << 16, -(1 << 16), 1 << 20])
    at = np.array(list(itertools.product(huge, huge[:4])))
    for mode in ("clamp", "zero"):
        made.append(Case(f"suld_huge_{mode}", f"suld.b.2d.b32.{mode}",
                         _resource(random, "2d", "u4", 1), words_of(*at.T)))  # fmt: skip
    # of another geometry
    for has, asked in itertools.product(SHAPES, SHAPES):
        if has != asked:
            at = [random.integers(0, 3, 24) for _ in range(_AXES[asked])]
            at[1 if asked.startswith("a") else 0] *= 4
            made.append(Case(f"suld_mismatch_{has}_{asked}", f"suld.b.{asked}.b32.zero",
                             _resource(random, has, "u4", 1), words_of(*at)))  # fmt: skip
    return made


def _every_place(kind: str, bytes_: int) -> list[Array]:
    depth, rows, columns = SHAPES[kind]
    z, y, x = (axis.ravel() for axis in np.indices((depth, rows, columns)))
    x = x * bytes_
    return {"1d": [x], "2d": [x, y], "3d": [x, y, z], "a1d": [z, x], "a2d": [z, x, y]}[kind]


def _stores(random: Random) -> list[Case]:
    made = []
    for kind in SHAPES:
        for dtype, channels, form in (
            ("u1", 1, "b8"), ("u1", 4, "v4.b8"), ("u1", 4, "b32"), ("u2", 1, "b16"),
            ("i2", 2, "v2.b16"), ("f2", 4, "b64"), ("u4", 1, "b32"), ("f4", 4, "v4.b32"),
            ("u4", 4, "v2.b64"),
        ):  # fmt: skip
            size = np.dtype(dtype).itemsize * channels
            parts = form.split(".")
            words = (int(parts[0][1]) if len(parts) == 2 else 1) * (2 if "b64" in form else 1)
            for mode in ("zero", "trap"):
                at = _every_place(kind, size)
                data = random.integers(0, 1 << 32, (words, len(at[0])))
                if mode == "zero":  # some are out of range
                    at[random.integers(0, len(at))][::3] += 1000 * size
                made.append(Case(f"sust_{kind}_{dtype}{channels}_{form}_{mode}",
                                 f"sust.b.{kind}.{form}.{mode}",
                                 _resource(random, kind, dtype, channels),
                                 words_of(*at, *data)))  # fmt: skip
            beyond = _places(random, kind, 1, size, beyond=3)
            for number in range(3):
                beyond = [
                    axis
                    + 20
                    * (n == number % len(beyond))
                    * (size if n == (1 if kind.startswith("a") else 0) else 1)
                    for n, axis in enumerate(_places(random, kind, 1, size, beyond=0))
                ]
                data = random.integers(0, 1 << 32, (words, 1))
                made.append(Case(f"sust_{kind}_{dtype}{channels}_{form}_clamp{number}",
                                 f"sust.b.{kind}.{form}.clamp",
                                 _resource(random, kind, dtype, channels),
                                 words_of(*beyond, *data)))  # fmt: skip
    for dtype, channels in (("u1", 1), ("u4", 1), ("u4", 4)):
        for form in ("b8", "b16", "b32", "b64", "v4.b32"):
            size = _WIDTHS[form.split(".")[-1]] * (4 if "v4" in form else 1)
            for x in (1 * size, 3 * size, 6 * size):
                words = 4 if "v4" in form else 2 if form == "b64" else 1
                data = random.integers(0, 1 << 32, (words, 1))
                made.append(Case(f"sust_bytes_{dtype}{channels}_{form}_{x}",
                                 f"sust.b.1d.{form}.zero",
                                 _resource(random, "1d", dtype, channels),
                                 words_of([x], *data)))  # fmt: skip
    for cache in ("wb", "cg", "cs", "wt"):
        at = _every_place("2d", 4)
        made.append(Case(f"sust_{cache}", f"sust.b.2d.{cache}.b32.zero",
                         _resource(random, "2d", "u4", 1),
                         words_of(*at, random.integers(0, 1 << 32, len(at[0])))))  # fmt: skip
    return made


def _formatted(random: Random) -> list[Case]:
    """Stores of ``sust.p``: words become texels of the format of the surface."""
    made = []
    edges = np.array(
        [
            0,
            1,
            127,
            128,
            129,
            255,
            256,
            32767,
            32768,
            65535,
            65536,
            0x7FFFFFFF,
            0x80000000,
            0xFFFFFFFF,
            0xFFFFFF80,
            0xFFFFFF7F,
            0xFFFF8000,
            0xFFFF7FFF,
        ]
    )
    floats = np.float32([0, -0.0, 1, -1, 0.5, 1.5, 1 / 255, 0.5 / 255, 1.5 / 255, 2.5 / 255, 127.5,
                         0.5 / 65535, 1.5 / 65535, 65504, 65519.9, 65520, 1e-7, 6e-8, 3e-8, 1e-40,
                         np.inf, -np.inf, np.nan, 0.5 / 127, 1.5 / 127, -0.5 / 127])  # fmt: skip
    words = np.concatenate([edges, floats.view(np.uint32),
                            random.standard_normal(256).astype(np.float32).view(np.uint32),
                            (random.uniform(-0.1, 1.1, 512)).astype(np.float32).view(np.uint32),
                            random.integers(0, 1 << 32, 128)])  # fmt: skip
    words = words[: len(words) // 4 * 4]
    count = len(words)
    formats = {dtype: (None, dtype) for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4")}
    for name, (format_, dtype) in (formats | _NORMALIZED).items():
        surface = Resource("1d", (np.full((1, 1, count, 1), 85, dtype),), SURFACE, format_)
        made.append(Case(f"sust_p_{name}", "sust.p.1d.b32.zero", surface,
                         words_of(np.arange(count), words)))  # fmt: skip
        for channels in (2, 4):
            few = words[: count // channels * channels].reshape(-1, channels)
            given = np.full((1, 1, len(few), channels), 85, dtype)
            number = None if format_ is None else format_ + channels // 2
            surface = Resource("1d", (given,), SURFACE, number)
            made.append(Case(f"sust_p_{name}_v{channels}", f"sust.p.1d.v{channels}.b32.zero",
                             surface, words_of(np.arange(len(few)), *few.T)))  # fmt: skip
        four = Resource("1d", (np.full((1, 1, 16, 4), 85, dtype),), SURFACE,
                        None if format_ is None else format_ + 2)  # fmt: skip
        made.append(
            Case(
                f"sust_p_{name}_1to4",
                "sust.p.1d.b32.zero",
                four,
                words_of(np.arange(-2, 18), words[:20]),
            )
        )
        one = Resource("1d", (np.full((1, 1, 16, 1), 85, dtype),), SURFACE, format_)
        made.append(Case(f"sust_p_{name}_4to1", "sust.p.1d.v4.b32.zero", one,
                         words_of(np.arange(-2, 18), *words[:80].reshape(4, 20))))  # fmt: skip
    for kind in SHAPES:
        at = _every_place(kind, 1)
        data = random.integers(0, 1 << 32, (4, len(at[0])))
        made.append(Case(f"sust_p_{kind}", f"sust.p.{kind}.v4.b32.trap",
                         _resource(random, kind, "u2", 4), words_of(*at, *data)))  # fmt: skip
        for number in range(3):
            beyond = [
                axis + 20 * (n == number % len(at))
                for n, axis in enumerate(_places(random, kind, 1, 1, beyond=0))
            ]
            made.append(Case(f"sust_p_{kind}_clamp{number}", f"sust.p.{kind}.v4.b32.clamp",
                             _resource(random, kind, "u2", 4),
                             words_of(*beyond, *data[:, :1])))  # fmt: skip
    return made


def _reductions(random: Random) -> list[Case]:
    made = []
    for form in ("b", "p"):
        combos = (
            [("add", t) for t in ("u32", "s32", "u64")]
            + [(op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
            + [(op, "b32") for op in ("and", "or")]
            if form == "b"
            else [(op, t) for op in ("add", "min", "max", "and", "or") for t in ("b32", "b64")
                  if (op, t) != ("add", "b64") and not (op in ("and", "or") and t == "b64")]
        )  # fmt: skip
        for operation, type_ in combos:
            wide = type_.endswith("64")
            for dtype, channels in (("u4", 2), ("i4", 2)) if wide else (("u4", 1), ("i4", 1)):
                for kind in ("1d", "2d", "3d"):
                    size = 8 if wide else 4
                    at = _every_place(kind, size if form == "b" else 1)
                    at = [np.concatenate([axis, axis]) for axis in at]
                    at[-1][::5] += 1000
                    data = random.integers(0, 1 << 32, (2 if wide else 1, len(at[0])))
                    made.append(Case(f"sured_{form}_{operation}_{type_}_{dtype}_{kind}",
                                     f"sured.{form}.{operation}.{kind}.{type_}.zero",
                                     _resource(random, kind, dtype, channels),
                                     words_of(*at, *data)))  # fmt: skip
    for mode in ("clamp", "trap"):
        at = [np.array([3 if mode == "trap" else 30]) * 4, np.array([2])]
        made.append(Case(f"sured_{mode}", f"sured.b.add.2d.u32.{mode}",
                         _resource(random, "2d", "u4", 1), words_of(*at, [1234567])))  # fmt: skip
    for dtype, channels in (("u1", 1), ("u1", 4), ("f4", 1), ("u2", 2), ("u4", 4), ("u4", 2)):
        made.append(Case(f"sured_of_{dtype}{channels}", "sured.b.add.1d.u32.zero",
                         _resource(random, "1d", dtype, channels),
                         words_of(np.arange(0, 40, 4), np.arange(10) * 1000003)))  # fmt: skip
        made.append(Case(f"sured_odd_{dtype}{channels}", "sured.b.add.1d.u32.zero",
                         _resource(random, "1d", dtype, channels),
                         words_of([4, 8], [77777, 99999999])))  # fmt: skip
        made.append(Case(f"sured_p_of_{dtype}{channels}", "sured.p.add.1d.b32.zero",
                         _resource(random, "1d", dtype, channels),
                         words_of(np.arange(10), np.arange(10) * 1000003)))  # fmt: skip
    return made


def _queries(random: Random) -> list[Case]:
    """Queries of textures, by level, and of surfaces."""
    made = []
    none = np.zeros((1, 1), np.uint32)
    shapes = {**SHAPES, "cube": (6, 5, 5), "acube": (12, 5, 5)}
    for kind, shape in shapes.items():
        for dtype, channels in (("f4", 1), ("u1", 4), ("i2", 2)):
            levels = tuple(
                texels(random, dtype, shape[0] if kind != "3d" else max(shape[0] >> n, 1),
                       1 if kind in ("1d", "a1d") else max(shape[1] >> n, 1),
                       max(shape[2] >> n, 1), channels)
                for n in range(2)
            )  # fmt: skip
            for name, resource in (("", Resource(kind, levels[:1])),
                                   ("levels", Resource(kind, levels))):  # fmt: skip
                for query in ("width", "height", "depth", "channel_data_type", "channel_order",
                              "normalized_coords", "array_size", "num_mipmap_levels",
                              "num_samples", "force_unnormalized_coords", "filter_mode",
                              "addr_mode_0", "addr_mode_1", "addr_mode_2"):  # fmt: skip
                    if (dtype, channels) != ("f4", 1) and "channel" not in query:
                        continue
                    made.append(Case(f"txq_{kind}_{dtype}_{query}{name}", f"txq.{query}.b32",
                                     resource, none, Sampling(filter=1, most=9.0,
                                                              flags=NORMALIZED)))  # fmt: skip
                for query in ("width", "height", "depth"):
                    if dtype == "f4":
                        steps = words_of(np.arange(-1, 4))
                        made.append(Case(f"txq_level_{kind}_{query}{name}",
                                         f"txq.level.{query}.b32", resource, steps,
                                         Sampling(most=9.0, flags=NORMALIZED)))  # fmt: skip
            if kind == "acube":
                continue
            surface = Resource(kind, levels[:1], SURFACE)
            for query in (
                "width",
                "height",
                "depth",
                "channel_data_type",
                "channel_order",
                "array_size",
                "memory_layout",
            ):
                made.append(Case(f"suq_{kind}_{dtype}_{query}", f"suq.{query}.b32", surface, none))
    return made


FLAGS = {"cube": CUBEMAP, "acube": CUBEMAP | LAYERED}
