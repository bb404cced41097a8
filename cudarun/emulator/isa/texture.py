"""Textures (PTX manual 9.7.10): rows for ``cudarun.emulator.machine.fetches``.

Only the unified mode with an object in a register, which is what compilers emit: no ``.texref``, no
separate sampler. Textures have one mipmap level, so ``.level`` and ``.grad`` have no effect.
"""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.fetches import Fetch, Query

_GEOMETRIES: dict[str, Any] = {"geom": "1d 2d", "dtype": "u32 s32 f32"}
_FETCH: dict[str, Any] = {"action": Fetch, **_GEOMETRIES}

FORMS: tuple[InstructionForm, ...] = (
    form("tex{.base}.geom.v4.dtype.ctype  {d:dtype}, [a {c:ctype}]", ctype="s32 f32", **_FETCH),
    form("tex.level.geom.v4.dtype.ctype  {d:dtype}, [a {c:ctype}], lod:f32", ctype="f32", **_FETCH),
    form("tex.grad.geom.v4.dtype.ctype  {d:dtype}, [a {c:ctype}], {dPdx:f32}, {dPdy:f32}",
         ctype="f32", **_FETCH),
    form("txq.query.b32  d, [a]", action=Query, query="width height"),
)  # fmt: skip
