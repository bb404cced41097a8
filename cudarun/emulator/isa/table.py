"""All instruction forms by opcode."""

from __future__ import annotations

from functools import lru_cache

from cudarun.emulator.isa import (
    atomics,
    cluster,
    compare,
    convert,
    floating,
    half,
    hints,
    integer,
    logic,
    matrix,
    mbarrier,
    memory,
    move,
    scalar_video,
    stack,
    texture,
    video,
    warp,
    warpgroup,
)
from cudarun.emulator.isa.form import InstructionForm

_MODULES = (
    integer,
    floating,
    half,
    compare,
    logic,
    convert,
    move,
    memory,
    atomics,
    warp,
    matrix,
    warpgroup,
    mbarrier,
    cluster,
    stack,
    scalar_video,
    texture,
    video,
    hints,
)

MODULES: dict[str, tuple[InstructionForm, ...]] = {
    module.__name__.rpartition(".")[2]: module.FORMS for module in _MODULES
}
"""The rows by module."""

FORMS: dict[str, tuple[InstructionForm, ...]] = {}
for _rows in MODULES.values():
    for _form in _rows:
        FORMS[_form.opcode] = (*FORMS.get(_form.opcode, ()), _form)


@lru_cache(maxsize=4096)
def candidates(opcode: str, modifiers: tuple[str, ...]) -> tuple[InstructionForm, ...]:
    """Return the forms that have these modifiers; they differ in their operands."""
    return tuple(form for form in FORMS.get(opcode, ()) if form.match(modifiers) is not None)
