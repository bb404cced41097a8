"""Textures (PTX manual 9.7.10): rows for ``cudarun.emulator.machine.textures.fetches``.

Objects are in registers, which is what compilers emit: no ``.texref``. Multi-sampled textures and
depths to compare with require arrays that CUDA does not create.
"""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.textures.fetches import Fetch, Gather, IsType, Query

_PLAIN = "1d 2d 3d a1d a2d"
_CUBES = "cube acube"
_TYPES: dict[str, str] = {"v4": "u32 s32 f32 f16", "v2": "f16x2"}
_PLACE = "{d:dtype}|?p, [a {c:ctype}]"


def _fetches(vector: str) -> tuple[InstructionForm, ...]:
    """Return the rows of ``tex`` with results of two or four elements."""
    every: dict[str, Any] = {"action": Fetch, "dtype": _TYPES[vector]}
    end = f".geom.{vector}.dtype.ctype"
    result = _PLACE
    return (
        form(f"tex{{.base}}{end}  {result}, ?{{e:s32}}", geom=_PLAIN, ctype="s32 f32", **every),
        form(f"tex{{.base}}{end}  {result}", geom=_CUBES, ctype="f32", **every),
        form(f"tex.level{end}  {result}, lod:ctype, ?{{e:s32}}",
             geom=_PLAIN, ctype="s32 f32", **every),
        form(f"tex.level{end}  {result}, lod:ctype", geom=_CUBES, ctype="f32", **every),
        form(f"tex.grad{end}  {result}, {{dPdx:f32}}, {{dPdy:f32}}, ?{{e:s32}}",
             geom=_PLAIN, ctype="f32", **every),
        form(f"tex.grad{end}  {result}, {{dPdx:f32}}, {{dPdy:f32}}",
             geom=_CUBES, ctype="f32", **every),
    )  # fmt: skip


FORMS: tuple[InstructionForm, ...] = (
    *_fetches("v4"),
    *_fetches("v2"),
    form(f"tld4.comp.geom.v4.dtype.ctype  {_PLACE}, ?{{e:s32}}", action=Gather,
         comp="r g b a", geom="2d a2d", dtype="u32 s32 f32", ctype="f32"),
    form(f"tld4.comp.geom.v4.dtype.ctype  {_PLACE}", action=Gather,
         comp="r g b a", geom="cube acube", dtype="u32 s32 f32", ctype="f32"),
    form("txq.query.b32  d, [a]", action=Query, query="width height depth"),
    form("txq.level.query.b32  d, [a], lod:s32", action=Query, query="width height depth"),
    form("istypep.kind  p:pred, a:u64", action=IsType, kind="texref samplerref surfref"),
)  # fmt: skip
