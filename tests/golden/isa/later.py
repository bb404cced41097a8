"""Cases made after their chapters were recorded: they wait until these are recorded again."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case


def later() -> Iterator[Case]:
    """All of them."""
    yield from _vectors()
    yield from _video()
    yield from _bytes_and_bf16()
    text = "st.global.u32 [%g], %a0; mov.u64 %w1, table; cvta.const.u64 %w1, %w1;"
    yield Case("isspacep.global of table", f"{text} isspacep.global %d0, %w1;", ("u32",), ("pred",),
               lanes=32)  # fmt: skip


BYTES_TO_BF16 = [f"cvt.{mode}.bf16.{name}" for mode in ("rn", "rz", "rm", "rp")
                 for name in ("u8", "s8")]  # fmt: skip
BYTES_FROM_BF16 = [f"cvt.{mode}i.{name}.bf16" for mode in ("rn", "rz", "rm", "rp")
                   for name in ("u8", "s8")]  # fmt: skip


def _bytes_and_bf16() -> Iterator[Case]:
    """Conversions between bytes and bf16, which take no wider register for the byte."""
    for word in BYTES_TO_BF16:
        text = f"{{ .reg .b8 %x, %y; mov.b16 {{%x, %y}}, %a0; {word} %d0, %x; }}"
        yield Case(word, text, ("u16:every",), ("bf16",), lanes=256)
    for word in BYTES_FROM_BF16:
        text = f"{{ .reg .b8 %x; {word} %x, %a0; mov.b16 %d0, {{%x, 0}}; }}"
        yield Case(word, text, ("bf16",), ("b16",))


def _video() -> Iterator[Case]:
    """Scalar video instructions: saturation, second operations, operands with a minus."""
    words = [f"{name}.s32.{a}.{b}.sat" for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
             for a in ("u32", "s32") for b in ("u32", "s32")]  # fmt: skip
    words += [f"{name}.s32.{a}.u32.{mode}.sat" for name in ("vshl", "vshr") for a in ("u32", "s32")
              for mode in ("clamp", "wrap")]  # fmt: skip
    for word in words:
        yield Case(f"{word} of words", f"{word} %d0, %a0, %a1;", ("u32", "u32"), ("b32",),
                   lanes=128)  # fmt: skip
    for op in ("min", "max"):
        word = f"vset.u32.s32.lt.{op}"
        yield Case(word, f"{word} %d0, %a0, %a1, %a2;", ("u32",) * 3, ("b32",), lanes=64)
    for kinds in ("u32.u32", "u32.s32", "s32.s32"):
        for rest in ("", ".sat", ".shr7", ".sat.shr15"):
            for a, c in (("-", ""), ("", "-")):
                word = f"vmad.s32.{kinds}{rest}"
                yield Case(f"{word} {a}a {c}c", f"{word} %d0, {a}%a0, %a1, {c}%a2;", ("u32",) * 3,
                           ("b32",), lanes=64)  # fmt: skip
            word = f"vmad.u32.{kinds}.po{rest}"
            yield Case(word, f"{word} %d0, %a0, %a1, %a2;", ("u32",) * 3, ("b32",), lanes=64)


def _vectors() -> Iterator[Case]:
    """Atomic operations on vectors of halves, and all the reductions of vectors."""
    for name, lengths in (("f16", (2, 4, 8)), ("bf16", (2, 4, 8)),
                          ("f32", (2, 4)), ("f16x2", (2, 4)), ("bf16x2", (2, 4))):  # fmt: skip
        bits = 16 if name in ("f16", "bf16") else 32
        for op in ("add",) if name == "f32" else ("add.noftz", "min.noftz", "max.noftz"):
            for length in lengths:
                word = f"global.{op}.v{length}.{name}"
                size = bits // 8
                fill = "".join(
                    f"st.global.b{bits} [%g+{size * n}], %a{n % 4}; " for n in range(length)
                )
                given = ", ".join(f"%a{4 + n % 2}" for n in range(length))
                back = "".join(f" ld.global.b{bits} %d{n}, [%g+{size * n}];" for n in range(length))
                yield Case(f"red.{word}", f"{fill}red.{word} [%g], {{{given}}};{back}",
                           (name,) * 6, (name,) * length, lanes=64)  # fmt: skip
                if bits == 16:
                    old = ", ".join(f"%d{n}" for n in range(length))
                    text = f"{fill}atom.{word} {{{old}}}, [%g], {{{given}}};"
                    yield Case(f"atom.{word}", text, (name,) * 6, (name,) * length, lanes=64)
