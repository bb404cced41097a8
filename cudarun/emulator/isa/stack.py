"""Stack manipulation (PTX manual 9.7.15): rows for ``cudarun.emulator.machine.stack``."""

from __future__ import annotations

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.stack import StackAllocate, StackRestore, StackSave

FORMS: tuple[InstructionForm, ...] = (
    form("alloca.type  d, a, ?align:int", action=StackAllocate, type="u64 u32"),
    form("stacksave.type  d", action=StackSave, type="u64 u32"),
    form("stackrestore.type  a", action=StackRestore, type="u64 u32", writes=0),
)
