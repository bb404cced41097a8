"""Tests of whether results can show the order of warps, and whether blocks can run in parallel."""

from __future__ import annotations

from cudarun.emulator.code import Action, ConstantUse, FunctionCode, Operation, RegisterUse, Role
from cudarun.emulator.compiled.access.reductions import is_of_global_memory, reduction_of
from cudarun.emulator.compiled.control.waiting import blocks_in_loops
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.bulk_copies import AsyncReduction, BulkReduction, BulkTransfer
from cudarun.emulator.machine.effects import OUTPUTS
from cudarun.emulator.machine.mbarriers import BarrierChange, Initialize, PhaseTest
from cudarun.emulator.machine.tensor_maps.copies import TensorReduction, TensorStore
from cudarun.emulator.machine.transfers import AsynchronousCopy, MemoryLoad, MemoryStore, NoEffect
from cudarun.emulator.machine.warps import WarpAction

_GRID_WORKSPACE = {"%envreg1", "%envreg2"}  # its address
_BULK_REDUCTIONS = (BulkReduction, AsyncReduction, TensorReduction)
_COPIES = (AsynchronousCopy, BulkTransfer, TensorStore)
_BARRIERS = (BarrierChange, Initialize, PhaseTest)
_Writers = dict[int, list[Operation]]


def check_order(function: FunctionCode) -> None:
    """Check that the order in which compiled warps run cannot be seen.

    The interpreter executes an instruction for many blocks before the next one; compiled code runs
    warp after warp. Programs without data races cannot tell, apart from the cases below.

    Raises:
        Untraceable: With the reason.
    """
    loops = blocks_in_loops(function)
    writers: _Writers = {}
    for operation in (*function.prologue, *function.operations):
        for use in operation.destinations:
            if isinstance(use, RegisterUse):
                writers.setdefault(use.slot, []).append(operation)
    ordered: dict[str, list[Action]] = {}
    others: dict[str, int] = {}
    for block in function.blocks:
        for operation in block.operations:
            if not isinstance(operation, Action):
                continue
            action = operation.action
            if isinstance(action, _BULK_REDUCTIONS):
                ordered.setdefault("bulk", []).append(operation)
                if block.index in loops:
                    raise Untraceable("a bulk reduction in a loop")
            if action in OUTPUTS:
                ordered.setdefault("output", []).append(operation)
                if block.index in loops:
                    raise Untraceable("printf or malloc in a loop")
            if isinstance(action, Atomic) and not is_of_grid_barrier(operation, function, writers):
                space = "shared" if "shared" in action.space else "global"
                if reduction_of(action) is None:
                    ordered.setdefault(space, []).append(operation)
                    if block.index in loops:
                        raise Untraceable(
                            "an atomic operation in a loop, of floats or with a used result"
                        )
                else:
                    others[space] = others.get(space, 0) + 1
    for space, operations in ordered.items():
        if len(operations) + others.get(space, 0) > 1:
            what = "calls of printf or malloc" if space == "output" else "atomic operations"
            raise Untraceable(f"{what} whose order can be seen")


def is_of_grid_barrier(operation: Action, function: FunctionCode, writers: _Writers) -> bool:
    """Return whether an atomic operation counts arrivals at the barrier of a grid.

    Its address comes from the special registers in which the cooperative groups header finds the
    workspace of the grid. Nothing else is in it: which thread arrives first cannot be seen.

    Args:
        writers: The operations of the function that write each slot.
    """
    left = [operation.sources[0]]
    seen: set[int] = set()
    registers: set[str] = set()
    while left:
        use = left.pop()
        if isinstance(use, ConstantUse) or (isinstance(use, RegisterUse) and use.slot in seen):
            continue
        if not isinstance(use, RegisterUse):
            return False
        seen.add(use.slot)
        slot = function.slots[use.slot]
        if slot.role is Role.SPECIAL:
            registers.add(slot.name)
            continue
        for writer in writers.get(use.slot, ()):
            if isinstance(writer, Action):
                return False
            left += writer.sources
    return registers == _GRID_WORKSPACE


# --- blocks --------------------------------------------------------------------------------------


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
        own = ("local", "param")
        return all(
            "shared" in each.space or each.space in own or not each.strong
            for each in action.accesses
        )
    if isinstance(action, Atomic):
        return not is_of_global_memory(action) or reduction_of(action) is not None
    if isinstance(action, _BULK_REDUCTIONS):
        return False
    return isinstance(action, (*_COPIES, *_BARRIERS, NoEffect, WarpAction))
