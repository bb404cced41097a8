"""The instructions that change what outlives a batch, and those whose order can be seen."""

from __future__ import annotations

from cudarun.emulator.code import BlockCode, FunctionCode
from cudarun.emulator.machine.access import MemoryAction
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.system import free, malloc, vprintf
from cudarun.emulator.machine.transfers import AsynchronousCopy, MemoryLoad, MemoryStore, NoEffect
from cudarun.emulator.machine.warps import WarpAction

_OWN = frozenset({"shared", "local", "param"})
_DECLARED = (Atomic, AsynchronousCopy, MemoryLoad, MemoryStore, WarpAction)

OUTPUTS = (vprintf, malloc, free)


def has_system_atomics(launch: Launch) -> bool:
    """Return whether a kernel has atomic operations whose scope includes the program."""
    return any(
        isinstance(action, Atomic)
        and action.accesses[0].scope == "sys"
        and action.accesses[0].space not in _OWN
        for function in launch.functions.values()
        for action in function.actions
    )


def communicates(launch: Launch) -> bool:
    """Return whether a kernel may exchange values with the program while it runs."""
    return launch.shares_memory and any(
        access.space not in _OWN and (access.scope == "sys" or access.order == "volatile")
        for function in launch.functions.values()
        for action in function.actions
        if isinstance(action, MemoryAction)
        for access in action.accesses
    )


def changes_memory(block: BlockCode) -> bool:
    """Return whether a basic block can change more than registers, shared and local memory."""
    for operation in block.operations:
        action = operation.action
        if isinstance(action, MemoryAction):
            is_own = all(access.space in _OWN for access in action.accesses if access.writes)
            if not (is_own and isinstance(action, _DECLARED)):
                return True
        elif action is not None and not isinstance(action, NoEffect | WarpAction):
            return True
    return False


def changes_memory_early(function: FunctionCode) -> bool:
    """Return whether a kernel can have changed memory when a thread jumps back, or returns."""
    last = -1
    for block in function.blocks:
        if min(block.terminator.successors, default=block.index + 1) <= block.index:
            last = block.index
    calls = bool(function.calls) or function.indirect
    return any(map(changes_memory, function.blocks if calls else function.blocks[: last + 1]))
