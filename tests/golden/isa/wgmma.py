"""Cases of ``wgmma``: products of warpgroups, with matrices in every layout of shared memory.

Both warpgroups of the block multiply matrices of their own, which start at multiples of 1,024 bytes
from an address that is one: so what they hold is the same wherever shared memory begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tests.golden.isa.case import Case
from tests.golden.isa.matrix import packed

TARGET = "sm_90a"
LANES = 160  # kept of the smallest whole results: the first warpgroup, and one warp of the second
FEW_LANES = 32  # kept of the others
PART = 14 * 1024  # bytes of shared memory for each warpgroup
_MODES = {0: 0, 128: 1, 64: 2, 32: 3}
_K = {"f16": 16, "bf16": 16, "tf32": 8, "b1": 256}  # of eight bits: 32
_FILL, _SUMS, _LEFT = 8, 8, 4  # sources: words for the matrices, accumulators, registers of A


@dataclass(frozen=True)
class Layout:
    """How a matrix lies in shared memory.

    Attributes:
        swizzle: Bytes of the swizzling mode, 0 for none.
        transposed: It is MN-major.
        apart: Which one of the two strides is the larger one.
        base: The base offset: the matrix starts so many times 128 bytes off the pattern's boundary.
        parts: How many times 16 bytes a line has along k, or 8 elements.
    """

    swizzle: int = 0
    transposed: bool = False
    apart: bool = False
    base: int = 0
    parts: int = 2

    @property
    def name(self) -> str:
        """Short, for names of cases."""
        base = f"+{self.base}" if self.base else ""
        return f"{'mn' if self.transposed else 'k'}{self.swizzle}{'a' * self.apart}{base}"

    def strides(self, lines: int) -> tuple[int, int, int]:
        """Leading and stride dimension byte offset, and how many bytes there are."""
        width, parts = max(self.swizzle // 16, 1), self.parts
        atom = 128 * width
        if not self.transposed:
            if self.swizzle and width >= parts and not self.apart:
                return 16, atom, lines // 8 * atom
            pieces = max(parts // width, 1)
            leading, stride = (lines // 8 * atom, atom) if self.apart else (atom, pieces * atom)
            return leading, stride, lines // 8 * pieces * atom
        count = -(-lines // 8 // width)
        along_k, along = (count * atom, atom) if self.apart else (atom, parts * atom)
        leading, stride = (along, along_k) if self.swizzle else (along_k, along)
        return leading, stride, parts * count * atom

    def descriptor(self, lines: int) -> int:
        """The descriptor without the start address."""
        leading, stride, _ = self.strides(lines)
        return leading >> 4 << 16 | stride >> 4 << 32 | self.base << 49 | _MODES[self.swizzle] << 62


@dataclass(frozen=True)
class Product:
    """One case.

    Attributes:
        types: Of d, a and b.
        a: The layout of A; ``None`` where it is in registers.
        word: Which numbers: ``"whole"``, ``"mild"``, ``"special"``, or ``""`` for integers.
        scale: ``scale-d``.
        signs: ``imm-scale-a`` and ``imm-scale-b``.
        steps: How far the matrices of each further product are from the first ones', in bytes.
        metadata: The pool of the metadata of A, if A is sparse.
        selector: Which lanes' metadata is used.
    """

    types: tuple[str, str, str]
    n: int
    a: Layout | None
    b: Layout
    word: str
    words: str = ""
    scale: str = "1"
    signs: tuple[int, int] = (1, 1)
    steps: tuple[int, ...] = field(default=())
    metadata: str = ""
    selector: int = 0

    @property
    def k(self) -> int:
        """Elements along k."""
        return _K.get(self.types[1], 32) * (2 if self.metadata else 1)

    @property
    def instruction(self) -> str:
        """With its modifiers."""
        shape = f"m64n{self.n}k{self.k}"
        sparse = ".sp" if self.metadata else ""
        return f"wgmma.mma_async{sparse}.sync.aligned.{shape}.{'.'.join(self.types)}{self.words}"

    @property
    def name(self) -> str:
        """What tells it apart."""
        signs = "" if self.signs == (1, 1) else f" {self.signs[0]} {self.signs[1]}"
        steps = f" and {len(self.steps)} more" if self.steps else ""
        a = "registers" if self.a is None else self.a.name
        scale = {"1": ""}.get(self.scale, f" scale {self.scale.strip('%')}")
        metadata = f" {self.metadata} {self.selector}" if self.metadata else ""
        word = self.word or "any"
        return f"{self.instruction} {a} {self.b.name} {word}{signs}{scale}{steps}{metadata}"

    def case(self) -> Case:
        """Fill shared memory, multiply, wait."""
        d, a, _ = self.types
        fill = packed(a) + (f":{self.word}" if self.word else "")
        sums = "u32" if d == "s32" else f"{packed(d)}:{self.word}"
        count = self.n * (16 if d == "f16" else 32) // 64
        results = tuple(f"%d{number}" for number in range(count))
        lines = [_FILLED]
        lines += [f"mov.b32 {name}, %a{_FILL + n % _SUMS};" for n, name in enumerate(results)]
        room = 0
        if self.a is not None:
            room = -(-self.a.strides(64)[2] // 1024) * 1024 + 1024 * bool(self.a.base)
            lines.append(_descriptor("%w0", self.a, 64, 0))
        if room + self.b.strides(self.n)[2] + 1024 * bool(self.b.base) > PART:
            raise ValueError(f"no room for {self.name}")
        lines.append(_descriptor("%w1", self.b, self.n, room))
        lines.append("setp.ge.u32 %p0, %thread, 128; wgmma.fence.sync.aligned;")
        left = "%w0"
        if self.a is None:
            first = _FILL + _SUMS
            left = f"{{{', '.join(f'%a{first + number}' for number in range(_LEFT))}}}"
        scale = self.scale
        for step in (0, *self.steps):
            for register in ("%w0", "%w1") if step else ():
                if register in (left, "%w1"):
                    lines.append(f"add.u64 {register}, {register}, {step >> 4};")
            operands = [f"{{{', '.join(results)}}}", left, "%w1", *self._selected()]
            operands += [scale, *self._immediates()]
            lines.append(f"{self.instruction} {', '.join(operands)};")
            scale = "1"
        lines.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
        sources = (fill,) * _FILL + (sums,) * _SUMS + (fill,) * (_LEFT if self.a is None else 0)
        sources += (f"u32:{self.metadata}",) if self.metadata else ()
        result = packed(d)
        exact = self.word == "whole" or self.types == ("s32", "s8", "s8")
        lanes = LANES if (exact and self.n == 8) or "%p0" in self.scale else FEW_LANES
        return Case(self.name, " ".join(lines), sources, (result,) * count, lanes=lanes,
                    target=TARGET)  # fmt: skip

    def _selected(self) -> list[str]:
        """The last source and the selector, if A is sparse."""
        place = _FILL + _SUMS + (_LEFT if self.a is None else 0)
        return [f"%a{place}", str(self.selector)] if self.metadata else []

    def _immediates(self) -> list[str]:
        if self.types[0] == "s32":
            return []
        found = [str(sign) for sign in self.signs]
        if self.types[1] in ("f16", "bf16"):
            layouts = [self.b] if self.a is None else [self.a, self.b]
            found += [str(int(layout.transposed)) for layout in layouts]
        return found


# Each chunk of 16 bytes differs from the others: seven for each thread.
_FILLED = (
    "bar.sync 0; mul.lo.u32 %t0, %thread, 128; sub.u32 %t0, %s, %t0; add.u32 %t0, %t0, 1023; "
    "and.b32 %t0, %t0, -1024; mad.lo.u32 %t1, %thread, 16, %t0; "
    + " ".join(
        f"st.shared.v4.b32 [%t1+{4096 * chunk}], "
        f"{{{', '.join(f'%a{(chunk + place) % _FILL}' for place in range(4))}}};"
        for chunk in range(7)
    )
    + f" fence.proxy.async; bar.sync 0; shr.u32 %t2, %thread, 7; mad.lo.u32 %t2, %t2, {PART}, %t0;"
)


def _descriptor(register: str, layout: Layout, lines: int, at: int) -> str:
    return (
        f"add.u32 %t3, %t2, {at + 128 * layout.base}; shr.u32 %t3, %t3, 4; "
        f"and.b32 %t3, %t3, 0x3FFF; cvt.u64.u32 {register}, %t3; "
        f"or.b64 {register}, {register}, {layout.descriptor(lines):#x};"
    )


_FLOATS = (
    ("f16", "f16", "f16"),
    ("f32", "f16", "f16"),
    ("f32", "bf16", "bf16"),
    ("f32", "tf32", "tf32"),
    *((d, a, a) for d in ("f16", "f32") for a in ("e4m3", "e5m2")),
)
_INTEGERS = (("s32", "s8", "s8"), ("s32", "u8", "u8"))
_MIXED = tuple(
    (d, *pair)
    for d, *names in (("f16", "e4m3", "e5m2"), ("f32", "e4m3", "e5m2"), ("s32", "s8", "u8"))
    for pair in (names, names[::-1])
)
_SWIZZLES = ((0, 8), (32, 24), (64, 16), (128, 32))  # and a size that goes with each


def wgmma() -> Iterator[Case]:
    """Everything once or twice; every combination would be thousands."""
    for product in _products():
        yield product.case()


def _products() -> Iterator[Product]:
    for types in _MIXED:
        for a in (Layout(), None):
            yield Product(types, 16, a, Layout(), "mild" if types[1][0] == "e" else "")
    for types in (*_FLOATS, *_INTEGERS):
        words = ("whole", "mild") if types in _FLOATS else ("",)
        for swizzle, n in _SWIZZLES:
            layout = Layout(swizzle)
            for word in words:
                yield Product(types, n, layout, replace(layout, apart=not swizzle), word)
            yield Product(types, n, None, layout, words[-1])
        if types in _FLOATS:
            yield from _signs(types)
            yield Product(types, 8, Layout(), Layout(), "special")
        else:
            for n in (16, 48):
                yield Product(types, n, Layout(), Layout(32), "", ".satfinite")
            yield Product(types, 8, None, Layout(), "", ".satfinite")
        last = words[-1]
        yield Product(types, 16, Layout(), Layout(), last, scale="0")
        yield Product(types, 16, Layout(64), Layout(), last, scale="%p0")
        yield Product(types, 16, None, Layout(), last, scale="!%p0")
        yield Product(types, 16, Layout(128), Layout(128), last, steps=(32,))
        yield Product(types, 8, Layout(128), Layout(128), last, scale="0", steps=(32, 32, 32))
        yield Product(types, 8, Layout(64), Layout(64), words[0], steps=(32,))
        if _K.get(types[1]) == 16:
            yield from _transposed(types)
    yield from _large()
    for layout in (Layout(128), Layout(64), Layout(128, transposed=True)):
        for base in (1, 3, 6):
            moved = replace(layout, base=base)
            yield Product(("f32", "f16", "f16"), 16, moved, layout, "whole")
            yield Product(("f32", "f16", "f16"), 16, layout, moved, "whole")


def _signs(types: tuple[str, str, str]) -> Iterator[Product]:
    for signs in ((-1, 1), (1, -1), (-1, -1)):
        yield Product(types, 8, Layout(), Layout(), "mild", signs=signs)
    yield Product(types, 8, None, Layout(), "mild", signs=(-1, 1))


def _transposed(types: tuple[str, str, str]) -> Iterator[Product]:
    for swizzle, n in _SWIZZLES:
        across = Layout(swizzle, transposed=True)
        along = Layout(swizzle)
        apart = replace(across, apart=True)
        yield Product(types, n, along, across, "whole")
        yield Product(types, n, across, along, "whole")
        yield Product(types, n, across, across, "mild")
        yield Product(types, n, apart, apart, "whole")
        yield Product(types, n, None, across, "whole")
    for swizzle in (0, 32, 64, 128) if types[1] == "bf16" else ():
        for apart in (False, True):
            yield Product(types, 72, None, Layout(swizzle, transposed=True, apart=apart), "whole")


def _large() -> Iterator[Product]:
    half, single = _FLOATS[0], _FLOATS[1]
    for n in (40, 56, 88, 120, 168, 200, 248):
        yield Product(half, n, Layout(), Layout(32), "whole")
    yield Product(single, 256, Layout(), Layout(), "whole")
    yield Product(single, 256, None, Layout(32), "mild")
    yield Product(half, 256, Layout(32), Layout(32), "mild")
    yield Product(single, 128, Layout(), Layout(64), "mild")
    yield Product(("f32", "bf16", "bf16"), 256, Layout(), Layout(128, transposed=True), "whole")
    yield Product(("f32", "tf32", "tf32"), 192, Layout(), Layout(), "mild")
    yield Product(("f32", "e4m3", "e4m3"), 256, None, Layout(), "mild")
    yield Product(("f16", "e5m2", "e5m2"), 256, None, Layout(32), "whole")
    for n in (64, 80, 112, 224, 240, 256):
        yield Product(("s32", "s8", "u8"), n, Layout(), Layout(32), "")
