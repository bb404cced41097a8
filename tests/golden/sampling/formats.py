"""Cases of normalized formats, linear memory, anisotropy, and samplers beside a texture."""

from __future__ import annotations

import numpy as np

from tests.golden.sampling.case import (
    BORDER,
    CLAMP,
    FULL_TRILINEAR,
    GATHER,
    INTEGER,
    LINEAR,
    MIRROR,
    NORMALIZED,
    POINT,
    SRGB,
    SURFACE,
    WRAP,
    Array,
    Case,
    Resource,
    Sampling,
    words_of,
)
from tests.golden.sampling.filters import texels

Random = np.random.Generator
FORMATS = {"unorm8": (0xC0, "u1"), "unorm16": (0xC3, "u2"), "snorm8": (0xC6, "i1"),
           "snorm16": (0xC9, "i2")}  # fmt: skip
"""The format with one channel, and the type of a channel; two and four channels follow."""
_COLOR = (0.3, 0.7, -0.4, 1.0)
_SMOOTH = Sampling(filter=LINEAR)


def cases() -> list[Case]:
    """All of them."""
    random = np.random.default_rng(15)
    made = [*_formats(random), *_memory(random), *_anisotropic(random), *_samplers(random)]
    return [case for case in made if not _is_left_out(case)]


def _is_left_out(case: Case) -> bool:
    """Return whether a driver refuses a case, or the emulated device does by name.

    The driver takes normalized formats for arrays only. The emulated device has no anisotropic
    gradients, no filter of integers, and no sampler beside a texture in unified mode.
    """
    resource = case.resource
    return (
        bool(resource.memory and resource.format)
        or ".grad." in case.instruction
        or case.more == "sampler"
        or (case.sampling.filter == LINEAR and resource.levels[0].dtype == np.uint32
            and resource.memory == "pitched")
    )  # fmt: skip


