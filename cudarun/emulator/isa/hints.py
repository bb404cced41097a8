"""Instructions without an observable effect: time, profiling, launch dependencies.

A launch starts when its dependencies have ended, so ``griddepcontrol`` never waits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.transfers import NoEffect

Array = npt.NDArray[Any]

_PRIORITIES = "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"


def no_policy(*arrays: Array) -> None:
    """Return a cache policy, which is never read."""
    np.copyto(arrays[-1], 0)


FORMS: tuple[InstructionForm, ...] = (
    form("nanosleep.u32  t", action=NoEffect, writes=0),
    form("pmevent  n:int", action=NoEffect),
    form("pmevent.mask  n:int", action=NoEffect),
    form("griddepcontrol.what", action=NoEffect, what="launch_dependents wait"),
    form("discard.global.L2  [a], n:int", action=NoEffect),
    form("discard.L2  [a], n:int", action=NoEffect),
    form("applypriority{.global}.L2::evict_normal  [a], n:int", action=NoEffect),
    form(
        "createpolicy.fractional.first{.second}.b64  d, ?fraction:f32",
        no_policy,
        first=_PRIORITIES,
        second="L2::evict_first L2::evict_unchanged",
    ),
    form("setmaxnreg.what.sync.aligned.u32  n:int", action=NoEffect, what="inc dec"),
)
