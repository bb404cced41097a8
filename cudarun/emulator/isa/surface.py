"""Surfaces (PTX manual 9.7.11): rows for ``cudarun.emulator.machine.textures.surfaces``."""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.textures.fetches import Query
from cudarun.emulator.machine.textures.surfaces import (
    FormattedStore,
    SurfaceLoad,
    SurfaceReduction,
    SurfaceStore,
)

_GEOMETRIES: dict[str, Any] = {"geom": "1d 2d 3d a1d a2d", "clamp": "trap clamp zero"}
_BITS: dict[str, Any] = {**_GEOMETRIES, "vec": "v2 v4", "type": "b8 b16 b32 b64"}
_LOAD: dict[str, Any] = {**_BITS, "action": SurfaceLoad, "cop": "ca cg cs cv"}
_STORE: dict[str, Any] = {**_BITS, "action": SurfaceStore, "cop": "wb cg cs wt"}
_FORMATTED: dict[str, Any] = {**_STORE, "action": FormattedStore, "type": "b32"}
_REDUCTION: dict[str, Any] = {
    "action": SurfaceReduction,
    "geom": "1d 2d 3d",
    "clamp": "trap clamp zero",
}
_ADDRESS = "[a {c:s32}]"

FORMS: tuple[InstructionForm, ...] = (
    form(f"suld.b.geom{{.cop}}.type.clamp  ~d, {_ADDRESS}", **{**_LOAD, "vec": ""}),
    form(f"suld.b.geom{{.cop}}.vec.type.clamp  ~{{d}}, {_ADDRESS}", **_LOAD),
    form(f"sust.b.geom{{.cop}}.type.clamp  {_ADDRESS}, ~b", **{**_STORE, "vec": ""}),
    form(f"sust.b.geom{{.cop}}.vec.type.clamp  {_ADDRESS}, ~{{b}}", **_STORE),
    form(f"sust.p.geom{{.cop}}.type.clamp  {_ADDRESS}, b", **{**_FORMATTED, "vec": ""}),
    form(f"sust.p.geom{{.cop}}.vec.type.clamp  {_ADDRESS}, {{b}}", **_FORMATTED),
    form(f"sured.how.op.geom.type.clamp  {_ADDRESS}, b",
         how="b", op="add", type="u32 s32 u64", **_REDUCTION),
    form(f"sured.how.op.geom.type.clamp  {_ADDRESS}, b",
         how="b", op="min max", type="u32 s32 u64 s64", **_REDUCTION),
    form(f"sured.how.op.geom.type.clamp  {_ADDRESS}, b",
         how="b", op="and or", type="b32", **_REDUCTION),
    form(f"sured.how.op.geom.type.clamp  {_ADDRESS}, b",
         how="p", op="add and or", type="b32", **_REDUCTION),
    form(f"sured.how.op.geom.type.clamp  {_ADDRESS}, b",
         how="p", op="min max", type="b32 b64", **_REDUCTION),
    form("suq.query.b32  d, [a]", action=Query, query="width height depth"),
)  # fmt: skip
