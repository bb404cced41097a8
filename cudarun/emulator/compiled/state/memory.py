"""Pointers to fields in memory, and checked positions of the lanes in host memory."""

from __future__ import annotations

from typing import NamedTuple

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector
from cudarun.emulator.compiled.state import layout


class CheckedPlace(NamedTuple):
    """The checked accesses of a warp."""

    host: str  # the host address that offsets are relative to
    offsets: LaneVector
    entry: str  # the cache entry


def field(code: CodeBuilder, pointer: str, offset: int, kind: str) -> str:
    """Load a value at an offset from a pointer."""
    return code.scalar(f"load {kind}, ptr {pointer_to(code, pointer, offset)}, align 4")


def pointer_to(code: CodeBuilder, pointer: str, offset: int | str) -> str:
    """Return a pointer to an offset in bytes."""
    return code.scalar(f"getelementptr i8, ptr {pointer}, i64 {offset}")


def store_field(code: CodeBuilder, pointer: str, offset: int, kind: str, value: str) -> None:
    """Store a value at an offset from a pointer."""
    code.line(f"store {kind} {value}, ptr {pointer_to(code, pointer, offset)}, align 4")


def cache_entry(code: CodeBuilder, number: int) -> str:
    """Return the pointer to a cache entry."""
    cache = code.scalar("load ptr, ptr %cache.at, align 8, !invariant.load !0")
    return pointer_to(code, cache, code.number("i64", number * layout.CACHE_BYTES))
