"""Cases of what hardware has and our tables have not: to be recorded, and then built against.

A case moves to its chapter when the emulated device takes it; a test says when that is so.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case


def wanted() -> Iterator[Case]:
    """Scalar video instructions that ptxas does not make as the manual has them."""
    words = ("u32",) * 3
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for kinds in ("u32.u32", "u32.s32", "s32.u32", "s32.s32"):
            word = f"{name}.u32.{kinds}.sat"
            yield Case(word, f"{word} %d0, %a0, %a1;", words[:2], ("b32",), lanes=128)
            for to in ("u32", "s32"):
                word = f"{name}.{to}.{kinds}"
                yield Case(f"{word}.sat merged", f"{word}.sat %d0.b1, %a0, %a1, %a2;", words,
                           ("b32",), lanes=128)  # fmt: skip
                for op in ("min", "max"):
                    yield Case(f"{word}.{op}", f"{word}.{op} %d0, %a0, %a1, %a2;", words,
                               ("b32",), lanes=128)  # fmt: skip
