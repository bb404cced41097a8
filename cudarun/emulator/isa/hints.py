"""Instructions without an effect that could be seen here: time, profiling, launch dependencies.

A launch begins when what it depends on has ended, so ``griddepcontrol`` has nothing to wait for.
"""

from __future__ import annotations

from cudarun.emulator.isa.form import Form, form
from cudarun.emulator.machine.transfers import NoEffect

FORMS: tuple[Form, ...] = (
    form("nanosleep.u32  t", action=NoEffect, writes=0),
    form("pmevent  n:int", action=NoEffect),
    form("pmevent.mask  n:int", action=NoEffect),
    form("griddepcontrol.what", action=NoEffect, what="launch_dependents wait"),
    form("setmaxnreg.what.sync.aligned.u32  n:int", action=NoEffect, what="inc dec"),
)
