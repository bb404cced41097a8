"""Cases of ``mma.sp``: A is sparse, and its metadata comes from lanes that a selector chooses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product as combinations

from tests.golden.isa.case import Case
from tests.golden.isa.matrix import Product, product_case

_PLAIN, _ORDERED = ".sp", ".sp::ordered_metadata"
# Shapes and the number of selectors of each. ptxas takes two more of m16n8k32
# with sums of f16 in f32, which an H200 refuses to execute (715).
_HALVES = (("m16n8k16", 4), ("m16n8k32", 2))
_SINGLES = (("m16n8k8", 4), ("m16n8k16", 2))
_BYTES = (("m16n8k32", 2), ("m16n8k64", 1))
_NIBBLES = (("m16n8k64", 2), ("m16n8k128", 1))
_TYPES = {
    ("f16", "f16", "f16", "f16"): _HALVES,
    ("f32", "f16", "f16", "f32"): _HALVES,
    ("f32", "bf16", "bf16", "f32"): _HALVES,
    ("f32", "tf32", "tf32", "f32"): _SINGLES,
}


def sparse() -> Iterator[Case]:
    """All of them."""
    for types, shapes in _TYPES.items():
        for shape, selectors in shapes:
            yield from _floats(Product(shape, types, sparse=_ORDERED), selectors)
    for a, b in combinations(("e4m3", "e5m2"), repeat=2):
        yield from _floats(Product("m16n8k64", ("f32", a, b, "f32"), sparse=_ORDERED), 1)
    for names, shapes in ((("s8", "u8"), _BYTES), (("s4", "u4"), _NIBBLES)):
        for a, b in combinations(names, repeat=2):
            for shape, selectors in shapes:
                yield from _integers(Product(shape, ("s32", a, b, "s32"), sparse=_ORDERED),
                                     selectors)  # fmt: skip


def _floats(product: Product, selectors: int) -> Iterator[Case]:
    plain = replace(product, sparse=_PLAIN)
    last = selectors - 1
    if product.types[1] == "tf32":
        ordered, others = "halves", ("chance",)
    else:
        ordered, others = "ordered", ("disordered", "chance")
    for selector in range(selectors):
        yield product_case(product, "whole", ordered, selector)
    for word in ("mild", "special"):
        yield product_case(product, word, ordered, last)
    yield product_case(plain, "mild", ordered, 0)
    for metadata in others:
        yield product_case(plain, "whole", metadata, last)
        yield product_case(product, "mild", metadata, last)


def _integers(product: Product, selectors: int) -> Iterator[Case]:
    plain = replace(product, sparse=_PLAIN)
    for selector in range(selectors):
        yield product_case(product, "", "ordered", selector)
        saturating = replace(plain, words=".satfinite")
        yield product_case(saturating, "", "ordered", selector)
    for metadata in ("disordered", "chance"):
        yield product_case(plain, "", metadata, 0)
    yield product_case(replace(product, words=".satfinite"), "", "chance", 0)
