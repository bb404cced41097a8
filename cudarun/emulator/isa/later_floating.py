"""Floating point after PTX 8.5 (manual 9.7.3): two packed f32, three inputs, angles in turns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cudarun.emulator.isa.approximations import of_unit
from cudarun.emulator.isa.floating import ADD, FMA, MUL, RND, SUB, extreme
from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.numerics import special_functions as unit
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, result_of, temporaries_of
from cudarun.emulator.words import Words

Make = Callable[[Words], Function]


def as_f32(make: Make, words: Words) -> Callable[..., Array]:
    """Return the operation on f32 of an instruction, as a function of one-dimensional arrays."""
    function = make(Words({**words, "type": "f32"}))

    def compute(*sources: Array) -> Array:
        d = np.empty_like(sources[0], dtype=np.float32)
        function(*sources, d, *(np.empty_like(d, dtype=kind) for kind in temporaries_of(function)))
        return d

    return compute


def _packed(make: Make) -> Make:
    def both(words: Words) -> Function:
        compute = as_f32(make, words)
        return result_of(
            lambda *given: compute(*(a.reshape(-1) for a in given)).reshape(given[0].shape)
        )

    return both


FORMS: tuple[InstructionForm, ...] = (
    form("add{.rnd}{.ftz}.f32x2  d, a, b", make=_packed(ADD), **RND),
    form("sub{.rnd}{.ftz}.f32x2  d, a, b", make=_packed(SUB), **RND),
    form("mul{.rnd}{.ftz}.f32x2  d, a, b", make=_packed(MUL), **RND),
    form("fma.rnd{.ftz}.f32x2  d, a, b, c", make=_packed(FMA), **RND),
    form("min{.ftz}{.NaN}{.abs}.f32  d, a, b, c", make=partial(extreme, "min", sources=3)),
    form("max{.ftz}{.NaN}{.abs}.f32  d, a, b, c", make=partial(extreme, "max", sources=3)),
    form("sin.approx.ftz.2pi.f32  d, a", result_of(partial(of_unit, unit.sine))),
    form("cos.approx.ftz.2pi.f32  d, a", result_of(partial(of_unit, unit.cosine))),
)
