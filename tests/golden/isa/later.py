"""Cases made after their chapters were recorded: they wait until these are recorded again."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case


def later() -> Iterator[Case]:
    """All of them."""
    yield from _vectors()
    text = "st.global.u32 [%g], %a0; mov.u64 %w1, table; cvta.const.u64 %w1, %w1;"
    yield Case("isspacep.global of table", f"{text} isspacep.global %d0, %w1;", ("u32",), ("pred",),
               lanes=32)  # fmt: skip


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
