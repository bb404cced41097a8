"""Matrix instructions (PTX manual 9.7.14): rows for ``cudarun.emulator.machine.matrices``."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.matrices import (
    LoadMatrix,
    Multiply,
    StoreMatrix,
    TransposeMatrix,
    WarpMatrixTransfer,
    WarpMultiply,
)
from cudarun.emulator.machine.narrow_matrices import (
    LoadNarrowMatrix,
    MultiplyNarrow,
    StoreNarrowMatrix,
)
from cudarun.emulator.machine.quarters import MultiplyQuarters

_MMA = "mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype"
_SPARSE = "mma.sp.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype"
_BYTES = "s8 u8"
_NIBBLES = "s4 u4"
_FP8 = "e4m3 e5m2"
_HALVES = "{d:b32}, {a:b32}, {b:b32}, {c:b32}"
_SINGLES = "{d:f32}, {a:b32}, {b:b32}, {c:f32}"
_INTEGERS = "{d:s32}, {a:b32}, {b:b32}, {c:s32}"


def _mma(syntax: str, shape: str, d: str, a: str) -> InstructionForm:
    return form(f"{_MMA}  {syntax}", action=Multiply, shape=shape, dtype=d, atype=a, btype=a,
                ctype=d)  # fmt: skip


def _sparse(syntax: str, shape: str, d: str, a: str) -> InstructionForm:
    return form(f"{_SPARSE}  {syntax}, metadata:b32, selector:int", action=Multiply, shape=shape,
                dtype=d, atype=a, btype=a, ctype=d, sp="sp sp::ordered_metadata")  # fmt: skip


def _quarters(operands: str, d: str, c: str) -> InstructionForm:
    return form(f"mma.sync.aligned.shape.alayout.blayout.dtype.f16.f16.ctype  {operands}",
                action=MultiplyQuarters, shape="m8n8k4", alayout="row col", blayout="row col",
                dtype=d, ctype=c)  # fmt: skip


_NARROW_TYPES = "e2m1 e2m3 e3m2 e4m3 e5m2"
_TYPES_OF_MMA = "dtype.atype.btype.ctype"
_SCALES = "scale-a:b32, {id-a:u16}, scale-b:b32, {id-b:u16}"


def _narrow(operands: str, d: str) -> Iterator[InstructionForm]:
    """Return the rows of ``.kind::f8f6f4`` with a type of sums."""
    rest = f"row.col.kind.{_TYPES_OF_MMA}  {operands}"
    how: Keywords = {"action": MultiplyNarrow, "kind": "kind::f8f6f4", "dtype": d, "ctype": d}
    for shapes, types in (("m16n8k32", _NARROW_TYPES), ("m16n8k16", _FP8)):
        yield form(f"mma.sync.aligned.shape.{rest}", shape=shapes, atype=types, btype=types, **how)
    yield form(f"mma.sp.sync.aligned.shape.{rest}, metadata:b32, selector:int", shape="m16n8k64",
               sp="sp::ordered_metadata", atype=_NARROW_TYPES, btype=_NARROW_TYPES,
               **how)  # fmt: skip


def _scaled(k: int, kind: str, types: str, scales: str, vectors: str) -> Iterator[InstructionForm]:
    """Return the rows of a kind with scale factors: dense, and sparse with twice as long rows."""
    vector = ".vector" if kind == "kind::mxf4nvf4" else "{.vector}"
    rest = f"row.col.kind.block_scale{vector}.{_TYPES_OF_MMA}.stype  {_SINGLES}"
    how: Keywords = {"action": MultiplyNarrow, "kind": kind, "dtype": "f32", "atype": types,
                           "btype": types, "ctype": "f32", "stype": scales,
                           "vector": vectors}  # fmt: skip
    yield form(f"mma.sync.aligned.shape.{rest}, {_SCALES}", shape=f"m16n8k{k}", **how)
    yield form(f"mma.sp.sync.aligned.shape.{rest}, metadata:b32, selector:int, {_SCALES}",
               sp="sp::ordered_metadata", shape=f"m16n8k{2 * k}", **how)  # fmt: skip


_SPACES = "global shared shared::cta"
_WMMA_SHAPES = "m16n16k16 m32n8k16 m8n32k16"
_SUM_SHAPES = f"{_WMMA_SHAPES} m16n16k8 m8n8k4 m8n8k32 m8n8k128"
_LOAD = "wmma.load.which.sync{.aligned}.layout.shape{.space}.type"
_STORE = "wmma.store.which.sync{.aligned}.layout.shape{.space}.type"
_TRANSFER: Keywords = {"layout": "row col", "space": _SPACES, "action": WarpMatrixTransfer}
_INPUTS: Keywords = {**_TRANSFER, "which": "a b"}
_PRODUCT = "wmma.mma.sync{.aligned}.alayout.blayout.shape"
_LAYOUTS: Keywords = {"alayout": "row col", "blayout": "row col", "action": WarpMultiply}
# Their fragments are those of ``mma``.
_NARROW: Keywords = {**_LAYOUTS, "action": Multiply}

FORMS: tuple[InstructionForm, ...] = (
    _quarters(_HALVES, "f16", "f16"),
    _quarters("{d:f32}, {a:b32}, {b:b32}, {c:b32}", "f32", "f16"),
    _quarters(_SINGLES, "f32", "f32"),
    _mma(_HALVES, "m16n8k8 m16n8k16", "f16", "f16"),
    _mma(_SINGLES, "m16n8k8 m16n8k16", "f32", "f16"),
    _mma(_SINGLES, "m16n8k8 m16n8k16", "f32", "bf16"),
    _mma(_SINGLES, "m16n8k4 m16n8k8", "f32", "tf32"),
    _mma(_HALVES, "m16n8k16 m16n8k32", "f16", _FP8),
    _mma(_SINGLES, "m16n8k16 m16n8k32", "f32", _FP8),
    _mma(_INTEGERS, "m8n8k16 m16n8k16 m16n8k32", "s32", _BYTES),
    _mma(_INTEGERS, "m8n8k32 m16n8k32 m16n8k64", "s32", _NIBBLES),
    form(f"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.op.popc  {_INTEGERS}",
         action=Multiply, shape="m8n8k128 m16n8k128 m16n8k256", dtype="s32", atype="b1",
         btype="b1", ctype="s32", op="xor and"),
    form("mma.sync.aligned.shape.row.col{.rnd}.dtype.atype.btype.ctype  "
         "{d:f64}, {a:f64}, {b:f64}, {c:f64}", action=Multiply,
         shape="m8n8k4 m16n8k4 m16n8k8 m16n8k16", rnd="rn rz rm rp", dtype="f64", atype="f64",
         btype="f64", ctype="f64"),
    _sparse(_HALVES, "m16n8k16 m16n8k32", "f16", "f16"),
    _sparse(_SINGLES, "m16n8k16 m16n8k32", "f32", "f16"),
    _sparse(_SINGLES, "m16n8k16 m16n8k32", "f32", "bf16"),
    _sparse(_SINGLES, "m16n8k8 m16n8k16", "f32", "tf32"),
    _sparse(_SINGLES, "m16n8k64", "f32", _FP8),
    form(f"mma.sp.sync.aligned.shape.row.col.{_TYPES_OF_MMA}  {_HALVES}, metadata:b32, "
         "selector:int", action=Multiply, sp="sp::ordered_metadata", shape="m16n8k64", dtype="f16",
         atype=_FP8, btype=_FP8, ctype="f16"),
    _sparse(_INTEGERS, "m16n8k32 m16n8k64", "s32", _BYTES),
    _sparse(_INTEGERS, "m16n8k64 m16n8k128", "s32", _NIBBLES),
    form("ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  {d:b32}, [a]", action=LoadMatrix,
         writes=1, num="x1 x2 x4", space="shared shared::cta"),
    form("stmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  [a], {d:b32}", action=StoreMatrix,
         num="x1 x2 x4", space="shared shared::cta"),
    *_narrow(_HALVES, "f16"),
    *_narrow(_SINGLES, "f32"),
    *_scaled(32, "kind::mxf8f6f4", _NARROW_TYPES, "ue8m0", "scale_vec::1X"),
    *_scaled(64, "kind::mxf4", "e2m1", "ue8m0", "scale_vec::2X"),
    *_scaled(64, "kind::mxf4nvf4", "e2m1", "ue8m0", "scale_vec::2X scale_vec::4X"),
    *_scaled(64, "kind::mxf4nvf4", "e2m1", "ue4m3", "scale_vec::4X"),
    form("ldmatrix.sync.aligned.shape.num.b8x16.source{.space}  {d:b32}, [a]", writes=1,
         action=LoadNarrowMatrix, shape="m8n16", num="x1 x2 x4", source="b6x16_p32 b4x16_p64",
         space="shared shared::cta"),
    form("ldmatrix.sync.aligned.shape.num.trans.b8x16.source{.space}  {d:b32}, [a]", writes=1,
         action=LoadNarrowMatrix, shape="m16n16", num="x1 x2", source="b6x16_p32 b4x16_p64",
         space="shared shared::cta"),
    form("ldmatrix.sync.aligned.shape.num.trans{.space}.b8  {d:b32}, [a]", writes=1,
         action=LoadNarrowMatrix, shape="m16n16", num="x1 x2", space="shared shared::cta"),
    form("stmatrix.sync.aligned.shape.num.trans{.space}.b8  [a], {d:b32}",
         action=StoreNarrowMatrix, shape="m16n8", num="x1 x2 x4", space="shared shared::cta"),
    form("movmatrix.sync.aligned.m8n8.trans.b16  d:b32, a:b32", action=TransposeMatrix),
    # wmma: registers are pairs of f16, single f32, s32 and f64, and words for the rest.
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape=_WMMA_SHAPES,
         type="f16 bf16 s8 u8", **_INPUTS),
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape="m16n16k8", type="tf32",
         **_INPUTS),
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape="m8n8k32", type=_NIBBLES,
         **_INPUTS),
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape="m8n8k128", type="b1",
         **_INPUTS),
    form(f"{_LOAD}  {{d:f64}}, [a], ?stride:u32", writes=1, shape="m8n8k4", type="f64", **_INPUTS),
    form(f"{_LOAD}  {{d:b32}}, [a], ?stride:u32", writes=1, shape=_WMMA_SHAPES, type="f16",
         which="c", **_TRANSFER),
    form(f"{_LOAD}  {{d}}, [a], ?stride:u32", writes=1, shape=_SUM_SHAPES,
         type="f32 s32 f64", which="c", **_TRANSFER),
    form(f"{_STORE}  [a], {{d:b32}}, ?stride:u32", shape=_WMMA_SHAPES, type="f16", which="d",
         **_TRANSFER),
    form(f"{_STORE}  [a], {{d}}, ?stride:u32", shape=_SUM_SHAPES,
         type="f32 s32 f64", which="d", **_TRANSFER),
    form(f"{_PRODUCT}.dtype.ctype{{.satfinite}}  {{d:b32}}, {{a:b32}}, {{b:b32}}, {{c:b32}}",
         dtype="f16", ctype="f16", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.ctype{{.satfinite}}  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:b32}}",
         dtype="f32", ctype="f16", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.ctype{{.satfinite}}  {{d:b32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}",
         dtype="f16", ctype="f32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.ctype{{.satfinite}}  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}",
         dtype="f32", ctype="f32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.atype.btype.ctype  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}",
         dtype="f32", atype="bf16", btype="bf16", ctype="f32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.atype.btype.ctype  {{d:f32}}, {{a:b32}}, {{b:b32}}, {{c:f32}}",
         dtype="f32", atype="tf32", btype="tf32", ctype="f32", shape="m16n16k8", **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.atype.btype.ctype{{.satfinite}}  {_INTEGERS}", dtype="s32",
         atype=_BYTES, btype=_BYTES, ctype="s32", shape=_WMMA_SHAPES, **_LAYOUTS),
    form(f"{_PRODUCT}.dtype.atype.btype.ctype{{.satfinite}}  {_INTEGERS}", dtype="s32",
         atype=_NIBBLES, btype=_NIBBLES, ctype="s32", shape="m8n8k32", **_NARROW),
    form("wmma.mma.op.popc.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype  "
         f"{_INTEGERS}", dtype="s32", atype="b1", btype="b1", ctype="s32", shape="m8n8k128",
         op="xor and", **_NARROW),
    form(f"{_PRODUCT}{{.rnd}}.dtype.atype.btype.ctype  "
         "{d:f64}, {a:f64}, {b:f64}, {c:f64}", rnd="rn rz rm rp",
         dtype="f64", atype="f64", btype="f64", ctype="f64", shape="m8n8k4", **_LAYOUTS),
)  # fmt: skip
