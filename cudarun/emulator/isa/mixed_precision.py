"""Mixed-precision floating point (PTX manual 9.7.5): operands of 16 bits are converted to f32."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.isa.floating import ADD, FMA, RND, SUB
from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.isa.later_floating import Make, as_f32
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.temporaries import Function, result_of
from cudarun.emulator.words import Words


def _mixed(make: Make, narrow: str) -> Make:
    def widened(words: Words) -> Function:
        compute = as_f32(make, words)
        return result_of(
            lambda *given: compute(*(to_f32(a, narrow) for a in given[:-1]), given[-1])
        )

    return widened


def _rows(narrow: str) -> Iterator[InstructionForm]:
    """Return the rows of a type of 16 bits."""
    types = f".f32.{narrow}  d:f32, a:{narrow}"
    yield form(f"add{{.rnd}}{{.sat}}{types}, c:f32", make=_mixed(ADD, narrow), **RND)
    yield form(f"sub{{.rnd}}{{.sat}}{types}, c:f32", make=_mixed(SUB, narrow), **RND)
    yield form(f"fma.rnd{{.sat}}{types}, b:{narrow}, c:f32", make=_mixed(FMA, narrow), **RND)


FORMS: tuple[InstructionForm, ...] = (*_rows("f16"), *_rows("bf16"))
