"""Cases of further products of warps: elements of 4 bits and 1 bit, fp8, quarters, roundings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as combinations

from tests.golden.isa.case import Case
from tests.golden.isa.matrix import WORDS, Product, declared, product_case, put_matrices, wmma_case

_KINDS = ("whole", "mild", "special")
_NIBBLES = ("s4", "u4")
_FP8 = ("e4m3", "e5m2")
_OPERATIONS = (".xor.popc", ".and.popc")
_LAYOUTS = ("row", "col")


def products() -> Iterator[Case]:
    """All of them."""
    yield from _bits()
    yield from _nibbles()
    yield from _eight_bits()
    yield from _quarters()
    yield from _roundings()
    yield from _wmma()


def _bits() -> Iterator[Case]:
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for op in _OPERATIONS:
            yield product_case(Product(shape, ("s32", "b1", "b1", "s32"), op=op), "")


def _nibbles() -> Iterator[Case]:
    for shape in ("m8n8k32", "m16n8k32", "m16n8k64"):
        for a, b in combinations(_NIBBLES, repeat=2):
            for words in ("", ".satfinite"):
                yield product_case(Product(shape, ("s32", a, b, "s32"), words), "")


def _eight_bits() -> Iterator[Case]:
    for a, b in combinations(_FP8, repeat=2):
        for shape, d in (("m16n8k16", "f16"), ("m16n8k16", "f32"), ("m16n8k32", "f16")):
            for word in _KINDS:
                yield product_case(Product(shape, (d, a, b, d)), word)


def _quarters() -> Iterator[Case]:
    """Four products of 8 by 8 by 4, each of two groups of four lanes."""
    for a_layout, b_layout in combinations(_LAYOUTS, repeat=2):
        for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
            for word in _KINDS:
                layouts = f".{a_layout}.{b_layout}"
                product = Product("m8n8k4", (d, "f16", "f16", c), layouts=layouts)
                yield product_case(product, word)


def _roundings() -> Iterator[Case]:
    for rounding in ("rn", "rz", "rm", "rp"):
        for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
            product = Product(shape, ("f64",) * 4, f".{rounding}")
            yield product_case(product, "mild")
            yield product_case(product, "")
        for layouts in (("row", "col", "row"), ("col", "row", "col")):
            yield wmma_case("m8n8k4", ("f64",) * 4, layouts, "mild", "shared", rn=f".{rounding}")


def _wmma() -> Iterator[Case]:
    for c_layout, space in (("row", "shared"), ("col", "global")):
        layouts = ("row", "col", c_layout)
        for name in _NIBBLES:
            for words in ("", ".satfinite"):
                types = ("s32", name, name, "s32")
                yield wmma_case("m8n8k32", types, layouts, "exact", space, words)
        for op in _OPERATIONS:
            types = ("s32", "b1", "b1", "s32")
            yield wmma_case("m8n8k128", types, layouts, "exact", space, op=op)
    for shape, name in (("m8n8k32", "s4"), ("m8n8k32", "u4"), ("m8n8k128", "b1")):
        for which, layout in (("a", "row"), ("b", "col")):
            yield _load(which, layout, shape, name, "", 1)
        factor = 8 if name == "b1" else 2
        yield _load("a", "row", shape, name, f", {64 * factor}", 1)
        for layout in _LAYOUTS if name != "u4" else ():
            yield _load("c", layout, shape, "s32", "", 2)


def _load(which: str, layout: str, shape: str, name: str, stride: str, count: int) -> Case:
    registers = [f"%{which}f{number}" for number in range(count)]
    load = f"wmma.load.{which}.sync.aligned.{layout}.{shape}.shared.{name}"
    lines = [declared(which, registers, name), put_matrices("shared", name)]
    lines.append(f"{load} {{{', '.join(registers)}}}, [%t4]{stride};")
    lines += [f"mov.b32 %d{n}, {register};" for n, register in enumerate(registers)]
    sources = ("u32",) * (2 * WORDS)
    return Case(f"{load}{stride}", " ".join(lines), sources, ("b32",) * count, lanes=32)
