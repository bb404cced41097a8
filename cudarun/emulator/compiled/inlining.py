"""Calls of functions: compiled code has the blocks of a called function behind those of each call.

The result is one function without calls. Blocks keep the order in which the interpreter dispatches
them: a call, the called function, what follows the call. Variables of parameters become registers,
one for each part that instructions access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy as shallow_copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

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
from cudarun.emulator.compiled.operators import Untraceable
from cudarun.emulator.compiled.parameters import WHOLE, ParameterParts
from cudarun.emulator.decode.analysis import find_liveness
from cudarun.emulator.isa.move import copy
from cudarun.emulator.machine.control import FunctionCall, Jump, Return
from cudarun.emulator.machine.stack import StackAllocate, StackRestore
from cudarun.emulator.numerics.types import TYPES, TypeKind
from cudarun.records import dataclass

if TYPE_CHECKING:
    from cudarun.emulator.program import ModuleCode

_NO_SITE = Site("", 0, "", None)
_MOST_OPERATIONS = 8000
_MOST_DEPTH = 64  # of calls
_MOST_TARGETS = 8  # of a call through a pointer


@dataclass(frozen=True, slots=True)
class BlockOrigin:
    """The origin of a block.

    Attributes:
        callers: The numbers of the calling blocks in the program, the kernel's first.
        function: Its function.
        block: Its index there.
    """

    callers: tuple[int, ...]
    function: FunctionCode
    block: int


class PointerCall(Terminator):
    """A call through a pointer: lanes continue with the function that theirs points to.

    Attributes:
        pointer: The pointer.
        call: The call.
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
        needed: Bytes of the stack up to the end of the frame.
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


class InlinedCode:
    """A kernel with the functions that it calls.

    Args:
        kernel: The kernel.
        program: Its module.

    Attributes:
        code: One function without calls.
        origins: The origin of each block.
        stack_bytes: The most bytes of the stack that its frames take.

    Raises:
        Untraceable: Its calls cannot be compiled.
    """

    def __init__(self, kernel: FunctionCode, program: ModuleCode) -> None:
        self._program = program
        self._kernel = kernel
        self.code = FunctionCode(kernel.name, [], kernel.base)
        self.origins: list[BlockOrigin] = []
        self.stack_bytes = kernel.frame_bytes
        self._bases: dict[tuple[str, int], int] = {}
        self._copies: list[tuple[int, int]] = []  # from slots to slots
        self._operations = 0
        self._build(kernel, (), 0, frozenset({kernel.name}), None)
        parts = ParameterParts(self.code, self._copies)
        for block in self.code.blocks:
            parts.replace(block)
        find_liveness(self.code)

    # --- functions -------------------------------------------------------------------------------

    def _build(
        self,
        function: FunctionCode,
        callers: tuple[int, ...],
        stack: int,
        active: frozenset[str],
        back: Callable[[BlockCode, int], None] | None,
    ) -> None:
        """Add the blocks of a function, and of those it calls.

        Args:
            function: The function.
            callers: The calling blocks.
            stack: The offset of its frame in the stack.
            active: The functions that call one another here.
            back: Completes a block that returns, of the first slot of the function.
        """
        if len(callers) > _MOST_DEPTH:
            raise Untraceable(f"calls of functions that are nested {len(callers)} deep")
        self._operations += sum(len(block.operations) for block in function.blocks)
        if self._operations > _MOST_OPERATIONS:
            raise Untraceable(f"calls of functions with {self._operations} instructions in all")
        base = self._slots(function, stack)
        self.stack_bytes = max(self.stack_bytes, stack + function.frame_bytes)
        indexes: dict[int, int] = {}
        waiting: list[tuple[BlockCode, Terminator]] = []
        calls: list[tuple[list[BlockCode], int]] = []  # blocks that continue after a call
        for block in function.blocks:
            indexes[block.index] = len(self.code.blocks)
            added = self._add(block, function, callers, base)
            terminator = block.terminator
            if isinstance(terminator, FunctionCall):
                number = function.base + block.index
                returns = self._call(
                    added, terminator, base, (*callers, number), function, stack, active
                )
                calls.append((returns, terminator.after))
            elif isinstance(terminator, Return):
                assert back is not None
                back(added, base)
            else:
                waiting.append((added, terminator))
        for added, terminator in waiting:
            added.terminator = _moved(terminator, indexes, base)
        for returns, after in calls:
            for each in returns:
                each.terminator = Jump(indexes[after])

    def _slots(self, function: FunctionCode, stack: int) -> int:
        """Return the first slot of a function's registers; its frames at one offset share them."""
        key = function.name, stack
        base = self._bases.get(key)
        if base is None:
            base = self._bases[key] = len(self.code.slots)
            for slot in function.slots:
                moved = replace(slot, size=stack) if slot.role is Role.STACK else slot
                self.code.slots.append(moved)
            for operation in function.prologue:
                self.code.prologue.append(_operation(operation, base))  # type: ignore[arg-type]
        return base

    def _add(
        self, block: BlockCode, function: FunctionCode, callers: tuple[int, ...], base: int
    ) -> BlockCode:
        """Add a copy of a block, without its terminator."""
        if callers and any(
            isinstance(each, Action) and isinstance(each.action, StackAllocate | StackRestore)
            for each in block.operations
        ):
            raise Untraceable("alloca in a function that is called")
        added = BlockCode(
            index=len(self.code.blocks),
            operations=[_operation(operation, base) for operation in block.operations],
            terminator=block.terminator,
            sync_mask=None if block.sync_mask is None else _use(block.sync_mask, base),
            sync_warps=block.sync_warps,
        )
        self.code.blocks.append(added)
        self.origins.append(BlockOrigin(callers, function, block.index))
        return added

    # --- calls -----------------------------------------------------------------------------------

    def _call(
        self,
        caller: BlockCode,
        call: FunctionCall,
        base: int,
        callers: tuple[int, ...],
        function: FunctionCode,
        stack: int,
        active: frozenset[str],
    ) -> list[BlockCode]:
        """Add the called functions behind a block; return the blocks that return from them."""
        returns: list[BlockCode] = []
        below = stack + function.frame_bytes
        origin = self.origins[caller.index]

        def enter(callee: FunctionCode, block: BlockCode) -> None:
            if callee.name in active:
                raise Untraceable(f"recursion of function {callee.name}")

            def complete(returning: BlockCode, own: int) -> None:
                for formal, actual in zip(callee.results, call.results, strict=True):
                    self._hand_over(returning, own + formal, base + actual)
                returns.append(returning)

            place = self._slots(callee, below)
            for formal, actual in zip(callee.parameters, call.arguments, strict=True):
                self._hand_over(block, base + actual, place + formal)
            self._build(callee, callers, below, active | {callee.name}, complete)

        if isinstance(call.callee, str):
            callee = self._program.code[call.callee]
            caller.terminator = self._entry(caller.index + 1, callee, below, call.site)
            enter(callee, caller)
            return returns
        targets = []
        for callee in self._pointed(call):
            place = len(self.code.blocks)
            start = self._entry(place + 1, callee, below, call.site)
            entry = BlockCode(place, [], start)
            self.code.blocks.append(entry)
            self.origins.append(origin)
            enter(callee, entry)
            targets.append((SymbolUse("func", callee.name, 0, TYPES["u64"]), entry.index))
        pointer = _use(call.callee, base)
        assert call.site is not None
        moved = FunctionCall(pointer, call.arguments, call.results, 0, call.site, ())
        caller.terminator = PointerCall(moved, pointer, tuple(targets))
        return returns

    def _entry(
        self, target: int, callee: FunctionCode, stack: int, site: Site | None
    ) -> Terminator:
        """Return the terminator that enters a function, whose first block is ``target``."""
        if self._program.kernels[self._kernel.name].recursive:
            return StackCheck(target, stack + callee.frame_bytes, callee, site)
        return Jump(target, site)

    def _pointed(self, call: FunctionCall) -> list[FunctionCode]:
        """Return the functions that a pointer may point to, in the order of the text."""
        found = [
            function
            for name, function in self._program.code.items()
            if name not in self._program.kernels
            and len(function.parameters) == len(call.arguments)
            and len(function.results) == len(call.results)
        ]
        if len(found) > _MOST_TARGETS:
            raise Untraceable(f"a call through a pointer to one of {len(found)} functions")
        return sorted(found, key=lambda function: function.base)

    def _hand_over(self, block: BlockCode, source: int, target: int) -> None:
        """Add the copy of an argument or a result to the end of a block."""
        slots = self.code.slots[source], self.code.slots[target]
        types = [slot.type for slot in slots if slot.role is not Role.PARAMETER]
        if any(each.kind is TypeKind.PREDICATE for each in types):
            raise Untraceable("a predicate as an argument")
        if len({each.bits for each in types}) > 1:
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


