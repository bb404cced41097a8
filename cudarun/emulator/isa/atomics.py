"""Atomic operations on memory, and fences (PTX manual 9.7.13)."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.transfers import Fence, NoEffect, ProxyFence
from cudarun.emulator.numerics.types import TYPES

_WHERE: Keywords = {
    "sem": "relaxed acquire release acq_rel",
    "scope": "cta cluster gpu sys",
    "space": "global shared shared::cta shared::cluster",
    "hint": "L2::cache_hint",
}
_REDUCED = {**_WHERE, "sem": "relaxed release"}  # they read no value that could acquire
# Operations, and the types that each of them takes.
_OPERATIONS = (
    ("and or xor", "b32 b64"),
    ("add", "u32 s32 u64 f32 f64"),
    ("inc dec", "u32"),
    ("min max", "u32 s32 u64 s64"),
)
_HALVES = "f16 f16x2 bf16 bf16x2"
_EXCHANGED = "b32 b64 b128"
_COMPARED = "b16 b32 b64 b128"
# Vector operations, with their required suffix; their types and lengths.
_VECTORS = (
    ("add", "", "f32", "v2 v4"),
    ("add min max", ".noftz", "f16 bf16", "v2 v4 v8"),
    ("add min max", ".noftz", "f16x2 bf16x2", "v2 v4"),
)
# The requirements of operations, in the words of ptxas.
_INTEGERS = ".u32 or .s32 or .u64 or .s64"
_DEMANDS = {
    "and": ".b32 or .b64",
    "or": ".b32 or .b64",
    "xor": ".b32 or .b64",
    "add": ".u32 or .s32 or .u64 or .f64 or f16 or f16x2 or .f32 or .bf16 or .bf16x2",
    "inc": ".u32",
    "dec": ".u32",
    "min": f"{_INTEGERS} or .f16 or .f16x2 or .bf16 or .bf16x2",
    "max": f"{_INTEGERS} or .f16 or .f16x2 or .bf16 or .bf16x2",
    "exch": ".b32 or .b64 or .b128",
}


def _rows() -> Iterator[InstructionForm]:
    where = "{.sem}{.scope}{.space}.op"

    def row(syntax: str, operations: str, types: str) -> InstructionForm:
        where = _REDUCED if syntax.startswith("red") else _WHERE
        return form(syntax, action=Atomic, op=operations, type=types, **where)

    for operations, types in _OPERATIONS:
        yield row(f"atom{where}{{.hint}}.type  d, [a], b, ?policy:u64", operations, types)
        yield row(f"red{where}{{.hint}}.type  [a], b, ?policy:u64", operations, types)
    yield row(f"atom{where}.noftz{{.hint}}.type  d, [a], b, ?policy:u64", "add", _HALVES)
    yield row(f"red{where}.noftz{{.hint}}.type  [a], b, ?policy:u64", "add", _HALVES)
    yield row(f"atom{where}{{.hint}}.type  d, [a], b, ?policy:u64", "exch", _EXCHANGED)
    yield row(f"atom{where}{{.hint}}.type  d, [a], b, c, ?policy:u64", "cas", _COMPARED)
    for operations, noftz, types, lengths in _VECTORS:
        for opcode, destination in (("atom", "{d}, "), ("red", "")):
            words = {**(_REDUCED if opcode == "red" else _WHERE), "space": "global"}
            yield form(
                f"{opcode}{where}{noftz}{{.hint}}.vec.type  {destination}[a], {{b}}, ?policy:u64",
                action=Atomic, op=operations, type=types, vec=lengths, **words,
            )  # fmt: skip


def illegal_atomic(opcode: str, words: tuple[str, ...]) -> str | None:
    """Return ptxas's message for an ``atom`` or ``red`` that PTX does not define, else ``None``."""
    operation = next((word for word in words if word in _DEMANDS), "")
    name = next((word for word in words if word in TYPES), "")
    vector = next((word for word in words if word in ("v2", "v4", "v8")), "")
    space = next((word for word in words if word in _WHERE["space"].split()), "")
    if opcode == "red" and "cas" in words:
        return "Illegal modifier '.cas' for instruction 'red'"
    if opcode == "red" and operation == "exch":
        return "Illegal operation '.exch' for instruction 'red'"
    if "cas" in words and name not in _COMPARED.split():
        return f"Unexpected instruction types specified for '{opcode}'"
    if operation and name not in _DEMANDS[operation].replace(".", "").split(" or "):
        demand = _DEMANDS[operation]
        return f"Operation .{operation} requires {demand} type for instruction '{opcode}'"
    halves = name in _HALVES.split()
    if halves and "noftz" not in words:
        return f"'.noftz' modifier required for instruction '{opcode}' with type '.{name}'"
    if not halves and "noftz" in words:
        return f"Illegal modifier '.noftz' for instruction '{opcode}'"
    if vector and space.startswith("shared"):
        return f"State space incorrect for feature '{opcode} instruction with vector types'"
    if vector == "v8":
        return (
            f"Only .v2 or .v4 vector modifier supported with type .{name} on .{operation} "
            f"operation for {opcode} instruction with vector types"
        )
    if vector:
        return f"Vector qualifier is not allowed for instruction '{opcode}'"
    if halves and operation in ("min", "max"):
        where = f".{space}" if space else " with generic state space"
        return f"Vector modifier required for instruction '{opcode}.{operation}.{name}{where}'"
    return None


def _fences(head: str, action: type) -> Iterator[InstructionForm]:
    for sem, part in (("acquire", "cluster"), ("release", "cta")):
        yield form(f"{head}.sem.restrict.scope", action=action, sem=sem, scope="cluster",
                   restrict=f"sync_restrict::shared::{part}")  # fmt: skip


FORMS: tuple[InstructionForm, ...] = (
    *_rows(),
    form("membar.level", action=Fence, level="cta gl sys"),
    form("fence{.sem}.scope", action=Fence, sem="sc acq_rel acquire release",
         scope=_WHERE["scope"]),
    *_fences("fence", Fence),
    *_fences("fence.proxy.async::generic", ProxyFence),
    form("membar.proxy.alias", action=NoEffect),
    form("fence.op_restrict.sem.scope",
         action=Fence, op_restrict="mbarrier_init", sem="release", scope="cluster"),
    form("fence.proxy.alias", action=NoEffect),
    form("fence.proxy.async{.space}", action=ProxyFence,
         space="global shared::cta shared::cluster"),
)  # fmt: skip
