"""All cases, by chapter: the modules of the tables, and what is not in tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import chain

from cudarun.emulator.isa import compare, convert, floating, half, video
from cudarun.emulator.isa import integer as integer_table
from cudarun.emulator.isa import logic as logic_table
from cudarun.emulator.isa import move as move_table
from tests.golden.isa import (
    calls,
    extras,
    fragments,
    further,
    lanewise,
    later,
    matrix,
    mbarrier,
    memory,
    products,
    remaining,
    sparse,
    wanted,
    warp,
    wgmma,
    wgmma_sparse,
)
from tests.golden.isa import video as video_cases
from tests.golden.isa.case import Case, unique

_CHAPTERS: dict[str, Callable[[], Iterable[Case]]] = {
    "integer": lambda: chain(_rows(integer_table, "fns"), extras.integer()),
    "floating": lambda: _rows(floating),
    "half": lambda: _rows(half),
    "compare": lambda: chain((case for case in _rows(compare) if not _masks(case)), extras.masks()),
    "logic": lambda: chain(_rows(logic_table), extras.logic()),
    "convert": lambda: chain(
        _rows(
            convert,
            *(f"cvt.pack.sat.{name}." for name in ("u4", "s4", "u2", "s2")),
            *later.BYTES_TO_BF16,
            *later.BYTES_FROM_BF16,
        ),
        extras.packs(),
    ),
    "move": lambda: chain(_rows(move_table, "cvta", "isspacep", "mov.b128"), memory.move()),
    "memory": memory.memory,
    "atomics": warp.atomics,
    "warp": warp.warp,
    "matrix": matrix.matrix,
    "calls": calls.calls,
    "fragments": fragments.fragments,
    "wgmma": wgmma.wgmma,
    "control": warp.control,
    "cluster": warp.cluster,
    "mbarrier": mbarrier.mbarrier,
    "stack": memory.stack,
    "hints": memory.hints,
    "special": warp.special,
    "video": lambda: chain((replace(case, lanes=64) for case in _rows(video)), video_cases.video()),
    "later": lambda: chain(later.later(), (case for case in _rows(compare) if _masks(case))),
    "further": further.further,
    "products": products.products,
    "sparse": sparse.sparse,
    "wgmma_sparse": wgmma_sparse.wgmma_sparse,
    "remaining": remaining.remaining,
    "wanted": wanted.wanted,
}

WANTED = "wanted"
"""The chapter of what the emulated device has not yet."""

CHAPTERS = tuple(name for name in _CHAPTERS if name != WANTED)


@cache
def cases(chapter: str) -> list[Case]:
    """The cases of a chapter, each with a name of its own."""
    return unique(_CHAPTERS[chapter]())


def _masks(case: Case) -> bool:
    """Whether a case is one of those that `extras.masks` has a choice of."""
    return case.name.endswith((".u32.f16x2", ".s32.f16x2", ".u32.bf16x2", ".s32.bf16x2"))


def _rows(table: object, *without: str) -> Iterable[Case]:
    forms = table.FORMS  # type: ignore[attr-defined]
    found = lanewise.cases(forms)
    return (case for case in found if not case.name.startswith(without or ("-",)))
