"""Cases of ``wgmma`` with a sparse A, or with elements of one bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.golden.isa.case import Case
from tests.golden.isa.wgmma import Layout, Product

_HALVES = (("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"))
_SINGLES = ("f32", "tf32", "tf32")
_BYTES = tuple(
    (d, *pair)
    for sums, names in ((("f16", "f32"), ("e4m3", "e5m2")), (("s32",), ("s8", "u8")))
    for d in sums
    for pair in ((names[0],) * 2, (names[1],) * 2, names, names[::-1])
)
_SWIZZLES = ((0, 8), (32, 24), (64, 16), (128, 32))  # and a size that goes with each


def wgmma_sparse() -> Iterator[Case]:
    """All of them."""
    for product in [*_bits(), *_sparse()]:
        yield product.case()


def _bits() -> Iterator[Product]:
    types = ("s32", "b1", "b1")
    for swizzle, n in _SWIZZLES:
        layout = Layout(swizzle)
        first = Product(types, n, layout, replace(layout, apart=not swizzle), "", ".and.popc")
        yield first
        yield replace(first, a=None)
    first = Product(types, 16, Layout(), Layout(), "", ".and.popc")
    yield replace(first, scale="0")
    yield replace(first, a=Layout(128), b=Layout(128), steps=(32, 32))
    yield replace(first, n=48)
    yield replace(first, n=256, a=None)


def _sparse() -> Iterator[Product]:
    for types in (*_HALVES, _SINGLES, *_BYTES):
        yield from _of_types(types)
    for types in _HALVES:
        yield from _transposed(types)
    single = ("f32", "f16", "f16")
    long = Layout(parts=4)
    yield Product(single, 192, None, replace(long, swizzle=64), "mild", metadata="ordered")
    yield Product(("s32", "s8", "u8"), 80, None, long, "", metadata="ordered")
    # Where a line of B needs two of the patterns: how far apart are they?
    for types in (single, ("s32", "s8", "s8")):
        word = "" if types[0] == "s32" else "whole"
        for apart in (False, True):
            for swizzle in (0, 32, 64, 128):
                b = replace(long, swizzle=swizzle, apart=apart)
                yield Product(types, 24, Layout(), b, word, metadata="ordered")


def _of_types(types: tuple[str, str, str]) -> Iterator[Product]:
    whole, mild = ("", "") if types[0] == "s32" else ("whole", "mild")
    ordered = "halves" if types[1] == "tf32" else "ordered"
    last = 1 if types in _HALVES or types is _SINGLES else 0
    long = Layout(parts=4)
    for swizzle, n in _SWIZZLES:
        b = replace(long, swizzle=swizzle)
        yield Product(types, n, Layout(swizzle), b, whole, metadata=ordered, selector=last)
    for selector in range(last + 1):
        first = Product(types, 8, Layout(), long, mild, metadata=ordered, selector=selector)
        yield first
        yield replace(first, a=None)
    yield replace(first, scale="0", metadata="chance")
    yield replace(first, a=None, word=whole, metadata="chance")
    yield replace(first, a=None, scale="!%p0", n=16, word=whole)
    yield replace(first, a=Layout(128), b=replace(long, swizzle=128), steps=(64,), word=whole)
    if ordered == "ordered":
        yield replace(first, metadata="disordered")
    if types[0] == "s32":
        yield replace(first, words=".satfinite")
        yield replace(first, words=".satfinite", a=None)
    else:
        yield replace(first, word="special")
        yield replace(first, signs=(-1, 1))
        yield replace(first, signs=(1, -1), a=None)


def _transposed(types: tuple[str, str, str]) -> Iterator[Product]:
    for swizzle, n in _SWIZZLES:
        across = Layout(swizzle, transposed=True)
        long = replace(across, parts=4)
        for a, b in (
            (across, long),
            (replace(across, apart=True), replace(long, apart=True)),
            (None, long),
            (across, Layout(swizzle, parts=4)),
        ):
            yield Product(types, n, a, b, "whole", metadata="ordered", selector=1)
