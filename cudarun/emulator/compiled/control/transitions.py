"""Functions for the ends of the basic blocks of large kernels, whose code in line would be longer.

They do what ``schedule.py`` and ``warp_code.py`` do in line for other kernels.
"""

from __future__ import annotations

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.layout import FIRST, SECOND
from cudarun.emulator.compiled.state.sites import pass_sources


class Transitions:
    """Calls of these functions.

    Args:
        code: The code that calls them.
    """

    def __init__(self, code: CodeBuilder) -> None:
        self._code = code

    def park(self, block: int, mask: str) -> None:
        """Let lanes wait to run a block."""
        call(self._code, "void", "park", f"ptr %state, ptr %PENDING, i32 {block}, i32 {mask}")

    def advance(self, targets: tuple[int, int], mask: str, taken: str) -> None:
        """Let active lanes continue with one of two blocks, those of ``taken`` the first."""
        a, b = targets
        given = f"ptr %state, ptr %PENDING, i32 {mask}, i32 {taken}, i32 {a}, i32 {b}"
        next_ = call(self._code, "i32", "advance", given)
        cases = f"i32 {FIRST}, label %enter.{a} i32 {SECOND}, label %enter.{b}"
        self._code.line(f"switch i32 {next_}, label %dispatch [ {cases} ]")

    def tick(self, site: int, mask: str) -> str:
        """Call back after many jumps back; return the answer."""
        return call(self._code, "i32", "tick", f"ptr %ctx, i32 %warp, i32 {site}, i32 {mask}")

    def gather(self, block: int, mask: str, members: LaneVector) -> str:
        """Return the lanes, of the active ones and those parked, whose members are all there."""
        pass_sources(self._code, [members])
        return call(self._code, "i32", "gather", f"ptr %ctx, ptr %state, i32 {block}, i32 {mask}")

    def scatter(self) -> None:
        """Let the parked lanes look again who is there."""
        call(self._code, "void", "scatter", "ptr %state, ptr %PENDING")
