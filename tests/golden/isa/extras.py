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
