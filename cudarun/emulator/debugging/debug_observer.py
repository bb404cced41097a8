"""The observer that lets a debugger stop a launch before any statement.

A statement is an operation of a basic block, or the block's terminator. The **position** is the
number of statements that have been executed, in all launches, each for all lanes that are active
at it. The interpreter's order is fixed, so a position names one state.

A basic block is bound to one entry, which runs all of its statements at once unless the debugger
needs to look at each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from cudarun.emulator.code import Action
from cudarun.emulator.debugging.nan_flow import NanBirth, NanFlow
from cudarun.emulator.debugging.thread_states import (
    ThreadStates,
    first_site,
    global_bytes,
    shared_types,
)
from cudarun.emulator.debugging.writes import MemoryRange, WriteDetector
from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.instrumentation import InvalidAccesses, entries_of, instrumented
from cudarun.emulator.engines import Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.observer import Observer
from cudarun.emulator.machine.threads import place_of_thread

if TYPE_CHECKING:
    from cudarun.emulator.code import ActionFunction, BlockCode, FunctionCode, Operation, Site
    from cudarun.emulator.detectors.findings import DetectorFinding
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Code, Entry, Frame
    from cudarun.emulator.machine.lanes import Lanes
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.numerics.types import Type
    from cudarun.emulator.program import ModuleCode


class Controller(Protocol):
    """The debugger, as the observer calls it."""

    def launched(self, launch: Launch) -> None:
        """Handle the start of a launch."""

    def enters(self, run: BlockRun) -> bool:
        """Return whether to run a block statement by statement."""

    def before(self, run: BlockRun, index: int) -> None:
        """Handle a statement that is about to be executed."""

    def after(self, run: BlockRun, index: int) -> None:
        """Handle a statement that has been executed."""

    def exited(self, batch: Batch, lanes: Lanes) -> None:
        """Handle the exit of lanes."""

    def faulted(self, launch: Launch, fault: DeviceFault) -> None:
        """Handle a fault, while the state is that at the fault."""

    def printed(self, text: bytes) -> None:
        """Take what a kernel has printed."""


def _passed_on(event: str) -> Callable[..., Any]:
    """Return the method that passes an event of `Observer` on to the observer of the launch."""

    def notify(observer: DebugObserver, *arguments: object) -> object:
        return getattr(observer.inner, event)(*arguments)

    return notify


class DebugObserver(Observer):
    """The observer of debugged launches.

    Args:
        controller: The debugger.
        text_of: Returns the PTX of a module.
    """

    def __init__(self, controller: Controller, text_of: Callable[[ModuleCode], str]) -> None:
        self.controller = controller
        self.text_of = text_of
        self.inner = Observer()
        self.position = 0  # the number of statements that have been executed
        self.attention = -1  # the debugger looks at each block that reaches beyond this position
        self.marked: frozenset[int] = frozenset()  # the blocks that it always looks at
        self.batch: Batch | None = None  # the batch that runs, since the debugger last looked at it
        # The block that was last looked at, or in which a fault occurred, and its statement then.
        self.current: BlockRun | None = None
        self.index = 0
        self.writes = WriteDetector()
        self.watches = False  # whether writes of watched memory are noted
        self.nans: NanFlow | None = None  # follows NaNs
        self._watched: dict[tuple[int, int], ActionFunction] = {}
        self._types: dict[str, dict[int, Type]] = {}

    def execute(
        self,
        *arguments: Any,
        observer: Observer,
        printf: Callable[[bytes], None],
        engines: Engines | None = None,
        **options: Any,
    ) -> None:
        """Execute a launch as `execution.execute` does, observed, by the interpreter."""
        self.inner = observer
        execute(*arguments, observer=self, printf=self.controller.printed, **options)

    # --- the state -------------------------------------------------------------------------------

    def states(self, site: Site | None) -> ThreadStates:
        """Return the threads of the running batch.

        Args:
            site: The next instruction of those that are active.
        """
        assert self.batch is not None
        return ThreadStates(self.batch, site, self._types)

    place = staticmethod(place_of_thread)
    shared_types = staticmethod(shared_types)
    global_bytes = staticmethod(global_bytes)

    @staticmethod
    def global_range(address: int, size: int) -> MemoryRange:
        """Return a range of global memory."""
        return MemoryRange("global", address, size)

    def follow_nans(self, *, wanted: bool) -> None:
        """Follow NaNs from now on, or do not."""
        if not wanted:
            self.nans = None
        elif self.nans is None:
            self.nans = NanFlow()

    @property
    def findings(self) -> int:
        """The number of findings of detectors so far."""
        return len(self.inner.table) if isinstance(self.inner, DetectorObserver) else 0

    def last_finding(self) -> DetectorFinding:
        """Return the finding that detectors have reported last."""
        assert isinstance(self.inner, DetectorObserver)
        return self.inner.table.last

    # --- launches --------------------------------------------------------------------------------

    def launched(self, launch: Launch) -> None:
        """See `Observer`."""
        self._types.clear()
        for function in launch.functions.values():
            _keep_values(function)
        self.inner.launched(launch)
        self.controller.launched(launch)

    def ran(self, launch: Launch) -> None:
        """See `Observer`."""
        fault = sys.exc_info()[1]
        if isinstance(fault, DeviceFault):
            self.batch = launch.running
            self.controller.faulted(launch, fault)
        self.inner.ran(launch)

    def instead_of(self, operation: Action) -> ActionFunction:
        """See `Observer`."""
        return self.inner.instead_of(operation)

    def watched(self, operation: Action) -> ActionFunction:
        """Return the action that also notes its accesses."""
        own = [self.writes] if self.nans is None else [self.writes, self.nans]
        key = id(operation), id(self.nans)  # the program and this object keep them alive
        if key not in self._watched:
            self._watched[key] = (
                self.inner.also_observed(operation, own)
                if isinstance(self.inner, DetectorObserver)
                else instrumented(operation, own, InvalidAccesses(goes_on=False))
            )
        return self._watched[key]

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        """See `Observer`."""
        inner = self.inner.bound(frame, block, code)
        run = BlockRun(self, frame, block, code.entries, inner.entries)
        return replace(inner, entries=[(run, ())])

    def lanes_exited(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        self.inner.lanes_exited(batch, lanes)
        self.controller.exited(batch, lanes)


for _event in (
    *("ended", "child_launched", "begin", "arrived", "blocks_synchronize", "barrier"),
    *("warp_barrier", "warp_barriers", "warps_synchronize", "clusters_arrive"),
    *("clusters_synchronize", "phase_completed", "stack_grows"),
):
    setattr(DebugObserver, _event, _passed_on(_event))


class BlockRun:
    """A basic block bound to registers: an entry that runs its statements."""

    __slots__ = ("_entries", "_parts", "block", "frame", "number", "observer", "statements")

    def __init__(
        self,
        observer: DebugObserver,
        frame: Frame,
        block: BlockCode,
        own: Sequence[Entry],
        entries: list[Entry],
    ) -> None:
        self.observer = observer
        self.frame = frame
        self.block = block
        self.number = frame.function.base + block.index  # that of the block in the program
        self.statements = len(block.operations) + 1
        self._entries = entries
        self._parts = _divided(block.operations, own, entries)

    def __call__(self) -> None:
        """Run the statements, except the terminator, which the batch runs next."""
        observer = self.observer
        end = observer.position + self.statements
        if end <= observer.attention and self.number not in observer.marked:
            self._run(end)
            return
        observer.current, observer.batch = self, self.frame.batch
        controller = observer.controller
        if not controller.enters(self):
            self._run(end)
            return
        for index in range(self.statements - 1):
            controller.before(self, index)
            try:
                self._execute(index)
            except DeviceFault:
                observer.current, observer.index = self, index
                raise
            observer.position += 1
            controller.after(self, index)
        controller.before(self, self.statements - 1)
        observer.position += 1

    def _run(self, end: int) -> None:
        try:
            for function, arguments in self._entries:
                function(*arguments)
        except DeviceFault:
            parts = enumerate(self._parts)  # each call is of one action
            found = (n for n, part in parts if any(each is function for each, _ in part))
            index = next(found, self.statements - 1)
            self.observer.current, self.observer.index = self, index
            self.observer.position += index
            raise
        self.observer.position = end

    def _execute(self, index: int) -> None:
        entries = self._parts[index]
        operation = self.block.operations[index]
        notes = self.observer.watches or self.observer.nans is not None
        if not (notes and isinstance(operation, Action)):
            for function, arguments in entries:
                function(*arguments)
            return
        call: Any = entries[self._last_of(index)][0]
        plain, call.action = call.action, self.observer.watched(operation)
        try:
            for function, arguments in entries:
                function(*arguments)
        finally:
            call.action = plain

    def site(self, index: int) -> Site | None:
        """Return the instruction of a statement; ``None`` for a fall-through."""
        operations = self.block.operations
        return operations[index].site if index < len(operations) else self.block.terminator.site

    def next_site(self, index: int) -> Site | None:
        """Return the instruction of a statement, or that which a fall-through leads to."""
        site = self.site(index)
        successors = self.block.terminator.successors
        if site is None and index + 1 == self.statements and len(successors) == 1:
            return first_site(self.frame.function.blocks[successors[0]])
        return site

    def follow_operands(self, index: int) -> None:
        """Let the NaNs among the operands of a statement be followed."""
        if self.observer.nans is not None and index < self.statements - 1:
            sources, _ = self._arrays(index)
            self.observer.nans.before(self.frame, self.block.operations[index], sources)

    def follow_result(self, index: int) -> NanBirth | None:
        """Let the result be followed; return the NaNs that the statement has produced."""
        if self.observer.nans is None:
            return None
        _, results = self._arrays(index)
        position = self.observer.position - 1
        return self.observer.nans.after(self.frame, self.block.operations[index], results, position)

    def _arrays(self, index: int) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the arrays of the sources and of the destinations of an operation.

        They have an item for each member of the active lanes.
        """
        operation = self.block.operations[index]
        function, arguments = self._parts[index][self._last_of(index)]
        if isinstance(operation, Action):
            call: Any = function
            return call.sources, call.destinations
        sources = len(operation.sources)
        ends = sources + len(operation.destinations)
        return arguments[:sources], arguments[sources:ends]

    def _last_of(self, index: int) -> int:
        """Return the entry of an operation itself, among those of negations and detectors."""
        operation = self.block.operations[index]
        for number, (function, _) in enumerate(self._parts[index]):
            is_call = isinstance(operation, Action) and hasattr(function, "site")
            if is_call or function is getattr(operation, "function", None):
                return number
        raise AssertionError("an operation has an entry")


def _divided(
    operations: Sequence[Operation], own: Sequence[Entry], entries: Sequence[Entry]
) -> list[list[Entry]]:
    """Return the entries of each operation.

    Args:
        operations: The operations of a block.
        own: Their entries in order.
        entries: The same, and those of detectors, which name the operation or precede it.
    """
    parts: list[list[Entry]] = []
    rest = iter(entries)
    first: list[Entry] = []
    position = 0
    for operation in operations:
        part, first = first, []
        last = own[position + entries_of(operation) - 1]
        position += entries_of(operation)
        for entry in rest:
            if parts and any(each is operations[len(parts) - 1] for each in entry[1]):
                parts[-1].append(entry)
                continue
            part.append(entry)
            if entry is last:
                break
        parts.append(part)
    if parts:
        parts[-1].extend(rest)
    return parts


def _keep_values(function: FunctionCode) -> None:
    """Let lanes that diverge keep all registers, also those that no later instruction reads."""
    every = 0
    for block in function.blocks:
        every |= block.reads | block.writes
    for block in function.blocks:
        block.reads |= block.writes
        block.live_in = block.live_out = every
