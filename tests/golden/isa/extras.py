"""Cases that the tables do not spell out: constants that are part of an instruction, and chains."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case


def integer() -> Iterator[Case]:
    """Chains of carries over several words and kinds, and ``fns`` within its limits."""
    four = ("u32",) * 4
    for first, then in (("add", "addc"), ("sub", "subc")):
        for last in (f"{then}.cc.u32 %d1, %a2, %a3;", f"{then}.cc.s32 %d1, %a2, %a3;"):
            for read in ("addc", "subc"):
                text = f"{first}.cc.u32 %d0, %a0, %a1; {last} {read}.u32 %d2, 0, 0;"
                yield Case(f"{first}.cc {last[:11]} {read}", text, four, ("u32",) * 3, lanes=128)
        text = f"{first}.cc.u64 %d0, %a0, %a1; {then}.u64 %d1, %a2, %a3;"
        yield Case(f"{first}.cc.u64 {then}.u64", text, ("u64",) * 4, ("u64",) * 2, lanes=128)
    text = (
        "mad.lo.cc.u32 %d0, %a0, %a1, %a2; madc.hi.cc.u32 %d1, %a0, %a1, %a3; "
        "madc.lo.cc.u32 %d2, %a2, %a3, %a1; addc.u32 %d3, 0, 0;"
    )
    yield Case("mad.lo.cc madc.hi.cc", text, four, ("u32",) * 4)
    text = "add.cc.u32 %d0, %a0, %a1; mul.lo.u32 %d1, %a2, %a3; addc.u32 %d2, 0, 0;"
    yield Case("add.cc mul addc", text, four, ("u32",) * 3, lanes=64)
    text = "add.cc.u32 %d0, %a0, %a1; subc.u32 %d1, %a2, %a3;"
    yield Case("add.cc subc", text, four, ("u32",) * 2)
    text = "sub.cc.u32 %d0, %a0, %a1; addc.u32 %d1, %a2, %a3;"
    yield Case("sub.cc addc", text, four, ("u32",) * 2)
    text = "and.b32 %a1, %a1, 31; shr.s32 %a2, %a2, 26; fns.b32 %d0, %a0, %a1, %a2;"
    yield Case("fns.b32", text, ("u32", "u32", "u32"), ("u32",))


def logic() -> Iterator[Case]:
    """Every table of ``lop3``, sixteen to a case, and constant selectors of ``prmt``."""
    sources = ("u32:chance",) * 3
    for row in range(16):
        text = " ".join(
            f"lop3.b32 %d{column}, %a0, %a1, %a2, {16 * row + column:#x};" for column in range(16)
        )
        yield Case(f"lop3.b32 {row:x}0 to {row:x}f", text, sources, ("b32",) * 16, lanes=8)
    for word in ("or", "and"):
        for table in (0x00, 0x80, 0xE8, 0x96, 0xFE, 0x01):
            text = f"lop3.{word}.b32 %d0|%d1, %a0, %a1, %a2, {table:#x}, %a3;"
            yield Case(f"lop3.{word}.b32 {table:#x}", text, ("u32",) * 3 + ("pred",),
                       ("b32", "pred"), lanes=128)  # fmt: skip
    for selector in (0x0000, 0x3210, 0x7654, 0x0123, 0x8888, 0xBA98, 0xFEDC, 0x5140, 0xF2D0):
        text = f"prmt.b32 %d0, %a0, %a1, {selector:#x};"
        yield Case(f"prmt.b32 {selector:#06x}", text, ("u32", "u32"), ("b32",), lanes=64)


def masks() -> Iterator[Case]:
    """``set`` of two halves each, whose result is a mask of each half."""
    for name in ("f16x2", "bf16x2"):
        for test in ("lt", "eq", "neu", "num"):
            for target in ("u32", "s32"):
                for ftz in ("", ".ftz") if name == "f16x2" else ("",):
                    word = f"set.{test}{ftz}.{target}.{name}"
                    yield Case(word, f"{word} %d0, %a0, %a1;", (name, name), ("b32",), lanes=128)
                    word = f"set.{test}.and{ftz}.{target}.{name}"
                    yield Case(word, f"{word} %d0, %a0, %a1, %a2;", (name, name, "pred"),
                               ("b32",), lanes=128)  # fmt: skip


def packs() -> Iterator[Case]:
    """``cvt.pack`` to less than a byte."""
    for name in ("u4", "s4", "u2", "s2"):
        word = f"cvt.pack.sat.{name}.s32.b32"
        yield Case(word, f"{word} %d0, %a0, %a1, %a2;", ("s32", "s32", "u32"), ("b32",), lanes=128)
