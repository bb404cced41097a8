"""Tensor memory (PTX manual 9.7.16): rows for ``cudarun.emulator.machine.tensor_memory``."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.tensor_memory.allocation import Allocate, Deallocate, Relinquish
from cudarun.emulator.machine.tensor_memory.copies import CommitTensors, ShiftRows, TensorMemoryCopy
from cudarun.emulator.machine.tensor_memory.products import MultiplyTensors
from cudarun.emulator.machine.tensor_memory.transfers import (
    LoadTensorMemory,
    StoreTensorMemory,
    WaitForTransfers,
)
from cudarun.emulator.machine.transfers import NoEffect
from cudarun.emulator.words import Words

_GROUPS = "cta_group::1 cta_group::2"
_NUMBERS = "x1 x2 x4 x8 x16 x32 x64 x128"
_LONG_SHAPES = {"16x128b": "x128", "16x256b": "x64 x128"}
_A_USES = "collector::a::fill collector::a::use collector::a::lastuse collector::a::discard"
_B_USES = " ".join(
    f"collector::b{buffer}::{use}"
    for buffer in range(4)
    for use in ("fill", "use", "lastuse", "discard")
)
_EXPONENTS = "kind::f16 kind::tf32 kind::i8"
_VECTORS = {
    "kind::mxf8f6f4": ("", "scale_vec::1X", "block32"),
    "kind::mxf4": ("", "scale_vec::2X", "block32"),
    "kind::mxf4nvf4": ("scale_vec::2X", "scale_vec::4X", "block16", "block32"),
}


def _fits(words: Words) -> bool:
    return words["num"] not in _LONG_SHAPES.get(words["shape"], "").split()


def _transfers() -> Iterator[InstructionForm]:
    shape = "sync.aligned.shape.num"
    for shapes, split in (("32x32b 16x64b 16x128b 16x256b", ""), ("16x32bx2", ", split:int")):
        words: Keywords = {"shape": shapes, "num": _NUMBERS, "only": _fits}
        yield form(f"tcgen05.ld.{shape}{{.pack}}.b32  {{d:b32}}, [t:b32]{split}",
                   action=LoadTensorMemory, pack="pack::16b", writes=1, **words)  # fmt: skip
        yield form(f"tcgen05.st.{shape}{{.pack}}.b32  [t:b32]{split}, {{r:b32}}",
                   action=StoreTensorMemory, pack="unpack::16b", **words)  # fmt: skip
    for shapes, split in (("32x32b", ""), ("16x32bx2", ", split:int")):
        words = {"shape": shapes, "num": _NUMBERS.removeprefix("x1 "), "op": "min max"}
        for types, more in (("f32", "{.abs}{.nan}"), ("u32 s32", "")):
            yield form(f"tcgen05.ld.red.{shape}.op{more}.type  {{d:type}}, v:type, [t:b32]{split}",
                       action=LoadTensorMemory, type=types, nan="NaN", writes=2,
                       **words)  # fmt: skip


def _copies() -> Iterator[InstructionForm]:
    for shapes, multicast in (
        ("128x256b 4x256b 128x128b", ""),
        ("64x128b", ".multicast"),
        ("32x128b", ".multicast"),
    ):
        to = "warpx4" if shapes == "32x128b" else "warpx2::02_13 warpx2::01_23"
        for formats in ("", ".b8x16.source"):
            yield form(f"tcgen05.cp.group.shape{multicast}{formats}  [t:b32], s:b64",
                       action=TensorMemoryCopy, group=_GROUPS, shape=shapes, multicast=to,
                       source="b6x16_p32 b4x16_p64")  # fmt: skip


def _shifts(words: Words) -> bool:
    uses = ("collector::a::fill", "collector::a::use")
    return not (words.get("ashift") and words["uses"] in uses)


def _scaled(words: Words) -> bool:
    return words.get("vector", "") in _VECTORS[words["kind"]]


def _products() -> Iterator[InstructionForm]:
    for sparse, metadata in (("", ""), (".sp", ", [e:b32]")):
        for left in ("a:b64", "[t:b32]"):
            operands = f"[d:b32], {left}, b:b64{metadata}, i:b32"
            shift = "{.ashift}" if left.startswith("[") else ""
            for mask in ("", ", {mask:b32}"):
                # As with ptxas, i8 may have an exponent, which has no effect.
                plain = "kind::f8f6f4 kind::i8" if sparse and mask else "kind::f8f6f4"
                for kinds, scale in (
                    (_EXPONENTS.removesuffix(plain[12:]), ", ?scale:int"),
                    (plain, ""),
                ):
                    yield form(f"tcgen05.mma{sparse}.group.kind{shift}{{.uses}}  {operands}{mask}, "
                               f"enable:pred{scale}", action=MultiplyTensors, group=_GROUPS,
                               kind=kinds, uses=_A_USES, only=_shifts)  # fmt: skip
            yield form(f"tcgen05.mma{sparse}.group.kind.block_scale{{.vector}}{{.uses}}  "
                       f"{operands}, [sa:b32], [sb:b32], enable:pred", action=MultiplyTensors,
                       group=_GROUPS, kind=" ".join(_VECTORS), uses=_A_USES, only=_scaled,
                       vector="scale_vec::1X scale_vec::2X scale_vec::4X block16 block32",
                       )  # fmt: skip
            yield form(f"tcgen05.mma.ws{sparse}.group.kind{{.uses}}  {operands}, enable:pred, "
                       "?zeros:b64", action=MultiplyTensors, group="cta_group::1",
                       kind="kind::f16 kind::tf32 kind::f8f6f4 kind::i8", uses=_B_USES,
                       )  # fmt: skip


_COMMIT = "tcgen05.commit.group.mbarrier::arrive::one{.space}"

FORMS: tuple[InstructionForm, ...] = (
    form("tcgen05.alloc.group.sync.aligned{.space}.b32  [d], size:u32", action=Allocate,
         group=_GROUPS, space="shared::cta"),
    form("tcgen05.dealloc.group.sync.aligned.b32  t:b32, size:u32", action=Deallocate,
         group=_GROUPS, writes=0),
    form("tcgen05.relinquish_alloc_permit.group.sync.aligned", action=Relinquish, group=_GROUPS),
    *_transfers(),
    form("tcgen05.wait::ld.sync.aligned", action=WaitForTransfers),
    form("tcgen05.wait::st.sync.aligned", action=WaitForTransfers),
    *_copies(),
    form("tcgen05.shift.group.down  [t:b32]", action=ShiftRows, group=_GROUPS),
    *_products(),
    form(f"{_COMMIT}.b64  [m]", action=CommitTensors, group=_GROUPS, space="shared::cluster"),
    form(f"{_COMMIT}.multicast::cluster.b64  [m], mask:u16", action=CommitTensors, group=_GROUPS,
         space="shared::cluster"),
    form("tcgen05.fence::before_thread_sync", action=NoEffect),
    form("tcgen05.fence::after_thread_sync", action=NoEffect),
)  # fmt: skip
