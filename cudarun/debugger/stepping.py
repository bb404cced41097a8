"""The statements at which the selected thread stops, by its motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.base.bindings import is_toolkit_header
from cudarun.debugger.locations import Locations, line_of
from cudarun.debugger.plans import Motion

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import BlockRun, Site


class Stepping:
    """The progress of a thread since it was told to move.

    Args:
        depth: The depth of the call that it is in.
        site: Its instruction; ``None`` at the start of the launch.
    """

    def __init__(self, motion: Motion, locations: Locations, depth: int, site: Site | None) -> None:
        self._motion = motion
        self._locations = locations
        self._depth = depth
        self._line = "" if site is None else line_of(site)
        self._has_lines = site is not None and site.source is not None
        # As in gdb, functions of the toolkit's headers are passed, unless the thread is in one.
        self._passes_toolkit = not is_toolkit_header(self._line)
        self._lines = {} if site is None else {depth: self._line}
        self._last_depth = depth
        # The statement at which it is, if that is an instruction.
        self.last: tuple[object, int, Site] | None = None

    def stops_at(self, run: BlockRun, index: int) -> bool:
        """Return whether the thread, which is at a statement, stops there."""
        site = run.site(index)
        if site is None:
            return False
        depth = run.frame.depth
        if self._motion == "instruction":
            last, self.last = self.last, (run, index, site)
            return last is None or last[:2] != (run, index - 1) or last[2] is not site
        if self._motion == "finish":
            return depth < self._depth
        if self._passes_toolkit and is_toolkit_header(line_of(site)):
            return False
        # It begins a line; in the caller, it is not in the midst of one.
        line, known = line_of(site), self._lines.get(depth)
        entered = depth > self._last_depth
        self._last_depth = depth
        self._lines = {at: each for at, each in self._lines.items() if at < depth} | {depth: line}
        begins = entered or line != known
        if known is None and not entered:
            starts = self._locations.line_starts(run.frame.function)
            begins = (run.number, index) in starts
        if not begins or (self._has_lines and site.source is None):
            return False
        if self._motion == "step":
            return True
        if self._motion == "until" and depth == self._depth:
            return _number(line_of(site)) > _number(self._line)
        return depth <= self._depth


def _number(line: str) -> int:
    return int(line.rpartition(":")[2])
