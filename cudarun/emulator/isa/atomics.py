"""Atomic operations on memory, and fences (PTX manual 9.7.13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudarun.emulator.isa.form import Form, form
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.transfers import Fence, NoEffect

_WHERE: dict[str, Any] = {
    "sem": "relaxed acquire release acq_rel",
    "scope": "cta cluster gpu sys",
    "space": "global shared shared::cta shared::cluster",
    "hint": "L2::cache_hint",
    "any_order": True,
}
_REDUCED = {**_WHERE, "sem": "relaxed release"}  # nothing is read that could be acquired
# Operations, and the types that each of them takes.
_OPERATIONS = (
    ("and or xor", "b32 b64"),
    ("add", "u32 s32 u64 f32 f64"),
    ("inc dec", "u32"),
    ("min max", "u32 s32 u64 s64"),
)
_HALVES = "f16 f16x2 bf16 bf16x2"
_EXCHANGED = "b32 b64"
_COMPARED = "b16 b32 b64"


def _rows() -> Iterator[Form]:
    where = "{.sem}{.scope}{.space}.op"

    def row(syntax: str, operations: str, types: str) -> Form:
        where = _REDUCED if syntax.startswith("red") else _WHERE
        return form(syntax, action=Atomic, op=operations, type=types, **where)

    for operations, types in _OPERATIONS:
        yield row(f"atom{where}{{.hint}}.type  d, [a], b, ?policy:u64", operations, types)
        yield row(f"red{where}{{.hint}}.type  [a], b, ?policy:u64", operations, types)
    yield row(f"atom{where}.noftz{{.hint}}.type  d, [a], b, ?policy:u64", "add", _HALVES)
    yield row(f"red{where}.noftz{{.hint}}.type  [a], b, ?policy:u64", "add", _HALVES)
    yield row(f"atom{where}{{.hint}}.type  d, [a], b, ?policy:u64", "exch", _EXCHANGED)
    yield row(f"atom{where}{{.hint}}.type  d, [a], b, c, ?policy:u64", "cas", _COMPARED)


FORMS: tuple[Form, ...] = (
    *_rows(),
    form("membar.level", action=Fence, level="cta gl sys"),
    form(
        "fence{.sem}.scope",
        action=Fence,
        sem="sc acq_rel acquire release",
        scope=_WHERE["scope"],
    ),
    form("fence.mbarrier_init.sem.scope", action=Fence, sem="release", scope="cluster"),
    form("fence.proxy.alias", action=NoEffect),
    form("fence.proxy.async{.space}", action=NoEffect, space="global shared::cta shared::cluster"),
)
