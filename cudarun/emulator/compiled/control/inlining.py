"""Calls of functions: compiled code has the blocks of a called function behind those of each call.

The result is one function. Blocks keep the order in which the interpreter dispatches them: a call,
the called function, what follows the call. Functions that cannot be inlined (``outlining.py``)
follow all others. Variables of parameters become registers, one for each part that instructions
access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy as shallow_copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    BlockCode,
    FunctionCode,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterUse,
    Role,
    Site,
    SymbolUse,
    Terminator,
    Use,
)
from cudarun.emulator.compiled.control.calls import (
    FrameEntry,
    OutlinedCall,
    OutlinedFunction,
    OutlinedReturn,
    PointerCall,
    outlined_calls,
)
from cudarun.emulator.compiled.control.outlining import MOST_OPERATIONS, CallPlan
from cudarun.emulator.compiled.control.parameters import WHOLE, ParameterParts
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.decode.analysis import find_liveness
from cudarun.emulator.isa.move import copy
from cudarun.emulator.machine.control import FunctionCall, Jump, Return
from cudarun.emulator.machine.frame import each
from cudarun.emulator.machine.stack import StackAllocate, StackRestore
from cudarun.emulator.numerics.types import TYPES, TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.program import ModuleCode

_NO_SITE = Site("", 0, "", None)
_MOST_DEPTH = 64  # of inlined calls
_Place = Callable[[int], int]  # returns the place of a slot


@dataclass(frozen=True, slots=True)
class BlockOrigin:
    """The origin of a block."""

    callers: tuple[int, ...]  # the numbers of the calling blocks in the program, the kernel's first
    function: FunctionCode
    block: int  # its index there
    # Whether the first one of all is an outlined function, whose callers vary.
    is_outlined: bool = False

    @property
    def path(self) -> tuple[int, ...]:
        """The numbers of the calling blocks, and of the block."""
        return *self.callers, self.function.base + self.block


class InlinedCode:
    """A kernel with the functions that it calls.

    Raises:
        Untraceable: Its calls cannot be compiled.
    """

    def __init__(self, kernel: FunctionCode, program: ModuleCode, *, marks_frames: bool) -> None:
        self._program = program
        self._kernel = kernel
        # For a detector, the frame of each call is marked as unwritten.
        self._enters_frames = marks_frames or program.kernels[kernel.name].recursive
        self._plan = CallPlan(kernel, program)
        self.code = FunctionCode(kernel.name, [], kernel.base)  # one function
        self.origins: list[BlockOrigin] = []  # the origin of each block
        self._outlined: dict[str, OutlinedFunction] = {}
        self._current = OutlinedFunction(kernel)  # what is being built
        self._operations = 0
        self._bases: dict[tuple[OutlinedFunction, str, int], int] = {}
        self._copies: list[tuple[int, int]] = []  # from slots to slots
        if kernel.allocates and program.kernels[kernel.name].recursive:
            raise Untraceable("alloca in a kernel that calls recursive functions")
        self._build(kernel, (), 0, None)
        built = 0
        while built < len(self._outlined):
            self._build_outlined(list(self._outlined.values())[built])
            built += 1
        parts = ParameterParts(self.code, self._copies)
        for block in self.code.blocks:
            parts.replace(block)
        find_liveness(self.code)
        for outlined in self._outlined.values():
            outlined.slots |= parts.registers_of(outlined.slots)
        for call in outlined_calls(self.code).values():
            callee = call.callee.function.name  # it can be active already
            if call.caller.function.name in {callee} | self._plan.reached[callee]:
                needed = call.caller.slots.intersection(each(self.code.blocks[call.after].live_in))
                call.saved = tuple(
                    slot for slot in sorted(needed) if self.code.slots[slot].role is Role.REGISTER
                )

    # --- functions -------------------------------------------------------------------------------

    def _build(
        self,
        function: FunctionCode,
        callers: tuple[int, ...],
        stack: int,
        back: Callable[[BlockCode, int], None] | None,
    ) -> None:
        """Add the blocks of a function, and of those it calls.

        Args:
            callers: The calling blocks.
            stack: The offset of its frame in the stack.
            back: Completes a block that returns, of the first slot of the function.
        """
        self._operations += len(function.operations)
        if self._operations > MOST_OPERATIONS:
            raise Untraceable(f"calls of functions with {self._operations} instructions in all")
        base = self._slots(function, stack)
        indexes: dict[int, int] = {}
        waiting: list[tuple[BlockCode, Terminator]] = []
        calls: list[tuple[list[BlockCode], int]] = []  # blocks that continue after a call
        for block in function.blocks:
            indexes[block.index] = len(self.code.blocks)
            added = self._add(block, function, callers, base)
            terminator = block.terminator
            if isinstance(terminator, FunctionCall):
                below = stack + function.frame_bytes
                calls.append((self._call(added, terminator, base, below), terminator.after))
            elif isinstance(terminator, Return):
                assert back is not None
                back(added, base)
            else:
                waiting.append((added, terminator))
        for added, terminator in waiting:
            added.terminator = moved_terminator(terminator, indexes, base.__add__)
        for returns, after in calls:
            for returning in returns:
                returning.terminator = Jump(indexes[after])

    def _build_outlined(self, outlined: OutlinedFunction) -> None:
        """Add the blocks of an outlined function: the first one takes its arguments."""
        function, self._current = outlined.function, outlined
        obstacle = self._plan.obstacle(function.name)
        if obstacle:
            raise Untraceable(f"{obstacle}, which cannot be inlined")
        base = self._slots(function, 0)
        start = self._empty(BlockOrigin((), function, 0, is_outlined=True))
        outlined.start = start.index
        for argument, formal in zip(outlined.arguments, function.parameters, strict=True):
            self._hand_over(start, argument, base + formal)
        start.terminator = Jump(start.index + 1)

        def complete(returning: BlockCode, own: int) -> None:
            for formal, result in zip(function.results, outlined.results, strict=True):
                self._hand_over(returning, own + formal, result)
            returning.terminator = OutlinedReturn()

        self._build(function, (), 0, complete)

    def _slots(self, function: FunctionCode, stack: int) -> int:
        """Return the first slot of a function's registers; its frames at one offset share them."""
        key = self._current, function.name, stack
        base = self._bases.get(key)
        if base is None:
            base = self._bases[key] = len(self.code.slots)
            self._current.slots.update(range(base, base + len(function.slots)))
            for slot in function.slots:
                moved = replace(slot, size=stack) if slot.role is Role.STACK else slot
                self.code.slots.append(moved)
            for operation in function.prologue:
                constant = moved_operation(operation, base.__add__)
                self.code.prologue.append(constant)  # type: ignore[arg-type]
        return base

    def _add(
        self, block: BlockCode, function: FunctionCode, callers: tuple[int, ...], base: int
    ) -> BlockCode:
        """Add a copy of a block, without its terminator."""
        if callers and any(
            isinstance(operation, Action)
            and isinstance(operation.action, StackAllocate | StackRestore)
            for operation in block.operations
        ):
            raise Untraceable("alloca in a function that is called")
        index = len(self.code.blocks)
        added = BlockCode(
            index=index,
            operations=[moved_operation(each, base.__add__) for each in block.operations],
            terminator=block.terminator,
            sync_mask=None if block.sync_mask is None else moved_use(block.sync_mask, base.__add__),
            sync_warps=block.sync_warps,
            meets=block.meets,
            through=block.through and index + block.through - block.index,
        )
        self.code.blocks.append(added)
        is_outlined = self._current.function is not self._kernel
        self.origins.append(BlockOrigin(callers, function, block.index, is_outlined))
        return added

    def _empty(self, origin: BlockOrigin) -> BlockCode:
        """Add a block without operations; the caller has to replace its terminator."""
        added = BlockCode(len(self.code.blocks), [], OutlinedReturn())
        self.code.blocks.append(added)
        self.origins.append(origin)
        return added

    # --- calls -----------------------------------------------------------------------------------

    def _call(
        self, caller: BlockCode, call: FunctionCall, base: int, below: int
    ) -> list[BlockCode]:
        """Add the called functions behind a block; return the blocks that return from them.

        Args:
            base: The first slot of its function.
            below: The offset of the called functions' frames in the stack.
        """
        returns: list[BlockCode] = []
        origin = self.origins[caller.index]

        def enter(callee: FunctionCode, block: BlockCode) -> None:
            block.terminator = self._entry(len(self.code.blocks), callee, below, call.site)
            if callee.name in self._plan.outlined or len(origin.path) > _MOST_DEPTH:
                returns.append(self._call_outlined(callee, origin, call, base, below))
                return

            def complete(returning: BlockCode, own: int) -> None:
                for formal, actual in zip(callee.results, call.results, strict=True):
                    self._hand_over(returning, own + formal, base + actual)
                returns.append(returning)

            place = self._slots(callee, below)
            for formal, actual in zip(callee.parameters, call.arguments, strict=True):
                self._hand_over(block, base + actual, place + formal)
            self._build(callee, origin.path, below, complete)

        if isinstance(call.callee, str):
            enter(self._program.code[call.callee], caller)
            return returns
        targets = []
        for callee in self._plan.targets(call):
            entry = self._empty(origin)
            enter(callee, entry)
            targets.append((SymbolUse("func", callee.name, 0, TYPES["u64"]), entry.index))
        pointer = moved_use(call.callee, base.__add__)
        assert call.site is not None
        moved = FunctionCall(pointer, call.arguments, call.results, 0, call.site, ())
        caller.terminator = PointerCall(moved, pointer, tuple(targets))
        return returns

    def _call_outlined(
        self, callee: FunctionCode, origin: BlockOrigin, call: FunctionCall, base: int, below: int
    ) -> BlockCode:
        """Add the block that calls an outlined function; return the one that takes its results."""
        outlined = self._outlined.get(callee.name)
        if outlined is None:
            outlined = self._outlined[callee.name] = OutlinedFunction(callee)
            outlined.arguments = self._copied_slots(callee, callee.parameters)
            outlined.results = self._copied_slots(callee, callee.results)
        block, after = self._empty(origin), self._empty(origin)
        for actual, argument in zip(call.arguments, outlined.arguments, strict=True):
            self._hand_over(block, base + actual, argument)
        block.terminator = OutlinedCall(self._current, outlined, after.index, below, call.site)
        for result, actual in zip(outlined.results, call.results, strict=True):
            self._hand_over(after, result, base + actual)
        return after

    def _copied_slots(self, function: FunctionCode, slots: Iterable[int]) -> tuple[int, ...]:
        """Return new slots like some of a function."""
        first = len(self.code.slots)
        self.code.slots += [function.slots[slot] for slot in slots]
        return tuple(range(first, len(self.code.slots)))

    def _entry(
        self, target: int, callee: FunctionCode, stack: int, site: Site | None
    ) -> Terminator:
        """Return the terminator that enters a function, whose first block is ``target``."""
        if self._enters_frames:
            return FrameEntry(target, stack + callee.frame_bytes, callee, site)
        return Jump(target, site)

    def _hand_over(self, block: BlockCode, source: int, target: int) -> None:
        """Add the copy of an argument or a result to the end of a block."""
        slots = self.code.slots[source], self.code.slots[target]
        types = [slot.type for slot in slots if slot.role is not Role.PARAMETER]
        if any(given.kind is TypeKind.PREDICATE for given in types):
            raise Untraceable("a predicate as an argument")
        if len({given.bits for given in types}) > 1:
            raise Untraceable("an argument of another size than the parameter")
        uses: list[Use] = []
        for slot, register in zip((source, target), slots, strict=True):
            if not types:
                uses.append(ParameterUse(slot, WHOLE, register.type))
            elif register.role is Role.PARAMETER:
                uses.append(ParameterUse(slot, 0, types[0]))
            else:
                uses.append(RegisterUse(slot, types[0]))
        site = block.operations[-1].site if block.operations else _NO_SITE
        block.operations.append(Lanewise(copy, (uses[0],), (uses[1],), site))
        if not types:
            self._copies.append((source, target))


