"""Cases of what hardware has and our tables have not: recorded, so that it can be built against.

A case moves to its chapter when the emulated device takes it; a test says when that is so.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case


def wanted() -> Iterator[Case]:
    """All of them."""
    yield from _sets()
    yield from _packs()


def _sets() -> Iterator[Case]:
    for name in ("f16x2", "bf16x2"):
        for test in ("lt", "eq", "neu", "num"):
            for target in ("u32", "s32"):
                for ftz in ("", ".ftz") if name == "f16x2" else ("",):
                    word = f"set.{test}{ftz}.{target}.{name}"
                    yield Case(word, f"{word} %d0, %a0, %a1;", (name, name), ("b32",), lanes=128)
                    word = f"set.{test}.and{ftz}.{target}.{name}"
                    yield Case(word, f"{word} %d0, %a0, %a1, %a2;", (name, name, "pred"),
                               ("b32",), lanes=128)  # fmt: skip


def _packs() -> Iterator[Case]:
    for name in ("u4", "s4", "u2", "s2"):
        word = f"cvt.pack.sat.{name}.s32.b32"
        yield Case(word, f"{word} %d0, %a0, %a1, %a2;", ("s32", "s32", "u32"), ("b32",), lanes=128)
