"""Cases of rare forms: NaN from beyond a tensor, policies of a cache, shuffles without a mask."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case

OLD_TARGET = "sm_60"
"""What ``vote`` and ``shfl`` without ``.sync`` need."""

_PRIORITIES = ("evict_last", "evict_normal", "evict_first", "evict_unchanged")
_SECONDS = ("", "evict_first", "evict_unchanged")
# The size of the primary range, and of the whole.
_RANGES = (
    (0, 0), (0, 10), (1, 1), (1, 4096), (16, 0x80000), (4096, 0x80000), (4096, 0x80001),
    (0x7F000, 0x80000), (0x80000, 0x80000), (0x100000, 0x100000), (0x100001, 0x1000000),
    (5000, 3_000_000), (3_000_000, 3_000_001), (0x1000000, 0x1000001), (77, 0x1FFFFFF),
    (0x40000000, 0x80000000), (0x40000000, 0x80000001), (0xFFFFFFFF, 0xFFFFFFFF),
)  # fmt: skip
_BASES = (0, 0x7FFF12345678, 0x7F0000000FFF)


def further() -> Iterator[Case]:
    """All of them."""
    yield from _reciprocals()
    yield from _finite()
    yield from _beyond()
    yield from _policies()
    yield from _unified()
    yield from _fences()
    yield from _without_masks()


def _reciprocals() -> Iterator[Case]:
    for rounding in ("rn", "rz", "rm", "rp"):
        word = f"rcp.{rounding}.ftz.f64"
        yield Case(word, f"{word} %d0, %a0;", ("f64:one",), ("f64",))


def _finite() -> Iterator[Case]:
    for rounding in ("rn", "rz"):
        for relu in ("", ".relu"):
            for name in ("f16", "bf16"):
                word = f"cvt.{rounding}{relu}.satfinite.{name}.f32"
                yield Case(word, f"{word} %d0, %a0;", ("f32:one",), (name,))


def _beyond() -> Iterator[Case]:
    """``fma.oob``: on edges and chance, then on every NaN in each operand."""
    for name in ("f16", "bf16", "f16x2", "bf16x2"):
        kind = name.removesuffix("x2")
        for words in ("", ".relu", ".sat") if kind == "f16" else ("", ".relu"):
            word = f"fma.rn.oob{words}.{name}"
            yield Case(word, f"{word} %d0, %a0, %a1, %a2;", (name,) * 3, (name,), lanes=128)
        if name == kind:
            for words in ("", ".relu"):
                for place in range(3):
                    yield _every_nan(f"fma.rn.oob{words}.{name}", kind, place)


def _every_nan(word: str, kind: str, place: int) -> Case:
    bits, exponent, one = (10, 0x7C00, 0x3C00) if kind == "f16" else (7, 0x7F80, 0x3F80)
    each = 2 << bits >> 8  # values of a lane
    lines = [f"mov.b16 %h1, {one:#x}; mov.b16 %h2, {one:#x}; mov.b16 %h3, {one:#x};"]
    for number in range(each):
        lines.append(
            f"mad.lo.u32 %t0, %thread, {each}, {number}; and.b32 %t1, %t0, {(1 << bits) - 1}; "
            f"shr.u32 %t0, %t0, {bits}; shl.b32 %t0, %t0, 15; or.b32 %t0, %t0, %t1; "
            f"or.b32 %t0, %t0, {exponent:#x}; cvt.u16.u32 %h{place + 1}, %t0; "
            f"{word} %d{number}, %h1, %h2, %h3;"
        )
    return Case(f"{word} every NaN in {'abc'[place]}", " ".join(lines), (), (kind,) * each)


def _policies() -> Iterator[Case]:
    for first in _PRIORITIES:
        for second in _SECONDS:
            words = f"L2::{first}" + (f".L2::{second}" if second else "")
            yield _policy(f"createpolicy.fractional.{words}.b64", "%d0;", "")
            for fraction in ("0.5", "0.001") if first == "evict_last" else ("0.25",):
                yield _policy(f"createpolicy.fractional.{words}.b64", f"%d0, {fraction};", fraction)
            some = _RANGES if words == "L2::evict_last" else _RANGES[5:7]
            for primary, total in some:
                for base in _BASES if words == "L2::evict_last" else _BASES[1:2]:
                    text = f"%d0, [%w0], {primary}, {total};"
                    yield _policy(f"createpolicy.range.global.{words}.b64",
                                  text, f"{base:#x} {primary} {total}", base)  # fmt: skip
    text = "%d0, [%w0], %t0, %t1;"
    before = "mov.u32 %t0, 70000; mov.u32 %t1, 9000000;"
    yield _policy("createpolicy.range.L2::evict_first.b64", text, "registers", _BASES[1], before)
    for value in (0, 0x10F0000000000000, 0x123456789ABCDEF0):
        yield _policy("createpolicy.cvt.L2.b64", "%d0, %w0;", f"{value:#x}", value)


def _policy(word: str, operands: str, note: str, base: int = 0, before: str = "") -> Case:
    if "%w0" in operands:
        before += f"mov.u64 %w0, {base:#x};"
    return Case(f"{word} {note}".strip(), f"{before} {word} {operands}", (), ("b64",), lanes=1)


def _unified() -> Iterator[Case]:
    for name in ("ld.global", "ld", "ld.volatile.global", "ld.acquire.gpu.global"):
        text = f"st.global.u32 [%g], %a0; {name}.u32 %d0, [%g].unified;"
        yield Case(f"{name}.u32 unified", text, ("u32",), ("u32",), lanes=32)


def _fences() -> Iterator[Case]:
    for name in (
        "fence.acquire.sync_restrict::shared::cluster.cluster",
        "fence.release.sync_restrict::shared::cta.cluster",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        "membar.proxy.alias",
    ):
        text = f"st.shared.u32 [%s], %a0; {name}; ld.shared.u32 %d0, [%s];"
        yield Case(name, text, ("u32",), ("u32",), lanes=32)


def _without_masks() -> Iterator[Case]:
    decide = "shr.u32 %t2, %thread, 5; setp.ne.u32 %p2, %a0, 0; setp.eq.or.u32 %p2, %t2, 0, %p2;"
    for mode, result in (("all", "pred"), ("any", "pred"), ("uni", "pred"), ("ballot", "b32")):
        for sign in ("", "!"):
            word = f"vote.{mode}.{result}"
            yield Case(f"{word} {sign}".strip(), f"{decide} {word} %d0, {sign}%p2;", ("u32",),
                       (result,), target=OLD_TARGET)  # fmt: skip
    for mode in ("up", "down", "bfly", "idx"):
        for segment in (0x00, 0x1F, 0x181F, 0x0A05):
            text = f"shfl.{mode}.b32 %d0|%d1, %a0, %a1, {segment:#x};"
            yield Case(f"shfl.{mode}.b32 {segment:#x}", text, ("u32", "amount"), ("b32", "pred"),
                       lanes=64, target=OLD_TARGET)  # fmt: skip
        text = f"shfl.{mode}.b32 %d0, %a0, 3, %a1;"
        yield Case(f"shfl.{mode}.b32", text, ("u32", "u32"), ("b32",), target=OLD_TARGET)
    some = "and.b32 %t0, %lane, 3; setp.lt.u32 %p0, %t0, 2; mov.u32 %d0, 0; mov.u32 %d1, 0;"
    text = f"{some} @%p0 vote.ballot.b32 %d0, %even; @!%p0 vote.ballot.b32 %d1, %even;"
    yield Case("vote.ballot.b32 of some", text, (), ("b32", "b32"), target=OLD_TARGET)
    text = f"{some} @%p0 shfl.bfly.b32 %d0, %a0, 1, 31; @!%p0 shfl.idx.b32 %d1, %a0, 2, 0x1C1F;"
    yield Case("shfl.bfly.b32 of some", text, ("u32",), ("b32", "b32"), target=OLD_TARGET)
