"""Textures and surfaces (PTX manual 9.7.10, 9.7.11): rows for ``emulator.machine.textures``.

Objects are in registers, which is what compilers emit: no ``.texref``. Multi-sampled textures and
depths to compare with require arrays that CUDA does not create.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.textures.fetches import Fetch, Gather, Query
from cudarun.emulator.machine.textures.surfaces import (
    FormattedStore,
    SurfaceLoad,
    SurfaceReduction,
    SurfaceStore,
)
from cudarun.emulator.numerics.temporaries import result_of

_PLAIN = "1d 2d 3d a1d a2d"
_CUBES = "cube acube"
_TYPES: dict[str, str] = {"v4": "u32 s32 f32 f16", "v2": "f16x2"}
_PLACE = "{d:dtype}|?p, [a {c:ctype}]"

_GEOMETRIES: Keywords = {"geom": "1d 2d 3d a1d a2d", "clamp": "trap clamp zero"}
_BITS: Keywords = {**_GEOMETRIES, "vec": "v2 v4", "type": "b8 b16 b32 b64"}
_LOAD: Keywords = {**_BITS, "action": SurfaceLoad, "cop": "ca cg cs cv"}
_STORE: Keywords = {**_BITS, "action": SurfaceStore, "cop": "wb cg cs wt"}
_FORMATTED: Keywords = {**_STORE, "action": FormattedStore, "type": "b32"}
_REDUCTION: Keywords = {**_GEOMETRIES, "action": SurfaceReduction, "geom": "1d 2d 3d"}
_ADDRESS = "[a {c:s32}]"


def _fetches(vector: str) -> Iterator[InstructionForm]:
    """Return the rows of ``tex`` with results of two or four elements."""
    every: Keywords = {"action": Fetch, "dtype": _TYPES[vector]}
    for start, level, coordinates in (
        ("tex{.base}", "", "s32 f32"),
        ("tex.level", ", lod:ctype", "s32 f32"),
        ("tex.grad", ", {dPdx:f32}, {dPdy:f32}", "f32"),
    ):
        syntax = f"{start}.geom.{vector}.dtype.ctype  {_PLACE}{level}"
        yield form(f"{syntax}, ?{{e:s32}}", geom=_PLAIN, ctype=coordinates, **every)
        yield form(syntax, geom=_CUBES, ctype="f32", **every)


FORMS: tuple[InstructionForm, ...] = (
    *_fetches("v4"),
    *_fetches("v2"),
    form(f"tld4.comp.geom.v4.dtype.ctype  {_PLACE}, ?{{e:s32}}", action=Gather,
         comp="r g b a", geom="2d a2d", dtype="u32 s32 f32", ctype="f32"),
    form(f"tld4.comp.geom.v4.dtype.ctype  {_PLACE}", action=Gather,
         comp="r g b a", geom="cube acube", dtype="u32 s32 f32", ctype="f32"),
    form("txq.query.b32  d, [a]", action=Query, query="width height depth"),
    form("txq.level.query.b32  d, [a], lod:s32", action=Query, query="width height depth"),
    # No object of the driver is an opaque variable: false, as on hardware.
    form("istypep.kind  p:pred, a:u64", result_of(lambda a: np.zeros_like(a) != 0),
         kind="texref samplerref surfref"),
    form(f"suld.b.geom{{.cop}}.type.clamp  ~d, {_ADDRESS}", **{**_LOAD, "vec": ""}),
    form(f"suld.b.geom{{.cop}}.vec.type.clamp  ~{{d}}, {_ADDRESS}", **_LOAD),
    form(f"sust.b.geom{{.cop}}.type.clamp  {_ADDRESS}, ~b", **{**_STORE, "vec": ""}),
    form(f"sust.b.geom{{.cop}}.vec.type.clamp  {_ADDRESS}, ~{{b}}", **_STORE),
    form(f"sust.p.geom{{.cop}}.type.clamp  {_ADDRESS}, b", **{**_FORMATTED, "vec": ""}),
    form(f"sust.p.geom{{.cop}}.vec.type.clamp  {_ADDRESS}, {{b}}", **_FORMATTED),
    *(
        form(f"sured.how.op.geom.type.clamp  {_ADDRESS}, b", how=how, op=op, type=types,
             **_REDUCTION)
        for how, op, types in (
            ("b", "add", "u32 s32 u64"),
            ("b", "min max", "u32 s32 u64 s64"),
            ("b", "and or", "b32"),
            ("p", "add and or", "b32"),
            ("p", "min max", "b32 b64"),
        )
    ),
    form("suq.query.b32  d, [a]", action=Query, query="width height depth"),
)  # fmt: skip
