"""Loads, stores, prefetches and asynchronous copies (PTX manual 9.7.9).

Cache operators, eviction priorities and prefetch sizes are hints without effect here, and a single
batch of lanes sees memory in the order of its instructions, which is stronger than every ``.sem``.
"""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import Form, form
from cudarun.emulator.machine.transfers import AsynchronousCopy, Load, NoEffect, Store

_TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"
_HINTS: dict[str, Any] = {
    "scope": "cta cluster gpu sys",
    "l1": "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
    "hint": "L2::cache_hint",
    "prefetch": "L2::64B L2::128B L2::256B",
    "vec": "v2 v4",
    "type": _TYPES,
    "any_order": True,
}
_LOAD: dict[str, Any] = {
    **_HINTS,
    "space": "global shared shared::cta shared::cluster local const param param::entry param::func",
    "sem": "weak volatile relaxed acquire",
    "cop": "ca cg cs lu cv",
}
_STORE: dict[str, Any] = {
    **_HINTS,
    "space": "global shared shared::cta shared::cluster local param param::func",
    "sem": "weak volatile relaxed release",
    "cop": "wb cg cs wt",
}
_COPY: dict[str, Any] = {
    "how": "ca cg",
    "to": "shared shared::cta",
    "hint": _HINTS["hint"],
    "prefetch": _HINTS["prefetch"],
}
_CACHE = "{.cop}{.l1}{.hint}{.prefetch}"

FORMS: tuple[Form, ...] = (
    form(f"ld{{.mmio}}{{.sem}}{{.scope}}{{.space}}{_CACHE}.type  ~d, [a], ?policy:b64",
         action=Load, **_LOAD),
    form(f"ld{{.sem}}{{.scope}}{{.space}}{_CACHE}.vec.type  ~{{d}}, [a], ?policy:b64",
         action=Load, **_LOAD),
    form("ld.global{.cop}.nc{.l1}{.hint}{.prefetch}.type  ~d, [a], ?policy:b64",
         action=Load, **_LOAD),
    form("ld.global{.cop}.nc{.l1}{.hint}{.prefetch}.vec.type  ~{d}, [a], ?policy:b64",
         action=Load, **_LOAD),
    form("ldu{.space}.type  ~d, [a]", action=Load, **_LOAD),
    form("ldu{.space}.vec.type  ~{d}, [a]", action=Load, **_LOAD),
    form(f"st{{.mmio}}{{.sem}}{{.scope}}{{.space}}{_CACHE}.type  [a], ~b, ?policy:b64",
         action=Store, **_STORE),
    form(f"st{{.sem}}{{.scope}}{{.space}}{_CACHE}.vec.type  [a], ~{{b}}, ?policy:b64",
         action=Store, **_STORE),
    form("prefetch{.space}.level  [a]", action=NoEffect, space="global local", level="L1 L2"),
    form("prefetch.global.level  [a]", action=NoEffect, level="L2::evict_last L2::evict_normal"),
    form("prefetchu.L1  [a]", action=NoEffect),
    form("cp.async.how.to.global{.hint}{.prefetch}  [d], [a], size:int, ?n:u32, ?policy:b64",
         action=AsynchronousCopy, **_COPY),
    form("cp.async.how.to.global{.hint}{.prefetch}  [d], [a], size:int, ignore:pred, ?policy:b64",
         action=AsynchronousCopy, **_COPY),
    form("cp.async.how.to.global.hint{.prefetch}  [d], [a], size:int, policy:b64",
         action=AsynchronousCopy, **_COPY),
    form("cp.async.commit_group", action=NoEffect),
    form("cp.async.wait_group  n:int", action=NoEffect),
    form("cp.async.wait_all", action=NoEffect),
)  # fmt: skip
