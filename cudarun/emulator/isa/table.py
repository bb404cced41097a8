"""All instruction forms by opcode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from cudarun.emulator.isa import (
    atomics,
    bulk,
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
    surface,
    tensor,
    texture,
    video,
    warp,
    warpgroup,
)
from cudarun.emulator.isa.form import InstructionForm
from cudarun.emulator.isa.modifiers import misplaced
from cudarun.emulator.words import Words
from cudarun.records import dataclass

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
    bulk,
    tensor,
    cluster,
    stack,
    scalar_video,
    texture,
    surface,
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form that has the modifiers of an instruction.

    Attributes:
        form: The form.
        words: The modifiers by the words of the form's syntax line.
        name: The instruction with its modifiers in the order of that line.
    """

    form: InstructionForm
    words: Words
    name: str


@lru_cache(maxsize=4096)
def candidates(opcode: str, modifiers: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Return the forms that have these modifiers; they differ in their operands."""
    return tuple(_candidates(opcode, modifiers)) if misplaced(opcode, modifiers) is None else ()


def _candidates(opcode: str, modifiers: tuple[str, ...]) -> Iterator[Candidate]:
    for form in FORMS.get(opcode, ()):
        words = form.match(modifiers)
        if words is not None:
            parts = (part for word, _ in form.words for part in word.split("."))
            given = (words[part] for part in parts)
            yield Candidate(form, words, ".".join((opcode, *filter(None, given))))
