"""Kernels whose blocks can run in any order, and at the same time."""

from __future__ import annotations

from cudarun.emulator.code import Action, FunctionCode, Operation
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.bulk_copies import AsyncReduction, BulkReduction, BulkTransfer
from cudarun.emulator.machine.mbarriers import BarrierChange, Initialize, Wait
from cudarun.emulator.machine.tensor_copies import TensorReduction, TensorStore
from cudarun.emulator.machine.transfers import (
    AsynchronousCopy,
    MemoryLoad,
    MemoryStore,
    NoEffect,
)
from cudarun.emulator.machine.warps import WarpAction

_REDUCTIONS = (AsyncReduction, BulkReduction, TensorReduction)
_COPIES = (AsynchronousCopy, BulkTransfer, TensorStore)
_BARRIERS = (BarrierChange, Initialize, Wait)


def are_blocks_independent(function: FunctionCode) -> bool:
    """Return whether no block can see what another one does, in a program without data races.

    Atomic operations on global memory, accesses with a memory order, ``printf`` and ``malloc`` can
    show the order of blocks.
    """
    return all(
        _is_independent(operation) for block in function.blocks for operation in block.operations
    )


def _is_independent(operation: Operation) -> bool:
    if not isinstance(operation, Action):
        return True
    action = operation.action
    if isinstance(action, MemoryLoad | MemoryStore):
        return all(_is_of_a_block(each) or not each.strong for each in action.accesses)
    if isinstance(action, Atomic):
        return all(_is_of_a_block(each) for each in action.accesses)
    if isinstance(action, _REDUCTIONS):
        return False
    return isinstance(action, (*_COPIES, *_BARRIERS, NoEffect, WarpAction))


def _is_of_a_block(access: Access) -> bool:
    return "shared" in access.space or access.space in ("local", "param")
