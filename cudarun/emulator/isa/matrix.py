"""Matrix instructions (PTX manual 9.7.14): rows for ``cudarun.emulator.machine.matrices``.

Not implemented: sparse matrices, elements of less than 8 bits, ``m8n8k4`` of f16.
"""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.matrices import (
    LoadMatrix,
    Multiply,
    StoreMatrix,
    TransposeMatrix,
    WarpMatrixTransfer,
    WarpMultiply,
)

_MMA = "mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype"
_BYTES = "s8 u8"
_FP8 = "e4m3 e5m2"


def _mma(syntax: str, shape: str, d: str, a: str, c: str, b: str | None = None) -> InstructionForm:
    return form(f"{_MMA}  {syntax}", action=Multiply, shape=shape, dtype=d, atype=a, btype=b or a,
                ctype=c)  # fmt: skip


_SPACES = "global shared shared::cta"
_WMMA_SHAPES = "m16n16k16 m32n8k16 m8n32k16"
_LOAD = "wmma.load.which.sync.aligned.layout.shape{.space}.type"
_STORE = "wmma.store.which.sync.aligned.layout.shape{.space}.type"
_TRANSFER: dict[str, Any] = {"layout": "row col", "space": _SPACES, "action": WarpMatrixTransfer}
_INPUTS: dict[str, Any] = {**_TRANSFER, "which": "a b"}
_PRODUCT = "wmma.mma.sync.aligned.alayout.blayout.shape"
_LAYOUTS: dict[str, Any] = {"alayout": "row col", "blayout": "row col", "action": WarpMultiply}

FORMS: tuple[InstructionForm, ...] = (
    _mma("{d:b32}, {a:b32}, {b:b32}, {c:b32}", "m16n8k8 m16n8k16", "f16", "f16", "f16"),
    _mma("{d:f32}, {a:b32}, {b:b32}, {c:f32}", "m16n8k8 m16n8k16", "f32", "f16", "f32"),
    _mma("{d:f32}, {a:b32}, {b:b32}, {c:f32}", "m16n8k8 m16n8k16", "f32", "bf16", "f32"),
    _mma("{d:f32}, {a:b32}, {b:b32}, {c:f32}", "m16n8k4 m16n8k8", "f32", "tf32", "f32"),
    _mma("{d:f32}, {a:b32}, {b:b32}, {c:f32}", "m16n8k32", "f32", _FP8, "f32"),
    _mma("{d:s32}, {a:b32}, {b:b32}, {c:s32}", "m8n8k16 m16n8k16 m16n8k32", "s32", _BYTES, "s32"),
    _mma("{d:f64}, {a:f64}, {b:f64}, {c:f64}", "m8n8k4 m16n8k4 m16n8k8 m16n8k16", "f64", "f64",
         "f64"),
    form("ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  {d:b32}, [a]", action=LoadMatrix,
         writes=1, num="x1 x2 x4", space="shared shared::cta"),
    form("stmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  [a], {d:b32}", action=StoreMatrix,
         num="x1 x2 x4", space="shared shared::cta"),
    form("movmatrix.sync.aligned.m8n8.trans.b16  d:b32, a:b32", action=TransposeMatrix),
    # wmma: registers are pairs of f16, single f32, s32 and f64, and words for the rest.
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape=_WMMA_SHAPES,
         type="f16 bf16 s8 u8", **_INPUTS),
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape="m16n16k8", type="tf32",
         **_INPUTS),
    form(f"{_LOAD}  {{d:f64}}, [a], ?stride:u32", writes=1, shape="m8n8k4", type="f64", **_INPUTS),
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape=_WMMA_SHAPES, type="f16",
         which="c", **_TRANSFER),
    form(f"{_LOAD}  {{d}}, [a], ?stride:u32", writes=1, shape=f"{_WMMA_SHAPES} m16n16k8 m8n8k4",
         type="f32 s32 f64", which="c", **_TRANSFER),
    form(f"{_STORE}  [a], {{d:b32}}, ?stride:u32", shape=_WMMA_SHAPES, type="f16", which="d",
         **_TRANSFER),
    form(f"{_STORE}  [a], {{d}}, ?stride:u32", shape=f"{_WMMA_SHAPES} m16n16k8 m8n8k4",
         type="f32 s32 f64", which="d", **_TRANSFER),
    form(f"{_PRODUCT}.dtype.ctype  {{d:b32}}, {{a:b32}}, {{b:b32}}, {{c:b32}}", dtype="f16",
         ctype="f16", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.ctype  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:b32}}", dtype="f32",
         ctype="f16", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.ctype  {{d:b32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}", dtype="f16",
         ctype="f32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.ctype  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}", dtype="f32",
         ctype="f32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.atype.btype.ctype  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}",
         dtype="f32", atype="bf16", btype="bf16", ctype="f32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.atype.btype.ctype  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}",
         dtype="f32", atype="tf32", btype="tf32", ctype="f32", shape="m16n16k8", **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.atype.btype.ctype{{.satfinite}}  "
         "{d:s32}, {a:b32}, {b:b32}, {c:s32}",
         dtype="s32", atype=_BYTES, btype=_BYTES, ctype="s32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}{{.rn}}.dtype.atype.btype.ctype  "
         "{d:f64}, {a:f64}, {b:f64}, {c:f64}",
         dtype="f64", atype="f64", btype="f64", ctype="f64", shape="m8n8k4", **_LAYOUTS),
)  # fmt: skip
