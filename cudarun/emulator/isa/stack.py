"""Stack manipulation (PTX manual 9.7.15): rows for ``cudarun.emulator.machine.stack``."""

from __future__ import annotations

from cudarun.emulator.isa.form import Form, form
from cudarun.emulator.machine.stack import Allocate, Restore, Save

FORMS: tuple[Form, ...] = (
    form("alloca.type  d, a, ?align:int", action=Allocate, type="u64 u32"),
    form("stacksave.type  d", action=Save, type="u64 u32"),
    form("stackrestore.type  a", action=Restore, type="u64 u32", writes=0),
)
