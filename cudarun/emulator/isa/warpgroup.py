"""Matrices of warpgroups (PTX manual 9.7.15): rows for ``cudarun.emulator.machine.warpgroups``."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.warpgroups import MultiplyAsync, ProductFence, ProductGroups

_SIZES = range(8, 257, 8)
# For integers, from 32 on only every other one (the manual omits two that ptxas accepts).
_INTEGER_SIZES = [n for n in _SIZES if n <= 32 or n % 16 == 0]
_FP8 = "e4m3 e5m2"
_BYTES = "s8 u8"

_TRANSPOSED = "imm-trans-a:int, imm-trans-b:int"
_LEFT, _RIGHT = "a-desc:b64", "b-desc:b64"


def _shapes(k: int, *, integers: bool = False) -> str:
    return " ".join(f"m64n{n}k{k}" for n in (_INTEGER_SIZES if integers else _SIZES))


def _products(sp: str) -> Iterator[InstructionForm]:
    """Return the rows of dense matrices, or with ``.sp`` those of a sparse A."""
    head = f"wgmma.mma_async{sp}.sync.aligned.shape"
    metadata = ", metadata:b32, selector:int" if sp else ""
    factor = 2 if sp else 1
    rest = f"{_RIGHT}{metadata}, scale-d:pred"
    scales = f"{rest}, imm-scale-a:int, imm-scale-b:int"

    def row(operands: str, k: int, d: str, a: str) -> InstructionForm:
        return form(f"{head}.dtype.atype.btype  {operands}", action=MultiplyAsync,
                    shape=_shapes(k * factor), dtype=d, atype=a, btype=a)  # fmt: skip

    # As with ptxas, registers of f16 pairs are any 32 untyped bits.
    for d, register, a in (
        ("f16", "f16x2", "f16"), ("f32", "f32", "f16"), ("f32", "f32", "bf16"),
    ):  # fmt: skip
        yield row(f"+{{d:{register}}}, {_LEFT}, {scales}, {_TRANSPOSED}", 16, d, a)
        yield row(f"+{{d:{register}}}, {{a:f16x2}}, {scales}, imm-trans-b:int", 16, d, a)
    yield row(f"+{{d:f32}}, {_LEFT}, {scales}", 8, "f32", "tf32")
    yield row(f"+{{d:f32}}, {{a:f16x2}}, {scales}", 8, "f32", "tf32")
    for d, register in (("f16", "f16x2"), ("f32", "f32")):
        yield row(f"+{{d:{register}}}, {_LEFT}, {scales}", 32, d, _FP8)
        yield row(f"+{{d:{register}}}, {{a:f16x2}}, {scales}", 32, d, _FP8)
    for left in (_LEFT, "{a:b32}"):
        yield form(f"{head}{{.satfinite}}.dtype.atype.btype  +{{d:s32}}, {left}, {rest}",
                   action=MultiplyAsync, shape=_shapes(32 * factor, integers=True), dtype="s32",
                   atype=_BYTES, btype=_BYTES)  # fmt: skip


def _bits(left: str) -> InstructionForm:
    return form("wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.op.popc  "
                f"+{{d:s32}}, {left}, {_RIGHT}, scale-d:pred", action=MultiplyAsync,
                shape=_shapes(256, integers=True), dtype="s32", atype="b1", btype="b1",
                op="and")  # fmt: skip


FORMS: tuple[InstructionForm, ...] = (
    form("wgmma.fence.sync.aligned", action=ProductFence),
    form("wgmma.commit_group.sync.aligned", action=ProductGroups),
    form("wgmma.wait_group.sync.aligned  N:int", action=ProductGroups, writes=0),
    *_products(""),
    *_products(".sp"),
    _bits(_LEFT),
    _bits("{a:b32}"),
)