def _use(use: Use, base: int) -> Use:
    """Return an operand of a function, of which the first slot is ``base``."""
    if isinstance(use, RegisterUse | ParameterUse):
        return replace(use, slot=use.slot + base)
    return use


def _uses(uses: Iterable[Use], base: int) -> tuple[Use, ...]:
    return tuple(_use(use, base) for use in uses)


def _operation(operation: Operation, base: int) -> Operation:
    sources, destinations = _uses(operation.sources, base), _uses(operation.destinations, base)
    return replace(operation, sources=sources, destinations=destinations)


def _moved(terminator: Terminator, indexes: dict[int, int], base: int) -> Terminator:
    """Return a terminator for the same blocks and registers in their new places."""
    moved = shallow_copy(terminator)
    for name, value in vars(terminator).items():
        changed: Any = value
        if name in ("target", "otherwise", "after"):
            changed = indexes[value]
        elif name == "successors":
            changed = tuple(indexes[block] for block in value)
        elif name == "targets":
            changed = np.array([indexes[block] for block in value.tolist()], dtype=np.intp)
        elif name == "reads":
            changed = _uses(value, base)
        elif name == "reduction" and value is not None:
            changed = (value[0], _use(value[1], base), _use(value[2], base))
        elif isinstance(value, RegisterUse | ParameterUse):
            changed = _use(value, base)
        setattr(moved, name, changed)
    return moved


def without_calls(kernel: FunctionCode, program: ModuleCode) -> InlinedCode | None:
    """Return a kernel with the functions that it calls; ``None`` if it has nothing to replace."""
    calls = any(isinstance(block.terminator, FunctionCall) for block in kernel.blocks)
    if calls or any(slot.role is Role.PARAMETER for slot in kernel.slots):
        return InlinedCode(kernel, program)
    return None
