"""Atomic operations on memory, and fences (PTX manual 9.7.13)."""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import Form, form
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.transfers import NoEffect

_WHERE: dict[str, Any] = {
    "sem": "relaxed acquire release acq_rel",
    "scope": "cta cluster gpu sys",
    "space": "global shared shared::cta shared::cluster",
    "hint": "L2::cache_hint",
}
_PLACE = "{.sem}{.scope}{.space}"

# Operations, and the types that each of them takes.
_OPERATIONS = (
    ("and or xor", "b32 b64"),
    ("add", "u32 s32 u64 s64 f32 f64"),
    ("inc dec", "u32"),
    ("min max", "u32 s32 u64 s64"),
)


def _rows() -> tuple[Form, ...]:
    rows = []
    for operations, types in _OPERATIONS:
        how = {**_WHERE, "op": operations, "type": types}
        rows.append(
            form(f"atom{_PLACE}.op{{.hint}}.type  d, [a], b, ?policy:b64", action=Atomic, **how)
        )
        rows.append(
            form(f"red{_PLACE}.op{{.hint}}.type  [a], b, ?policy:b64", action=Atomic, **how)
        )
    halves = {**_WHERE, "op": "add", "type": "f16 f16x2 bf16 bf16x2"}
    rows += [
        form(f"atom{_PLACE}.op.noftz{{.hint}}.type  d, [a], b, ?policy:b64", action=Atomic,
             **halves),
        form(f"red{_PLACE}.op.noftz{{.hint}}.type  [a], b, ?policy:b64", action=Atomic, **halves),
        form(f"atom{_PLACE}.op{{.hint}}.type  d, [a], b, ?policy:b64", action=Atomic,
             **_WHERE, op="exch", type="b32 b64 u32 u64 s32 s64 f32 f64"),
        form(f"atom{_PLACE}.op{{.hint}}.type  d, [a], b, c, ?policy:b64", action=Atomic,
             **_WHERE, op="cas", type="b16 b32 b64 u32 u64 s32 s64"),
    ]  # fmt: skip
    return tuple(rows)


FORMS: tuple[Form, ...] = (
    *_rows(),
    form("membar.level", action=NoEffect, level="cta gl sys"),
    form(
        "fence{.sem}.scope",
        action=NoEffect,
        sem="sc acq_rel acquire release",
        scope=_WHERE["scope"],
    ),
    form("fence.proxy.kind", action=NoEffect, kind="alias async async.global async.shared::cta"),
)
