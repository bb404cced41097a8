"""The order of modifiers, as ptxas takes them; the manual's syntax lines have one of the orders.

* Words that belong to the name of an instruction follow the opcode, in order: ``.wide`` of
  ``mul.wide``, ``.async.bulk`` of ``cp.async.bulk``.
* Words of one kind keep their order among each other: types (``cvt.f32.s32``), state spaces
  (``cp.async.shared.global``), layouts (``mma.row.col``), eviction priorities (``createpolicy``),
  operations (``mma.and.popc``).
* All other words can be anywhere: ``ldmatrix.x4.trans.sync.b16.m8n8.aligned``.

``tests/golden/test_modifier_orders.py`` compares with recorded verdicts of ptxas.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from cudarun.emulator.numerics.types import TYPES

NAME = "name"  # the kind of the words that belong to the name of an instruction

_NAME_WORDS: dict[str, str] = {
    "bar": "cta warp sync arrive red",
    "barrier": "cta cluster arrive wait red",
    "createpolicy": "fractional range cvt",
    "cp": "reduce async bulk prefetch tensor commit_group wait_group wait_all read "
    "mbarrier arrive noinc",
    "cvt": "pack",
    "cvta": "to",
    "div": "full",
    "dp2a": "lo hi",
    "fence": "proxy",
    "membar": "proxy",
    "mad": "lo hi wide",
    "mad24": "lo hi",
    "madc": "lo hi",
    "mbarrier": "init inval expect_tx complete_tx arrive arrive_drop test_wait try_wait parity "
    "pending_count",
    "mul": "lo hi wide",
    "mul24": "lo hi",
    "multimem": "ld_reduce st red",
    "red": "async",
    "setmaxnreg": "inc dec",
    "shf": "l r",
    "st": "async bulk",
    "suld": "b",
    "sured": "b p",
    "sust": "b p",
    "tcgen05": "alloc dealloc relinquish_alloc_permit ld st red wait::ld wait::st cp shift mma ws "
    "sp commit fence::before_thread_sync fence::after_thread_sync",
    "tensormap": "replace cp_fenceproxy",
    "tex": "base level grad",
    "wgmma": "mma_async fence commit_group wait_group",
    "wmma": "load store mma a b c d",
}
_KINDS: dict[str, str] = {
    "space": "global shared shared::cta shared::cluster local const param param::entry param::func",
    "layout": "row col",
    "operation": "and or xor popc",
    "priority": "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged",
    "type": f"{' '.join(TYPES)} s2 u2",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}


@cache
def ordered_kinds(opcode: str) -> Mapping[str, str]:
    """Return the kind of each word whose order matters in instructions of an opcode."""
    return _KIND_OF | dict.fromkeys(_NAME_WORDS.get(opcode, "").split(), NAME)


def misplaced(opcode: str, modifiers: tuple[str, ...]) -> str | None:
    """Return a word of the instruction's name that does not follow its opcode, if there is one."""
    kinds = ordered_kinds(opcode)
    others = False
    for word in modifiers:
        if kinds.get(word) != NAME:
            others = True
        elif others:
            return word
    return None
