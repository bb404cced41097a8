"""The instructions that change what outlives a batch, so that a batch cannot start again."""

from __future__ import annotations

from cudarun.emulator.code import Action, BlockCode, Operation
from cudarun.emulator.machine.access import MemoryAction
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.transfers import (
    AsynchronousCopy,
    MemoryLoad,
    MemoryStore,
    NoEffect,
)
from cudarun.emulator.machine.warps import WarpAction

_OWN = frozenset({"shared", "local", "param"})
_DECLARED = (Atomic, AsynchronousCopy, MemoryLoad, MemoryStore, WarpAction)


def changes_memory(block: BlockCode) -> bool:
    """Return whether a basic block can change more than registers, shared and local memory."""
    return any(_changes_memory(operation) for operation in block.operations)


def _changes_memory(operation: Operation) -> bool:
    if not isinstance(operation, Action):
        return False
    action = operation.action
    if isinstance(action, MemoryAction):
        accesses = action.accesses
        own = all(access.space in _OWN for access in accesses if access.writes)
        return not (own and isinstance(action, _DECLARED))
    return not isinstance(action, NoEffect | WarpAction)
