"""The debugger's interface for front ends: methods that return results, and print nothing."""

from __future__ import annotations

from collections.abc import Sequence

from cudarun.model.debug import (
    Breakpoint,
    Change,
    Lanes,
    Listing,
    Origin,
    StackFrame,
    Stop,
    Thread,
    Value,
    Warp,
)


class Debugger:
    """A launch that is debugged. Each method raises `CudarunError` if it is not possible.

    Attributes:
        last: The last stop.
    """

    last: Stop

    # --- breakpoints -----------------------------------------------------------------------------

    def add_breakpoint(self, location: str, condition: str = "", *, once: bool = False) -> Breakpoint:
        """Stop at ``FILE:LINE``, ``LINE``, ``ptx:LINE`` or a function."""
        raise NotImplementedError

    def watch(self, element: str, condition: str = "") -> Breakpoint:
        """Stop after a write of an element, as in ``y[17]``."""
        raise NotImplementedError

    def catch(self, event: str) -> Breakpoint:
        """Stop at an event: ``fault``, ``finding`` or ``nan``."""
        raise NotImplementedError

    def delete(self, number: int | None = None) -> None:
        """Delete a breakpoint, or all."""

    @property
    def breakpoints(self) -> Sequence[Breakpoint]:
        """The breakpoints in the order of their numbers."""
        raise NotImplementedError

    # --- motion ----------------------------------------------------------------------------------

    def resume(self) -> Stop:
        """Run to the next stop (``continue``)."""
        raise NotImplementedError

    def step(self, count: int = 1) -> Stop:
        """Run the selected thread to another source line, into functions."""
        raise NotImplementedError

    def step_instruction(self, count: int = 1) -> Stop:
        """Run the selected thread to its next PTX instruction."""
        raise NotImplementedError

    def next(self, count: int = 1) -> Stop:
        """Run the selected thread to another source line, over functions."""
        raise NotImplementedError

    def finish(self) -> Stop:
        """Run until the function of the selected thread returns."""
        raise NotImplementedError

    def until(self, location: str = "") -> Stop:
        """Run the selected thread to a location, or to a later line."""
        raise NotImplementedError

    def reverse_step(self, count: int = 1) -> Stop:
        """Go back to the start of the line before."""
        raise NotImplementedError

    def reverse_next(self, count: int = 1) -> Stop:
        """Go back to the start of the line before, over functions."""
        raise NotImplementedError

    def reverse_step_instruction(self, count: int = 1) -> Stop:
        """Go back to the instruction that the selected thread executed before."""
        raise NotImplementedError

    def reverse_finish(self) -> Stop:
        """Go back to the call of the function."""
        raise NotImplementedError

    def reverse_resume(self) -> Stop:
        """Go back to the last stop before this one, or to the start (``reverse-continue``)."""
        raise NotImplementedError

    def go_to(self, position: int) -> Stop:
        """Go to a position, forwards or back."""
        raise NotImplementedError

    def pause(self) -> None:
        """Stop the running launch; for another thread or a signal handler."""

    # --- inspection ------------------------------------------------------------------------------

    def select(self, block: Sequence[int] | None, thread: Sequence[int]) -> Stop:
        """Select a thread, by default of the block of the selected one."""
        raise NotImplementedError

    def frames(self) -> Sequence[StackFrame]:
        """Return the calls of the selected thread, the innermost first (``where``)."""
        raise NotImplementedError

    def select_frame(self, level: int) -> StackFrame:
        """Select a call, whose registers and variables expressions see."""
        raise NotImplementedError

    def warps(self) -> Sequence[Warp]:
        """Return the states of the warps that are running."""
        raise NotImplementedError

    def evaluate(self, expression: str) -> Value:
        """Return the value of an expression in the selected thread."""
        raise NotImplementedError

    def lanes(self, expression: str) -> Lanes:
        """Return the values of an expression across the warp of the selected thread."""
        raise NotImplementedError

    def registers(self, names: Sequence[str] = ()) -> Sequence[Value]:
        """Return the registers of the selected thread."""
        raise NotImplementedError

    def writer(self, element: str) -> Change | None:
        """Return the last write of an element before now; ``None`` if there was none."""
        raise NotImplementedError

    def origin(self, expression: str) -> Origin:
        """Return where the NaN came from that a register or an element has."""
        raise NotImplementedError

    def source(self, *, ptx: bool = False, around: int = 5) -> Listing:
        """Return the lines around the current one."""
        raise NotImplementedError

    def names(self) -> Sequence[str]:
        """Return the names that expressions can have here."""
        raise NotImplementedError

    def locations(self) -> Sequence[str]:
        """Return the functions and source files that breakpoints can have."""
        raise NotImplementedError

    def close(self) -> None:
        """End the launch and all copies of its process."""
