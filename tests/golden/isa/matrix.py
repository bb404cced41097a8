"""Cases of matrix instructions: products that are exact in any order, and ones that are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.golden.isa.case import Case

_SIZES = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "e4m3": 8, "e5m2": 8,
          "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}  # fmt: skip
_WORDS = ("s8", "u8", "s4", "u4", "b1")  # any bits


@dataclass(frozen=True)
class Product:
    """One ``mma``: shape and types of d, a, b, c."""

    shape: str
    types: tuple[str, str, str, str]
    words: str = ""
    op: str = ""
    sparse: str = ""
    layouts: str = ".row.col"

    @property
    def name(self) -> str:
        types = ".".join(self.types)
        head = f"mma{self.sparse}.sync.aligned.{self.shape}{self.layouts}"
        return f"{head}{self.words}.{types}{self.op}"

    def registers(self, which: int) -> tuple[str, int]:
        """The pool of one register of d, a, b or c, and how many of them a lane has."""
        m, n, k = numbers(self.shape)
        elements = (m * n, m * k // (2 if self.sparse else 1), k * n, m * n)[which]
        if self.shape == "m8n8k4" and "f16" in self.types:  # four products, each of 8 lanes
            elements *= 4
        return packed(self.types[which]), elements * _SIZES[self.types[which]] // 32 // width_of(
            self.types[which]
        )


def width_of(name: str) -> int:
    """Bits of the register that has values of a type."""
    return 64 if name == "f64" else 32


def packed(name: str) -> str:
    """The pool of a register full of values of a type."""
    if name in _WORDS:
        return "u32"
    count = 32 // _SIZES[name]
    return f"{name}x{count}" if count > 1 else name


def numbers(shape: str) -> tuple[int, int, int]:
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


def _products() -> Iterator[Product]:
    for shape in ("m16n8k8", "m16n8k16"):
        for d in ("f16", "f32"):
            yield Product(shape, (d, "f16", "f16", d))
        yield Product(shape, ("f32", "bf16", "bf16", "f32"))
    for shape in ("m16n8k4", "m16n8k8"):
        yield Product(shape, ("f32", "tf32", "tf32", "f32"))
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield Product("m16n8k32", ("f32", a, b, "f32"))
    for shape in ("m8n8k16", "m16n8k16", "m16n8k32"):
        for a in ("s8", "u8"):
            for b in ("s8", "u8"):
                for words in ("", ".satfinite"):
                    yield Product(shape, ("s32", a, b, "s32"), words)
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        yield Product(shape, ("f64",) * 4)


def matrix() -> Iterator[Case]:
    """``mma``, ``wmma``, ``ldmatrix``, ``stmatrix``, ``movmatrix``."""
    for product in _products():
        whole = product.types[1] in _WORDS
        if whole:
            yield product_case(product, "")
            continue
        yield product_case(product, "whole")
        yield product_case(product, "mild")
        yield product_case(product, "special")
    yield from _moves()
    yield from _wmma()


def product_case(product: Product, word: str, metadata: str = "", selector: int = 0) -> Case:
    """Registers of both operands multiplied, and metadata from a pool if A is sparse."""
    sources: list[str] = []
    operands = []
    for which in (1, 2, 3):
        pool, count = product.registers(which)
        names = [f"%a{len(sources) + number}" for number in range(count)]
        operands.append(f"{{{', '.join(names)}}}")
        sources += [f"{pool}:{word}" if word else _integers(pool)] * count
    pool, count = product.registers(0)
    targets = ", ".join(f"%d{number}" for number in range(count))
    note = f" {word}" if word else ""
    if metadata:
        operands += [f"%a{len(sources)}", str(selector)]
        sources.append(f"u32:{metadata}")
        note += f" {metadata} {selector}"
    text = f"{product.name} {{{targets}}}, {', '.join(operands)};"
    return Case(product.name + note, text, tuple(sources), (pool,) * count, lanes=64)


def _integers(pool: str) -> str:
    return "u32" if pool == "s32" else pool


def _moves() -> Iterator[Case]:
    words = ("u32",) * 4
    fill = "bar.sync 0; st.shared.v4.b32 [%s], {%a0, %a1, %a2, %a3}; bar.warp.sync 0xFFFFFFFF;"
    for space in (".shared", ".shared::cta", ""):
        # Rows of 16 bytes, one in each thread's scratch, but not its own.
        at = "%t1" if space else "%w0"
        turn = (
            "xor.b32 %t0, %thread, 5; sub.u32 %t0, %t0, %thread; mad.lo.s32 %t1, %t0, 128, %s; "
            "cvt.u64.u32 %w0, %t1; cvta.shared.u64 %w0, %w0;"
        )
        for number, count in (("x1", 1), ("x2", 2), ("x4", 4)):
            names = ", ".join(f"%d{place}" for place in range(count))
            for trans in ("", ".trans"):
                name = f"ldmatrix.sync.aligned.m8n8.{number}{trans}{space}.b16"
                yield Case(name, f"{fill} {turn} {name} {{{names}}}, [{at}];", words,
                           ("b32",) * count, lanes=64)  # fmt: skip
                name = f"stmatrix.sync.aligned.m8n8.{number}{trans}{space}.b16"
                given = ", ".join(f"%a{place}" for place in range(count))
                text = (
                    f"bar.sync 0; st.shared.v4.b32 [%s], {{%a3, %a3, %a3, %a3}}; "
                    f"bar.warp.sync 0xFFFFFFFF; {turn} {name} [{at}], {{{given}}}; "
                    "bar.warp.sync 0xFFFFFFFF; ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%s];"
                )
                yield Case(name, text, words, ("b32",) * 4, lanes=64)
    name = "movmatrix.sync.aligned.m8n8.trans.b16"
    yield Case(name, f"{name} %d0, %a0;", ("u32",), ("b32",), lanes=64)


# --- wmma ----------------------------------------------------------------------------------------

WORDS = 16  # of 32 bits that each lane gives to its warp's matrices a and b; as many again to c
_F16_SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")


def _wmma() -> Iterator[Case]:
    """Load, multiply and store: what the fragments look like inside is no part of PTX."""
    for shape in _F16_SHAPES:
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                yield from _layouts(shape, (d, "f16", "f16", c))
        yield from _layouts(shape, ("f32", "bf16", "bf16", "f32"))
        for name in ("s8", "u8"):
            yield from _layouts(shape, ("s32", name, name, "s32"))
            yield from _layouts(shape, ("s32", name, name, "s32"), ".satfinite")
    yield from _layouts("m16n16k8", ("f32", "tf32", "tf32", "f32"))
    yield from _layouts("m8n8k4", ("f64",) * 4)
    yield from _layouts("m8n8k4", ("f64",) * 4, rn=".rn")


def _layouts(
    shape: str, types: tuple[str, str, str, str], words: str = "", rn: str = ""
) -> Iterator[Case]:
    kinds = ["exact"] if types[1] in _WORDS else ["whole", "mild"]
    for place, layouts in enumerate(
        (a, b, c) for a in ("row", "col") for b in ("row", "col") for c in ("row", "col")
    ):
        space = ("global", "shared")[place % 2]
        for kind in kinds[: 2 if place in (2, 5) else 1]:
            yield wmma_case(shape, types, layouts, kind, space, words, rn)


def wmma_case(
    shape: str, types: tuple[str, str, str, str], layouts: tuple[str, str, str], kind: str,
    space: str, words: str = "", rn: str = "", op: str = "",
) -> Case:  # fmt: skip
    """Load, multiply, store."""
    d, a, b, c = types
    m, n, k = numbers(shape)
    a_layout, b_layout, c_layout = layouts
    named = f".{d}.{c}" if a == "f16" else "." + ".".join(types)
    product = f"wmma.mma{op}.sync.aligned.{a_layout}.{b_layout}.{shape}{rn}{named}{words}"
    word = "" if kind == "exact" else f":{kind}"
    counts = {
        which: fragment_registers(which, shape, name)
        for which, name in zip("dabc", types, strict=True)
    }
    at = {"a": 0, "b": m * k * _SIZES[a] // 8, "c": 2048}
    leading = {
        "a": k if a_layout == "row" else m,
        "b": n if b_layout == "row" else k,
        "c": n if c_layout == "row" else m,
    }
    base = "%w4" if space == "global" else "%t4"
    registers = {
        which: [f"%{which}f{number}" for number in range(count)] for which, count in counts.items()
    }
    lines = [
        declared(which, registers[which], name) for which, name in zip("dabc", types, strict=True)
    ]
    lines.append(put_matrices(space, a))
    for which, kind_of in (("a", a), ("b", b), ("c", c)):
        layout = {"a": a_layout, "b": b_layout, "c": c_layout}[which]
        lines.append(
            f"wmma.load.{which}.sync.aligned.{layout}.{shape}.{space}.{kind_of} "
            f"{{{', '.join(registers[which])}}}, [{base}+{at[which]}], {leading[which]};"
        )
    given = ", ".join(f"{{{', '.join(registers[which])}}}" for which in "dabc")
    lines.append(f"{product} {given};")
    lines.append(
        f"wmma.store.d.sync.aligned.{c_layout}.{shape}.{space}.{d} [{base}], "
        f"{{{', '.join(registers['d'])}}}, {leading['c']};"
    )
    lanes = m * n * _SIZES[d] // 8 // 32  # bytes of the result for each lane
    lines.append("bar.warp.sync 0xFFFFFFFF;")
    results = read_back(space, packed(d), lanes, lines)
    sources = (packed(a) + word,) * WORDS + (_integers(packed(c)) + word,) * WORDS
    if a == "f64":
        sources = (f"f64{word}",) * (WORDS // 2) + (f"f64{word}",) * (WORDS // 2)
    name = f"{product} {c_layout} {space} {kind}"
    return Case(name, " ".join(lines), sources, results, lanes=32)


def fragment_registers(which: str, shape: str, name: str) -> int:
    """How many registers the manual gives each lane for a matrix of ``wmma``."""
    m, n, k = numbers(shape)
    elements = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}[which]
    if name == "f16" and which in "ab":
        return 8
    return max(elements * _SIZES[name] // 32 // width_of(name), 1)


def declared(which: str, registers: list[str], name: str) -> str:
    """The declaration of the registers of a fragment."""
    kind = {"f64": "f64", "f32": "f32"}.get(name, "b32")
    if which in "ab" and kind == "f32":
        kind = "b32"
    return f".reg .{kind} {', '.join(registers)};"


def put_matrices(space: str, a: str) -> str:
    """Put the words of each lane into its warp's 4 KiB: a and b first, c from 2048 on."""
    size, store = (8, "b64") if a == "f64" else (4, "b32")
    count = WORDS // 2 if a == "f64" else WORDS
    warp = (
        "and.b32 %t0, %lane, 31; mul.lo.u32 %t1, %t0, 128; sub.u32 %t4, %s, %t1; "
        f"cvt.u64.u32 %w1, %t1; sub.u64 %w4, %g, %w1; mul.lo.u32 %t2, %t0, {size}; "
        "add.u32 %t3, %t4, %t2; cvt.u64.u32 %w2, %t2; add.u64 %w3, %w4, %w2;"
    )
    base = "%w3" if space == "global" else "%t3"
    lines = ["bar.sync 0;", warp]
    for number in range(2 * count):
        place = number % count * 32 * size + number // count * 2048
        lines.append(f"st.{space}.{store} [{base}+{place}], %a{number};")
    lines.append("bar.warp.sync 0xFFFFFFFF;")
    return " ".join(lines)


def read_back(space: str, pool: str, size: int, lines: list[str]) -> tuple[str, ...]:
    """Read a lane's part of the result, ``size`` bytes of it, at the front of the warp's memory."""
    width = 8 if pool == "f64" else 4
    base = "%w4" if space == "global" else "%t4"
    place = "%w5" if space == "global" else "%t5"
    lines.append(f"mul.lo.u32 %t2, %t0, {size}; cvt.u64.u32 %w2, %t2;")
    if space == "global":
        lines.append(f"add.u64 {place}, {base}, %w2;")
    else:
        lines.append(f"add.u32 {place}, {base}, %t2;")
    for number in range(size // width):
        lines.append(f"ld.{space}.b{8 * width} %d{number}, [{place}+{number * width}];")
    return (pool,) * (size // width)
