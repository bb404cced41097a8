"""The calls that are left when functions have been inlined: the terminators of blocks."""

from __future__ import annotations

from typing import Any

from cudarun.emulator.code import FunctionCode, Site, SymbolUse, Terminator, Use
from cudarun.emulator.machine.control import FunctionCall


class OutlinedFunction:
    """A function with one copy of its blocks."""

    def __init__(self, function: FunctionCode) -> None:
        self.function = function
        self.start = 0  # its first block; lanes wait there to be called
        self.arguments: tuple[int, ...] = ()  # the slots by which callers pass arguments
        self.results: tuple[int, ...] = ()  # those by which it passes its results
        # Those of its registers, and of functions that are inlined in it.
        self.slots: set[int] = set()


class OutlinedCall(Terminator):
    """A call of an outlined function."""

    def __init__(
        self,
        caller: OutlinedFunction,
        callee: OutlinedFunction,
        after: int,
        stack_bytes: int,
        site: Site | None,
    ) -> None:
        super().__init__((after,), site=site)
        self.caller = caller  # the outlined function that contains the call, or the kernel
        self.callee = callee
        self.after = after  # the block where lanes continue
        # Bytes of the stack from the caller's frame to that of the function.
        self.stack_bytes = stack_bytes
        # The slots that the function may change, and which are needed afterwards.
        self.saved: tuple[int, ...] = ()

    def finish(self, batch: object, active: object) -> None:
        """Do nothing: only compiled code has such calls."""


class OutlinedReturn(Terminator):
    """The return from an outlined function."""

    def __init__(self) -> None:
        super().__init__(())

    def finish(self, batch: object, active: object) -> None:
        """Do nothing: only compiled code has such returns."""


class PointerCall(Terminator):
    """A call through a pointer: lanes continue with the function that theirs points to."""

    def __init__(
        self, call: FunctionCall, pointer: Use, targets: tuple[tuple[SymbolUse, int], ...]
    ) -> None:
        super().__init__(tuple(block for _, block in targets), (pointer,), site=call.site)
        self.pointer = pointer
        self.call = call
        self.targets = targets  # the functions' addresses and the blocks where they begin

    def finish(self, batch: Any, active: Any) -> None:
        """Raise the fault of a lane whose pointer points to none of these."""
        self.call.targets(active, active.read(self.pointer))


class FrameEntry(Terminator):
    """The check that a stack has room for a frame, which is marked as unwritten for a detector."""

    def __init__(self, target: int, needed: int, callee: FunctionCode, site: Site | None) -> None:
        super().__init__((target,), site=site)
        self.target = target  # the first block of the function
        # Bytes of the stack up to the end of the frame, from the frame of the outlined function, or
        # of the kernel, on.
        self.needed = needed
        self.callee = callee

    def finish(self, batch: Any, active: Any) -> None:
        """Raise the fault of the first lane."""
        lane = active.lane(0)
        raise batch.launch.stack_overflow(batch.threads, lane, self.callee, self.site)


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
