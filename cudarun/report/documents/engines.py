"""The engines of an emulated device in JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.report.schemas.engines import KernelEngineRecord
    from cudarun.report.types import KernelEngine


def engine_records(engines: Sequence[KernelEngine]) -> list[KernelEngineRecord]:
    """Return the engine of each kernel."""
    return [*map(_record, engines)]


def _record(each: KernelEngine) -> KernelEngineRecord:
    engine: Literal["interpret", "compile"] = "compile" if each.engine == "compile" else "interpret"
    return {
        "kernel": each.kernel,
        "demangled": each.demangled,
        "engine": engine,
        "reason": each.reason,
    }
