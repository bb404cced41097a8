"""Kernels whose blocks can run in any order, and at the same time."""

from __future__ import annotations

from cudarun.emulator.code import Action, FunctionCode, Operation
from cudarun.emulator.compiled.access.reductions import is_of_global_memory, reduction_of
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.bulk_copies import BulkTransfer
from cudarun.emulator.machine.effects import BULK_REDUCTIONS
from cudarun.emulator.machine.mbarriers import BarrierChange, Initialize, Wait
from cudarun.emulator.machine.tensor_copies import TensorStore
from cudarun.emulator.machine.transfers import (
    AsynchronousCopy,
    MemoryLoad,
    MemoryStore,
    NoEffect,
)
from cudarun.emulator.machine.warps import WarpAction

_COPIES = (AsynchronousCopy, BulkTransfer, TensorStore)
_BARRIERS = (BarrierChange, Initialize, Wait)


def are_blocks_independent(function: FunctionCode) -> bool:
    """Return whether no block can see what another one does, in a program without data races.

    Atomic operations on global memory, accesses with a memory order, ``printf`` and ``malloc`` can
    show the order of blocks. Integer reductions cannot if they commute: if all of them are equal.
    """
    return all(map(_is_independent, function.operations)) and len(global_reductions(function)) <= 1


def global_reductions(function: FunctionCode) -> set[str]:
    """Return the kinds of the integer reductions of global memory."""
    found = {
        reduction_of(operation.action)
        for operation in function.operations
        if isinstance(operation, Action)
        and isinstance(operation.action, Atomic)
        and is_of_global_memory(operation.action)
    }
    return {reduction for reduction in found if reduction is not None}


def _is_independent(operation: Operation) -> bool:
    if not isinstance(operation, Action):
        return True
    action = operation.action
    if isinstance(action, MemoryLoad | MemoryStore):
        return all(_is_of_a_block(each) or not each.strong for each in action.accesses)
    if isinstance(action, Atomic):
        return not is_of_global_memory(action) or reduction_of(action) is not None
    if isinstance(action, BULK_REDUCTIONS):
        return False
    return isinstance(action, (*_COPIES, *_BARRIERS, NoEffect, WarpAction))


def _is_of_a_block(access: Access) -> bool:
    return "shared" in access.space or access.space in ("local", "param")
