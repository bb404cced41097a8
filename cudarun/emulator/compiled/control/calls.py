"""The calls that are left when functions have been inlined: the terminators of blocks."""

from __future__ import annotations

from typing import Any

from cudarun.emulator.code import FunctionCode, Site, SymbolUse, Terminator, Use
from cudarun.emulator.machine.control import FunctionCall


class OutlinedFunction:
    """A function with one copy of its blocks.

    Attributes:
        start: Its first block; lanes wait there to be called.
        arguments: The slots by which callers pass arguments.
        results: Those by which it passes its results.
        slots: Those of its registers, and of functions that are inlined in it.
    """

    def __init__(self, function: FunctionCode) -> None:
        self.function = function
        self.start = 0
        self.arguments: tuple[int, ...] = ()
        self.results: tuple[int, ...] = ()
        self.slots: set[int] = set()


class OutlinedCall(Terminator):
    """A call of an outlined function.

    Attributes:
        caller: The outlined function that contains the call, or the kernel.
        after: The block where lanes continue.
        stack_bytes: Bytes of the stack from the caller's frame to that of the function.
        saved: The slots that the function may change, and which are needed afterwards.
    """

    def __init__(
        self,
        caller: OutlinedFunction,
        callee: OutlinedFunction,
        after: int,
        stack_bytes: int,
        site: Site | None,
    ) -> None:
        super().__init__((after,), site=site)
        self.caller = caller
        self.callee = callee
        self.after = after
        self.stack_bytes = stack_bytes
        self.saved: tuple[int, ...] = ()

    def finish(self, batch: Any, active: Any) -> None:
        """Do nothing: only compiled code has such calls."""


class OutlinedReturn(Terminator):
    """The return from an outlined function."""

    def __init__(self) -> None:
        super().__init__(())

    def finish(self, batch: Any, active: Any) -> None:
        """Do nothing: only compiled code has such returns."""


class PointerCall(Terminator):
    """A call through a pointer: lanes continue with the function that theirs points to.

    Attributes:
        targets: The functions' addresses and the blocks where they begin.
    """

    def __init__(
        self, call: FunctionCall, pointer: Use, targets: tuple[tuple[SymbolUse, int], ...]
    ) -> None:
        super().__init__(tuple(block for _, block in targets), (pointer,), site=call.site)
        self.pointer = pointer
        self.call = call
        self.targets = targets

    def finish(self, batch: Any, active: Any) -> None:
        """Raise the fault of a lane whose pointer points to none of these."""
        self.call.targets(active, active.read(self.pointer))


class StackCheck(Terminator):
    """The check whether the stack of a lane has room for the frame of a function.

    Attributes:
        target: The first block of the function.
        needed: Bytes of the stack up to the end of the frame, from the frame of the outlined
            function, or of the kernel, on.
    """

    def __init__(self, target: int, needed: int, callee: FunctionCode, site: Site | None) -> None:
        super().__init__((target,), site=site)
        self.target = target
        self.needed = needed
        self._callee = callee

    def finish(self, batch: Any, active: Any) -> None:
        """Raise the fault of the first lane."""
        lane = active.lane(0)
        raise batch.launch.stack_overflow(batch.threads, lane, self._callee, self.site)


def outlined_calls(function: FunctionCode) -> dict[int, OutlinedCall]:
    """Return the calls of outlined functions, by their blocks."""
    return {
        block.index: block.terminator
        for block in function.blocks
        if isinstance(block.terminator, OutlinedCall)
    }


def first_outlined_block(function: FunctionCode) -> int:
    """Return the first block of outlined functions, which follow all others."""
    starts = [call.callee.start for call in outlined_calls(function).values()]
    return min(starts, default=len(function.blocks))