def _resource(random: Random, name: str, place: int, shape: tuple[int, ...], **more: object
              ) -> Resource:  # fmt: skip
    first, dtype = FORMATS[name]
    kind = {1: "1d", 2: "2d", 3: "3d"}[len(shape)]
    shape = (1,) * (3 - len(shape)) + shape
    made = texels(random, dtype, *shape, (1, 2, 4)[place])
    limits = np.iinfo(dtype)
    ends = np.array([limits.min, limits.max, limits.max - 1, limits.min + 1, limits.max // 2])
    made.reshape(-1)[: len(ends)] = ends
    return Resource(kind, (made,), format=first + place, **more)  # type: ignore[arg-type]


def _formats(random: Random) -> list[Case]:
    made = []
    for name in FORMATS:
        for place, channels in enumerate((1, 2, 4)):
            plane = _resource(random, name, place, (16, 16), flags=SURFACE)
            rows, columns = np.divmod(np.arange(256), 16)
            whole = words_of(columns, rows)
            middle = words_of(columns + np.float32(0.5), rows + np.float32(0.5))
            near = words_of(*random.uniform(-2, 18, (2, 128)).astype(np.float32))
            wide = words_of(*random.uniform(-2, 3, (2, 128)).astype(np.float32))
            label, bytes_ = f"{name}_{channels}", np.dtype(FORMATS[name][1]).itemsize
            form = "tex.2d.v4.f32.f32"
            border = Sampling(modes=(BORDER,) * 3, border=_COLOR)
            made += [
                Case(f"{label}_whole", "tex.2d.v4.f32.s32", plane, whole),
                Case(f"{label}_point", form, plane, middle),
                Case(f"{label}_integer", form, plane, middle, Sampling(flags=INTEGER)),
                Case(f"{label}_srgb", form, plane, middle, Sampling(flags=SRGB)),
                Case(f"{label}_linear", form, plane, near, _SMOOTH),
                Case(f"{label}_linear_integer", form, plane, near,
                     Sampling(filter=LINEAR, flags=INTEGER)),
                Case(f"{label}_linear_srgb", form, plane, near,
                     Sampling(filter=LINEAR, flags=SRGB)),
                Case(f"{label}_wrap", form, plane, wide,
                     Sampling((WRAP, MIRROR, CLAMP), LINEAR, flags=NORMALIZED)),
                Case(f"{label}_border", form, plane, near, border),
                Case(f"{label}_border_integer", form, plane, near,
                     Sampling(modes=(BORDER,) * 3, border=_COLOR, flags=INTEGER)),
                Case(f"{label}_half", "tex.2d.v4.f16.f32", plane, middle),
                Case(f"{label}_suld", f"suld.b.2d.b{8 * bytes_}.zero", plane,
                     words_of(columns * bytes_, rows)),
            ]  # fmt: skip
            gather = _resource(random, name, place, (16, 16), flags=GATHER)
            made.append(Case(f"{label}_gather", "tld4.r.2d.v4.f32.f32", gather, near))
            box = _resource(random, name, place, (4, 5, 6))
            at = words_of(*random.uniform(0, 5, (3, 64)).astype(np.float32))
            made.append(Case(f"{label}_box", "tex.3d.v4.f32.f32", box, at, _SMOOTH))
            for view, code in (("UINT", 1), ("SINT", 4)):
                shown = code + (6 if bytes_ == 2 else 0) + place
                how = Sampling(view=(("format", shown), ("width", 16), ("height", 16)))
                made.append(Case(f"{label}_view_{view}", form, plane, middle, how))
    return made


def _memory(random: Random) -> list[Case]:
    made = []
    for name in FORMATS:
        for place, channels in enumerate((1, 2, 4)):
            line = _resource(random, name, place, (64,), memory="linear")
            made.append(Case(f"linear_{name}_{channels}", "tex.1d.v4.f32.s32", line,
                             words_of(np.arange(-2, 66))))  # fmt: skip
            plane = _resource(random, name, place, (8, 16), memory="pitched")
            at = words_of(*random.uniform(-2, 18, (2, 64)).astype(np.float32))
            made.append(Case(f"pitched_{name}_{channels}", "tex.2d.v4.f32.f32", plane, at, _SMOOTH))
    plain = {kind: texels(random, kind, 1, 1, 64, 1) for kind in ("u1", "f4", "u4")}
    for kind, held in plain.items():
        line = Resource("1d", (held,), memory="linear")
        for flags in (0, NORMALIZED):
            for filter_ in (POINT, LINEAR):
                for mode in (WRAP, CLAMP, MIRROR, BORDER):
                    how = Sampling((mode,) * 3, filter_, flags=flags, border=_COLOR)
                    label = f"line_{kind}_{flags}_{filter_}_{mode}"
                    at = random.uniform(-1.5, 2.5, 96) if flags else random.uniform(-3, 67, 96)
                    made.append(Case(f"{label}_whole", "tex.1d.v4.f32.s32", line,
                                     words_of(np.arange(-2, 67)), how))  # fmt: skip
                    made.append(Case(f"{label}_float", "tex.1d.v4.f32.f32", line,
                                     words_of(at.astype(np.float32)), how))  # fmt: skip
        square = Resource("2d", (texels(random, kind, 1, 8, 16, 1),), memory="pitched")
        for filter_ in (POINT, LINEAR):
            how = Sampling((WRAP, MIRROR, CLAMP), filter_, flags=NORMALIZED)
            at = words_of(*random.uniform(-1.5, 2.5, (2, 96)).astype(np.float32))
            made.append(Case(f"square_{kind}_{filter_}", "tex.2d.v4.f32.f32", square, at, how))
    return made


def _pyramid(random: Random, kind: str) -> Resource:
    sizes = [(64 >> level if kind == "3d" else 1, 64 >> level if kind != "1d" else 1, 64 >> level)
             for level in range(7)]  # fmt: skip
    return Resource(kind, tuple(texels(random, "f4", *size, 1) for size in sizes), mipmapped=True)


def _turned(random: Random, count: int, ratio: float) -> Array:
    """Two gradients at right angles, with lengths whose ratio is given."""
    angle = random.uniform(0, 2 * np.pi, count)
    long = np.exp2(random.uniform(-6, -2, count))
    x = np.stack([np.cos(angle), np.sin(angle)]) * long
    y = np.stack([-np.sin(angle), np.cos(angle)]) * long / ratio
    return np.concatenate([x, y]).astype(np.float32)


def _anisotropic(random: Random) -> list[Case]:
    made = []
    full = {"between_levels": LINEAR, "flags": NORMALIZED | FULL_TRILINEAR, "most": 15.0}
    for kind, axes in (("1d", 1), ("2d", 2), ("3d", 3)):
        pyramid = _pyramid(random, kind)
        at = random.uniform(-0.5, 1.5, (axes, 128)).astype(np.float32)
        lod = random.uniform(-1, 7, 128).astype(np.float32)
        for most in (0, 1, 2, 5, 16, 64):
            for filter_ in (POINT, LINEAR):
                how = Sampling(filter=filter_, anisotropy=most, **full)  # type: ignore[arg-type]
                label = f"aniso_{kind}_{most}_{filter_}"
                made.append(Case(f"{label}_plain", f"tex.{kind}.v4.f32.f32", pyramid,
                                 words_of(*at), how))  # fmt: skip
                made.append(Case(f"{label}_level", f"tex.level.{kind}.v4.f32.f32", pyramid,
                                 words_of(*at, lod), how))  # fmt: skip
                if kind != "2d":
                    continue
                for ratio in (1, 1.5, 3, 12):
                    gradients = _turned(np.random.default_rng(int(10 * ratio)), 128, ratio)
                    made.append(Case(f"{label}_grad{ratio}", "tex.grad.2d.v4.f32.f32", pyramid,
                                     words_of(*at, *gradients), how))  # fmt: skip
                single = Resource("2d", pyramid.levels[:1])
                made.append(Case(f"{label}_single", "tex.2d.v4.f32.f32", single, words_of(*at),
                                 how))  # fmt: skip
                made.append(Case(f"{label}_single_grad", "tex.grad.2d.v4.f32.f32", single,
                                 words_of(*at, *_turned(random, 128, 4)), how))  # fmt: skip
    return made


def _samplers(random: Random) -> list[Case]:
    made = []
    square = Resource("2d", (texels(random, "f4", 1, 8, 16, 1),), GATHER)
    at = words_of(*random.uniform(-1.5, 2.5, (2, 96)).astype(np.float32))
    own = Sampling((WRAP, MIRROR, CLAMP), LINEAR, flags=NORMALIZED)
    others = {
        "same": own,
        "point": Sampling((WRAP, MIRROR, CLAMP), POINT, flags=NORMALIZED),
        "modes": Sampling((BORDER, CLAMP, CLAMP), LINEAR, flags=NORMALIZED, border=_COLOR),
        "texels": Sampling(filter=LINEAR),
    }
    for name, other in others.items():
        for opcode in ("tex.2d", "tld4.r.2d"):
            for more in ("sampler", "independent"):
                made.append(Case(f"sampler_{name}_{opcode}_{more}", f"{opcode}.v4.f32.f32", square,
                                 at, own, more, other))  # fmt: skip
    return made
