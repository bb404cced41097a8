"""Cases of video instructions: scalar ones, and the selectors and masks of the others."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case

_THREE = ("u32",) * 3


def video() -> Iterator[Case]:
    """Video instructions, scalar and SIMD: selectors, masks and second operations."""
    kinds = [(a, b) for a in ("u32", "s32") for b in ("u32", "s32")]
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for a, b in kinds:
            for d in ("u32", "s32"):
                word = f"{name}.{d}.{a}.{b}"
                yield from _scalar(word)
        yield from _scalar(f"{name}.s32.s32.s32.sat", "b1", "h1")
        for two, parts in (("2", "h"), ("4", "b")):
            for a, b in kinds:
                yield from _simd(f"{name}{two}.s32.{a}.{b}", parts)
                yield from _simd(f"{name}{two}.s32.{a}.{b}.sat", parts)
    for name in ("vshl", "vshr"):
        for a in ("u32", "s32"):
            for mode in ("clamp", "wrap"):
                yield from _scalar(f"{name}.{a}.{a}.u32.{mode}")
    for a, b in kinds:
        for scale in ("", ".shr7", ".shr15"):
            word = f"vmad.s32.{a}.{b}{scale}"
            yield Case(word, f"{word} %d0, %a0, %a1, %a2;", _THREE, ("b32",), lanes=64)
            word = f"vmad.s32.{a}.{b}.sat{scale}"
            yield Case(word, f"{word} %d0, %a0.h1, %a1.b2, %a2;", _THREE, ("b32",), lanes=64)
    for test in ("eq", "lt", "ge"):
        for a, b in kinds:
            yield from _scalar(f"vset.{a}.{b}.{test}")
            yield from _simd(f"vset2.{a}.{b}.{test}", "h")
            yield from _simd(f"vset4.{a}.{b}.{test}", "b")
    for d in ("u32", "s32"):
        yield from _simd(f"vavrg2.{d}.{d}.{d}", "h")
        yield from _simd(f"vavrg4.{d}.{d}.{d}", "b")


def _scalar(word: str, a: str = "", b: str = "") -> Iterator[Case]:
    left, right = (f".{part}" if part else "" for part in (a, b))
    note = f" {a} {b}" if a else ""
    yield Case(word + note, f"{word} %d0, %a0{left}, %a1{right};", ("u32", "u32"), ("b32",),
               lanes=128)  # fmt: skip
    if not a:
        yield Case(f"{word} selected", f"{word} %d0, %a0.b3, %a1.h0;", ("u32", "u32"), ("b32",),
                   lanes=64)  # fmt: skip
        yield Case(f"{word} merged", f"{word} %d0.b2, %a0, %a1.b1, %a2;", _THREE, ("b32",),
                   lanes=64)  # fmt: skip
        yield Case(f"{word}.add", f"{word}.add %d0, %a0.h1, %a1, %a2;", _THREE, ("b32",), lanes=64)


def _simd(word: str, parts: str) -> Iterator[Case]:
    part = {"h": ".h1", "b": ".b20"}[parts]
    pick = {"h": ".h20", "b": ".b7052"}[parts]
    yield Case(f"{word} masked", f"{word} %d0{part}, %a0{pick}, %a1, %a2;", _THREE, ("b32",),
               lanes=64)  # fmt: skip
