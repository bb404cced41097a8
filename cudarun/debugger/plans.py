"""The requests of the front end to the process with the kernel."""

from __future__ import annotations

from typing import Literal, TypeAlias

from cudarun.base.records import dataclass
from cudarun.model.debug import Breakpoint

Motion: TypeAlias = Literal["continue", "instruction", "step", "next", "finish", "until"]
"""How the selected thread moves; ``until`` is to a later line of the same function."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run to the next stop.

    Attributes:
        motion: The motion.
        thread: The number of the selected thread in the grid.
        depth: The depth of its call; by default that of its current one.
        breakpoints: The breakpoints.
        end: The position to stop at, at the latest.
        records: Do not stop before ``end``, but return the position of the last stop.
        includes_end: Record also what the last instruction before ``end`` does.
        follows_nans: Follow NaNs, for questions about their origin.
        takes_snapshots: Make copies of the process from time to time.
    """

    motion: Motion
    thread: int = 0
    depth: int | None = None
    breakpoints: tuple[Breakpoint, ...] = ()
    end: int | None = None
    records: bool = False
    includes_end: bool = False
    follows_nans: bool = False
    takes_snapshots: bool = False
