"""Cases of forms that were built after their recording: scalar video, vector moves, and others."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case

_THREE = ("u32",) * 3
_KINDS = ("u32.u32", "u32.s32", "s32.u32", "s32.s32")


def remaining() -> Iterator[Case]:
    """All of them."""
    yield from _video()
    yield from _video_shifts()
    yield from _vector_moves()
    yield from _registers()
    yield from _without_sync()
    yield from _others()


def _video() -> Iterator[Case]:
    """Scalar video instructions that ptxas does not make as the manual has them."""
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for kinds in _KINDS:
            word = f"{name}.u32.{kinds}.sat"
            yield Case(word, f"{word} %d0, %a0, %a1;", _THREE[:2], ("b32",), lanes=160)
            yield Case(f"{word} selected", f"{word} %d0, %a0.b3, %a1.h0;", _THREE[:2], ("b32",),
                       lanes=64)  # fmt: skip
            for to in ("u32", "s32"):
                yield from _second(f"{name}.{to}.{kinds}")
    for word in ("vadd.u32.u32.u32", "vsub.s32.s32.u32", "vabsdiff.u32.s32.s32",
                 "vmax.s32.s32.s32", "vset.u32.u32.lt", "vshl.u32.u32.u32.wrap"):  # fmt: skip
        for part in ("h0", "h1"):
            text = f"{word} %d0.{part}, %a0, %a1, %a2;"
            yield Case(f"{word} to {part}", text, _THREE, ("b32",), lanes=64)


def _second(word: str) -> Iterator[Case]:
    """Saturated parts, and second operations."""
    for part in ("b1", "h1"):
        for left, right in (("", ""), (".h1", ".b2")):
            text = f"{word}.sat %d0.{part}, %a0{left}, %a1{right}, %a2;"
            yield Case(f"{word}.sat to {part}{left}", text, _THREE, ("b32",), lanes=96)
    for operation in ("min", "max", "sat.min", "sat.max", "sat.add"):
        text = f"{word}.{operation} %d0, %a0, %a1, %a2;"
        yield Case(f"{word}.{operation}", text, _THREE, ("b32",), lanes=160)
        if operation in ("max", "sat.min"):
            text = f"{word}.{operation} %d0, %a0.b3, %a1.h1, %a2;"
            yield Case(f"{word}.{operation} selected", text, _THREE, ("b32",), lanes=64)


def _video_shifts() -> Iterator[Case]:
    pools = ("u32", "amount", "u32")
    for name in ("vshl", "vshr"):
        for to in ("u32", "s32"):
            for kind in ("u32", "s32"):
                for mode in ("clamp", "wrap"):
                    word = f"{name}.{to}.{kind}.u32.{mode}"
                    if to == "u32":
                        yield Case(f"{word}.sat", f"{word}.sat %d0, %a0, %a1;", pools[:2],
                                   ("b32",), lanes=160)  # fmt: skip
                    yield from _second(word)


def _vector_moves() -> Iterator[Case]:
    pair = ("u32", "u32")
    for name in ("b32", "u32", "s32", "f32"):
        text = f"mov.v2.{name} {{%d0, %d1}}, {{%a1, %a0}};"
        yield Case(f"mov.v2.{name}", text, pair, pair, lanes=16)
    yield Case("mov.v2.b16", "mov.v2.b16 {%d0, %d1}, {%a1, %a0};", ("u16",) * 2, ("b16",) * 2,
               lanes=16)  # fmt: skip
    yield Case("mov.v2.b64", "mov.v2.b64 {%d0, %d1}, {%a1, %a0};", ("u64",) * 2, ("b64",) * 2,
               lanes=16)  # fmt: skip
    text = "mov.b32 %t0, %a0; mov.b32 %t1, %a1; mov.v2.b32 {%t0, %t1}, {%t1, %t0};"
    yield Case("mov.v2.b32 exchanged", f"{text} mov.b32 %d0, %t0; mov.b32 %d1, %t1;", pair, pair,
               lanes=16)  # fmt: skip
    text = ".reg .v2 .b32 %v, %u; mov.v2.b32 %v, {%a0, %a1}; mov.v2.b32 %u, %v; "
    yield Case("mov.v2.b32 of registers", f"{text} mov.v2.b32 {{%d1, %d0}}, %u;", pair, pair,
               lanes=16)  # fmt: skip
    yield Case("mov.v2.b32 of a constant", ".reg .v2 .b32 %v; mov.v2.b32 %v, 5; mov.b64 %d0, %v;",
               (), ("b64",), lanes=2)  # fmt: skip
    text = ".reg .v4 .b32 %v; mov.v4.b32 %v, 0x12345; mov.v4.b32 {%d0, %d1, %d2, %d3}, %v;"
    yield Case("mov.v4.b32 of a constant", text, (), ("b32",) * 4, lanes=2)
    text = "mov.v2.b32 {%d0, %d1}, {%a0, 9};"
    yield Case("mov.v2.b32 of a register and a constant", text, ("u32",), pair, lanes=8)
    text = "mov.v4.b32 {%d0, _, %d1, %d2}, {%a3, %a2, %a1, %a0};"
    yield Case("mov.v4.b32", text, ("u32",) * 4, ("b32",) * 3, lanes=16)
    for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "cluster_ctaid", "cluster_nctaid"):
        text = f"mov.v4.u32 {{%d0, %d1, %d2, %d3}}, %{name};"
        yield Case(f"mov.v4.u32 %{name}", text, (), ("b32",) * 4, lanes=64)
        yield Case(f"mov.u32 %{name}.w", f"mov.u32 %d0, %{name}.w;", (), ("b32",), lanes=8)
        text = f".reg .v4 .u32 %v; mov.v4.u32 %v, %{name}; mov.b128 %q0, %v;"
        text += " mov.b128 {%d0, %d1}, %q0;"
        yield Case(f"mov.v4.u32 %{name} packed", text, (), ("b64",) * 2, lanes=8)


def _registers() -> Iterator[Case]:
    names = [f"%reserved_smem_offset_{part}" for part in ("begin", "end", "cap", "0", "1")]
    for name in names:
        yield Case(name, f"mov.b32 %d0, {name};", (), ("b32",), lanes=2)
    for number in range(8):
        for width, kind in (("", "b32"), ("_64", "b64")):
            name = f"%pm{number}{width}"
            yield Case(name, f"mov.{kind} %d0, {name};", (), (kind,), lanes=2)
    text = "mov.u32 %t0, %gridid; mov.u16 %h0, %gridid; mov.u64 %w0, %gridid; "
    text += "cvt.u32.u64 %t1, %w0; cvt.u32.u16 %t3, %h0; and.b32 %t2, %t1, 0xFFFF; "
    text += "setp.eq.u32 %d0, %t0, %t1; setp.eq.u32 %d1, %t2, %t3;"
    yield Case("narrow %gridid", text, (), ("pred", "pred"), lanes=2)


def _without_sync() -> Iterator[Case]:
    """Operations of warps without ``.sync``, which older targets have."""
    for mode in ("all", "any", "uni"):
        text = f"setp.gt.s32 %p0, %a0, %a1; vote.{mode}.pred %d0, %p0; vote.{mode}.pred %d1, !%p0;"
        yield Case(f"vote.{mode}.pred", text, ("u32", "u32"), ("pred", "pred"), target="sm_60")
    text = "setp.gt.s32 %p0, %a0, %a1; vote.ballot.b32 %d0, %p0; vote.ballot.b32 %d1, !%p0;"
    yield Case("vote.ballot.b32", text, ("u32", "u32"), ("b32", "b32"), target="sm_60")
    text = "setp.gt.s32 %p0, %a0, 0; mov.u32 %d0, 0; @%p0 vote.ballot.b32 %d0, 1;"
    yield Case("vote.ballot.b32 of some", text, ("u32",), ("b32",), target="sm_60")
    for mode, limit in (("up", 0), ("down", 31), ("bfly", 31), ("idx", 31), ("up", 0x1810),
                        ("down", 0x181F), ("idx", 0x101F)):  # fmt: skip
        text = f"shfl.{mode}.b32 %d0|%d1, %a0, %a1, {limit:#x};"
        yield Case(f"shfl.{mode}.b32 {limit:#x}", text, ("u32", "amount"), ("b32", "pred"),
                   target="sm_60")  # fmt: skip
    yield Case("shfl.up.b32", "shfl.up.b32 %d0, %a0, 3, 0;", ("u32",), ("b32",), target="sm_60")


def _others() -> Iterator[Case]:
    """Modifiers that ptxas accepts and that have no effect."""
    for rounding in ("rn", "rz", "rm", "rp"):
        text = f"rcp.{rounding}.ftz.f64 %d0, %a0;"
        yield Case(f"rcp.{rounding}.ftz.f64", text, ("f64:one",), ("f64",))
    statements = [
        "createpolicy.range.global.L2::evict_last.b64 %w0, [%g], 16, 32;",
        "createpolicy.range.L2::evict_first.L2::evict_unchanged.b64 %w0, [%g], 16, 128;",
        "mov.u64 %w1, 0; createpolicy.cvt.L2.b64 %w0, %w1;",
        "prefetch.L2::evict_last [%g];", "prefetch.L2::evict_normal [%g];",
        "ld.global.u32 %t0, [%g].unified;", "ld.global.v2.u32 {%t0, %t1}, [%g].unified;",
        "ld.u32 %t0, [%g].unified;",
    ]  # fmt: skip
    for statement in statements:
        text = f"st.global.u32 [%g], %a0; {statement} ld.global.u32 %d0, [%g];"
        yield Case(statement.rstrip(";"), text, ("u32",), ("u32",), lanes=32)
