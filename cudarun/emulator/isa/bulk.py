"""Bulk copies, bulk reductions and asynchronous stores: rows for ``machine.bulk_copies``."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.bulk_copies import (
    AsyncReduction,
    AsyncStore,
    BulkCopy,
    BulkReduction,
    MaskedCopy,
    StoreBulk,
)
from cudarun.emulator.machine.tensor_maps.actions import PrefetchBulk
from cudarun.emulator.machine.transfers import GroupControl, MemoryStore

_REPORTING = "mbarrier::complete_tx::bytes"
_HINT: Keywords = {"hint": "L2::cache_hint"}
_COPY: Keywords = {"action": BulkCopy, **_HINT}
# Operations, and the types that they take in global memory, in shared memory, and of red.async.
_OPERATIONS = (
    ("add", "u32 s32 u64 f32 f64", "u32 s32 u64", "u32 s32 u64 s64"),
    ("min max", "u32 s32 u64 s64 f16 bf16", "u32 s32", "u32 s32"),
    ("inc dec", "u32", "u32", "u32"),
    ("and or xor", "b32 b64", "b32", "b32"),
)


def _reductions() -> Iterator[InstructionForm]:
    into_global = "cp.reduce.async.bulk.global.source.bulk_group{.hint}.op"
    operands = "[d], [a], size:u32, ?policy:u64"
    reduction: Keywords = {"action": BulkReduction, "source": "shared::cta", **_HINT}
    for operations, types, shared, stored in _OPERATIONS:
        yield form(f"{into_global}.type  {operands}", op=operations, type=types, **reduction)
        yield form(
            f"cp.reduce.async.bulk.to.source.{_REPORTING}.op.type  [d], [a], size:u32, [m]",
            action=BulkReduction, to="shared::cluster", source="shared::cta", op=operations,
            type=shared,
        )  # fmt: skip
        yield form(
            f"red.async.sem.scope{{.space}}.{_REPORTING}.op.type  [a], b, [m]",
            action=AsyncReduction, sem="relaxed", scope="cluster", space="shared::cluster",
            op=operations, type=stored,
        )  # fmt: skip
        # Without an object nothing waits for it: an operation of the thread.
        yield form(
            "red.async{.mmio}.sem.scope{.space}.op.type  [a], b", action=Atomic,
            sem="relaxed release", scope="gpu sys", space="global", op=operations,
            type=stored.replace(" s64", ""),
        )  # fmt: skip
    yield form(f"{into_global}.noftz.type  {operands}", op="add", type="f16 bf16", **reduction)


_STORE: Keywords = {
    "action": AsyncStore,
    "space": "shared::cta shared::cluster",
    "vec": "v2 v4",
    "type": "b32 b64 u32 u64 s32 s64 f32 f64",
}

FORMS: tuple[InstructionForm, ...] = (
    form(f"cp.async.bulk.to.global.{_REPORTING}{{.hint}}  [d], [a], size:u32, [m], ?policy:u64",
         to="shared::cluster shared::cta", **_COPY),
    form(f"cp.async.bulk.to.global.{_REPORTING}.multicast::cluster{{.hint}}  [d], [a], size:u32, "
         "[m], mask:u16, ?policy:u64", to="shared::cluster", **_COPY),
    form(f"cp.async.bulk.to.source.{_REPORTING}  [d], [a], size:u32, [m]",
         action=BulkCopy, to="shared::cluster", source="shared::cta"),
    form("cp.async.bulk.global.source.bulk_group{.hint}  [d], [a], size:u32, ?policy:u64",
         source="shared::cta", **_COPY),
    form("cp.async.bulk.prefetch.L2.global{.hint}  [a], size:u32, ?policy:u64", action=PrefetchBulk,
         **_HINT),
    form("cp.async.bulk.commit_group", action=GroupControl),
    form("cp.async.bulk.wait_group{.read}  n:int", action=GroupControl),
    *_reductions(),
    form("cp.async.bulk.global.source.bulk_group{.hint}.cp_mask  [d], [a], size:u32, bytes:u16",
         action=MaskedCopy, source="shared::cta", **_HINT),
    form("cp.async.bulk.global.source.bulk_group.hint.cp_mask  [d], [a], size:u32, policy:u64, "
         "bytes:u16", action=MaskedCopy, source="shared::cta", **_HINT),
    form("st.bulk{.weak}{.space}  [a], size:u64, zero:int", action=StoreBulk, space="shared::cta"),
    form("st.bulk{.weak}{.space}  [a], size:u32, zero:int", action=StoreBulk, space="shared::cta"),
    form("st.async{.mmio}.sem.scope{.space}.type  [a], ~b", action=MemoryStore, sem="release",
         scope="gpu sys", space="global", type="b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 "
         "f64"),
    form(f"st.async{{.weak}}{{.space}}.{_REPORTING}.type  [a], b, [m]", **_STORE),
    form(f"st.async{{.weak}}{{.space}}.{_REPORTING}.vec.type  [a], {{b}}, [m]", **_STORE),
)  # fmt: skip
