"""Loads, stores, prefetches and asynchronous copies (PTX manual 9.7.9).

Cache operators, eviction priorities and prefetch sizes are hints without effect, and a batch of
lanes accesses memory in program order, which is stronger than every ``.sem``.
"""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.transfers import (
    AsynchronousCopy,
    GroupControl,
    MemoryLoad,
    MemoryStore,
    NoEffect,
)

_TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"
_WORDS: Keywords = {
    "scope": "cta cluster gpu sys",
    "l1": "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
    "l2": "L2::evict_normal L2::evict_first L2::evict_last",
    "hint": "L2::cache_hint",
    "prefetch": "L2::64B L2::128B L2::256B",
    "vec": "v2 v4 v8",
    "type": _TYPES,
}
_SHARED = "shared shared::cta shared::cluster"
# Spaces shared with other threads, to which strong loads and stores are restricted.
_SEEN: Keywords = {**_WORDS, "space": f"global {_SHARED}"}
_VOLATILE: Keywords = {**_WORDS, "space": f"global {_SHARED} local"}
_MMIO: Keywords = {"scope": "sys"}
_LOAD: Keywords = {
    **_WORDS,
    "action": MemoryLoad,
    "space": f"global {_SHARED} local const param param::entry param::func",
    "cop": "ca cg cs lu cv",
}
_STORE: Keywords = {
    **_WORDS,
    "action": MemoryStore,
    "space": f"global {_SHARED} local param param::func",
    "cop": "wb cg cs wt",
}
_COPY: Keywords = {
    "how": "ca cg",
    "to": "shared shared::cta",
    "hint": _WORDS["hint"],
    "prefetch": _WORDS["prefetch"],
}
_CACHE = "{.l1}{.l2}{.hint}{.prefetch}"


def _loads(syntax: str, **words: Any) -> tuple[InstructionForm, InstructionForm]:
    """Return the rows of ``ld`` of one value, and of a vector."""
    return (
        form(f"{syntax}{{.unified}}.type  ~d, [a], ?policy:u64", **words),
        form(f"{syntax}{{.unified}}.vec.type  ~{{d}}, [a], ?policy:u64", **words),
    )


def _stores(syntax: str, **words: Any) -> tuple[InstructionForm, InstructionForm]:
    """Return the rows of ``st`` of one value, and of a vector."""
    return (
        form(f"{syntax}.type  [a], ~b, ?policy:u64", **words),
        form(f"{syntax}.vec.type  [a], ~{{b}}, ?policy:u64", **words),
    )


FORMS: tuple[InstructionForm, ...] = (
    *_loads(f"ld{{.weak}}{{.space}}{{.cop}}{_CACHE}", **_LOAD),
    *_loads("ld.sem{.space}{.prefetch}", sem="volatile", **{**_LOAD, **_VOLATILE}),
    *_loads(f"ld.sem.scope{{.space}}{_CACHE}", sem="relaxed acquire", **{**_LOAD, **_SEEN}),
    form("ld.mmio.sem.scope{.global}.type  ~d, [a]", sem="relaxed acquire", **{**_LOAD, **_MMIO}),
    *_loads(f"ld.global{{.cop}}.nc{_CACHE}", **{**_LOAD, "cop": "ca cg cs"}),
    *_loads("ldu{.global}", **{**_LOAD, "vec": "v2 v4"}),
    *_stores("st{.weak}{.space}{.cop}{.l1}{.l2}{.hint}", **_STORE),
    *_stores("st.sem{.space}", sem="volatile", **{**_STORE, **_VOLATILE}),
    *_stores("st.sem.scope{.space}{.l1}{.l2}{.hint}", sem="relaxed release", **{**_STORE, **_SEEN}),
    form("st.mmio.sem.scope{.global}.type  [a], ~b", sem="relaxed release", **{**_STORE, **_MMIO}),
    form("prefetch{.space}.level  [a]", action=NoEffect, space="global local", level="L1 L2"),
    form("prefetch{.global}.level  [a]", action=NoEffect, level="L2::evict_last L2::evict_normal"),
    form("prefetchu.L1  [a]", action=NoEffect),
    form("cp.async.how.to.global{.hint}{.prefetch}  [d], [a], size:int, ?n:u32, ?policy:u64",
         action=AsynchronousCopy, **_COPY),
    form("cp.async.how.to.global{.hint}{.prefetch}  [d], [a], size:int, ignore:pred, ?policy:u64",
         action=AsynchronousCopy, **_COPY),
    form("cp.async.how.to.global.hint{.prefetch}  [d], [a], size:int, policy:u64",
         action=AsynchronousCopy, **_COPY),
    form("cp.async.commit_group", action=GroupControl),
    form("cp.async.wait_group  n:int", action=GroupControl),
    form("cp.async.wait_all", action=GroupControl),
)  # fmt: skip
