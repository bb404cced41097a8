"""Matrices of warpgroups (PTX manual 9.7.15): rows for ``cudarun.emulator.machine.warpgroups``.

Not implemented: sparse matrices and elements of one bit.
"""

from __future__ import annotations

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.warpgroups import MultiplyAsync, NothingPending, WaitGroup

_MMA = "wgmma.mma_async.sync.aligned.shape"
_REST = "b-desc:b64, scale-d:pred"
_SCALES = f"{_REST}, imm-scale-a:int, imm-scale-b:int"
_SIZES = range(8, 257, 8)
# For integers, from 32 on only every other one (the manual omits two that ptxas accepts).
_INTEGER_SIZES = (n for n in _SIZES if n <= 32 or n % 16 == 0)
_FP8 = "e4m3 e5m2"
_BYTES = "s8 u8"


def _shapes(k: int) -> str:
    return " ".join(f"m64n{n}k{k}" for n in _SIZES)


_K32_OF_INTEGERS = " ".join(f"m64n{n}k32" for n in _INTEGER_SIZES)


def _mma(operands: str, shape: str, d: str, a: str, b: str) -> InstructionForm:
    return form(f"{_MMA}.dtype.atype.btype  {operands}", action=MultiplyAsync, shape=shape,
                dtype=d, atype=a, btype=b)  # fmt: skip


def _integers(operands: str) -> InstructionForm:
    return form(f"{_MMA}{{.satfinite}}.dtype.atype.btype  {operands}", action=MultiplyAsync,
                shape=_K32_OF_INTEGERS, dtype="s32", atype=_BYTES, btype=_BYTES)  # fmt: skip


# As with ptxas, registers of f16 pairs are any 32 untyped bits.
FORMS: tuple[InstructionForm, ...] = (
    form("wgmma.fence.sync.aligned", action=NothingPending),
    form("wgmma.commit_group.sync.aligned", action=NothingPending),
    form("wgmma.wait_group.sync.aligned  N:int", action=WaitGroup, writes=0),
    _mma(f"+{{d:f16x2}}, a-desc:b64, {_SCALES}, imm-trans-a:int, imm-trans-b:int", _shapes(16),
         "f16", "f16", "f16"),
    _mma(f"+{{d:f16x2}}, {{a:f16x2}}, {_SCALES}, imm-trans-b:int", _shapes(16),
         "f16", "f16", "f16"),
    _mma(f"+{{d:f32}}, a-desc:b64, {_SCALES}, imm-trans-a:int, imm-trans-b:int", _shapes(16),
         "f32", "f16", "f16"),
    _mma(f"+{{d:f32}}, {{a:f16x2}}, {_SCALES}, imm-trans-b:int", _shapes(16),
         "f32", "f16", "f16"),
    _mma(f"+{{d:f32}}, a-desc:b64, {_SCALES}, imm-trans-a:int, imm-trans-b:int", _shapes(16),
         "f32", "bf16", "bf16"),
    _mma(f"+{{d:f32}}, {{a:f16x2}}, {_SCALES}, imm-trans-b:int", _shapes(16),
         "f32", "bf16", "bf16"),
    _mma(f"+{{d:f32}}, a-desc:b64, {_SCALES}", _shapes(8), "f32", "tf32", "tf32"),
    _mma(f"+{{d:f32}}, {{a:f16x2}}, {_SCALES}", _shapes(8), "f32", "tf32", "tf32"),
    _mma(f"+{{d:f16x2}}, a-desc:b64, {_SCALES}", _shapes(32), "f16", _FP8, _FP8),
    _mma(f"+{{d:f16x2}}, {{a:f16x2}}, {_SCALES}", _shapes(32), "f16", _FP8, _FP8),
    _mma(f"+{{d:f32}}, a-desc:b64, {_SCALES}", _shapes(32), "f32", _FP8, _FP8),
    _mma(f"+{{d:f32}}, {{a:f16x2}}, {_SCALES}", _shapes(32), "f32", _FP8, _FP8),
    _integers(f"+{{d:s32}}, a-desc:b64, {_REST}"),
    _integers(f"+{{d:s32}}, {{a:b32}}, {_REST}"),
)  # fmt: skip
