"""The requests of the front end to the process with the kernel."""

from __future__ import annotations

from typing import Literal, TypeAlias

from cudarun.base.records import dataclass
from cudarun.model.debug import Breakpoint

Motion: TypeAlias = Literal["continue", "instruction", "step", "next", "finish", "until"]
"""How the selected thread moves; ``until`` is to a later line of the same function."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run to the next stop."""

    motion: Motion  # the motion
    thread: int = 0  # the number of the selected thread in the grid
    depth: int | None = None  # the depth of its call; by default that of its current one
    breakpoints: tuple[Breakpoint, ...] = ()  # the breakpoints
    end: int | None = None  # the position to stop at, at the latest
    records: bool = False  # do not stop before ``end``, but return the position of the last stop
    includes_end: bool = False  # record also what the last instruction before ``end`` does
    follows_nans: bool = False  # follow NaNs, for questions about their origin
    takes_snapshots: bool = False  # make copies of the process from time to time