# --- copies of code ------------------------------------------------------------------------------


def moved_use(use: Use, place: _Place) -> Use:
    """Return an operand, whose slot is in another place."""
    if isinstance(use, RegisterUse | ParameterUse):
        return replace(use, slot=place(use.slot))
    return use


def _uses(uses: Iterable[Use], place: _Place) -> tuple[Use, ...]:
    return tuple(moved_use(use, place) for use in uses)


def moved_operation(operation: Operation, place: _Place) -> Operation:
    """Return an operation for the same registers in their new places."""
    sources, destinations = _uses(operation.sources, place), _uses(operation.destinations, place)
    return replace(operation, sources=sources, destinations=destinations)


def moved_terminator(
    terminator: Terminator, indexes: Mapping[int, int], place: _Place = int
) -> Terminator:
    """Return a terminator for the same blocks and registers in their new places."""
    moved = shallow_copy(terminator)
    for name, value in vars(terminator).items():
        changed: object = value
        if name in ("target", "otherwise", "after"):
            changed = indexes[value]
        elif name == "successors":
            changed = tuple(indexes[block] for block in value)
        elif isinstance(terminator, PointerCall) and name == "targets":
            changed = tuple((symbol, indexes[block]) for symbol, block in value)
        elif name == "targets":
            changed = np.array([indexes[block] for block in value.tolist()], dtype=np.intp)
        elif name == "reads":
            changed = _uses(value, place)
        elif name == "reduction" and value is not None:
            changed = (value[0], moved_use(value[1], place), moved_use(value[2], place))
        elif isinstance(value, RegisterUse | ParameterUse):
            changed = moved_use(value, place)
        setattr(moved, name, changed)
    return moved


def without_calls(
    kernel: FunctionCode, program: ModuleCode, *, marks_frames: bool
) -> InlinedCode | None:
    """Return a kernel with the functions that it calls; ``None`` if it has nothing to replace."""
    calls = any(isinstance(block.terminator, FunctionCall) for block in kernel.blocks)
    if calls or any(slot.role is Role.PARAMETER for slot in kernel.slots):
        return InlinedCode(kernel, program, marks_frames=marks_frames)
    return None
