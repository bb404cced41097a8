"""Analysis of a function as a whole, after decoding.

* Registers that hold one value throughout a launch (kernel parameters and what is computed from
  them) become single values, computed once before the first lane runs.
* For every block, the registers it reads, writes, and that are live after it: diverged lanes keep
  only those.
* Results of atomic operations that are never read.
* Loops that could be waiting for another thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cudarun.emulator.code import (
    Action,
    BlockCode,
    ConstantUse,
    FunctionCode,
    KernelParameterUse,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterUse,
    Role,
    SinkUse,
    SymbolUse,
    Use,
)
from cudarun.emulator.isa.special import SPECIAL_REGISTERS, Extent
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.barriers import BarrierWait
from cudarun.emulator.machine.control import FunctionCall
from cudarun.emulator.machine.mbarriers import Wait
from cudarun.emulator.machine.stack import StackAllocate
from cudarun.emulator.machine.transfers import MemoryLoad

_COST_OF_LOADS = 1
_COST_OF_ATOMICS = 512


def analyze(code: FunctionCode) -> None:
    """Analyze a function's code and add the results to it."""
    code.symbols = {
        use.name
        for block in code.blocks
        for operation in block.operations
        for use in operation.sources
        if isinstance(use, SymbolUse)
    }
    code.allocates = any(
        isinstance(operation, Action) and isinstance(operation.action, StackAllocate)
        for block in code.blocks
        for operation in block.operations
    )
    _drop_unread_results(code)
    _extract_constants(code)
    _liveness(code)
    _mark_polling_loops(code)


def _slot(use: Use) -> int | None:
    return use.slot if isinstance(use, RegisterUse | ParameterUse) else None


def _slots(uses: Iterable[Use]) -> Iterator[int]:
    for use in uses:
        slot = _slot(use)
        if slot is not None:
            yield slot


# --- unread results ------------------------------------------------------------------------------


def _drop_unread_results(code: FunctionCode) -> None:
    read: set[int] = set(code.results)
    for block in code.blocks:
        read.update(_slots(block.terminator.reads))
        if block.sync_mask is not None:
            read.update(_slots([block.sync_mask]))
        for operation in block.operations:
            read.update(_slots(operation.sources))
    for block in code.blocks:
        for index, operation in enumerate(block.operations):
            if not isinstance(operation, Action) or not isinstance(operation.action, Atomic):
                continue
            if read.isdisjoint(_slots(operation.destinations)):
                operation.action.without_result()
                block.operations[index] = replace(operation, destinations=())


# --- constants -----------------------------------------------------------------------------------


def _extract_constants(code: FunctionCode) -> None:
    definitions = _definitions(code)
    constant = {
        index
        for index, slot in enumerate(code.slots)
        if slot.role is Role.SPECIAL and SPECIAL_REGISTERS[slot.name].extent is Extent.LAUNCH
    }
    found = True
    while found:
        found = False
        for block in code.blocks:
            kept: list[Operation] = []
            for operation in block.operations:
                if _is_constant(operation, constant, definitions, code):
                    assert isinstance(operation, Lanewise)
                    code.prologue.append(operation)
                    constant.update(_slots(operation.destinations))
                    found = True
                else:
                    kept.append(operation)
            block.operations = kept
    for index in constant:
        slot = code.slots[index]
        if slot.role is Role.REGISTER:
            code.slots[index] = replace(slot, role=Role.CONSTANT)


def _definitions(code: FunctionCode) -> Counter[int]:
    """Return the number of writes to each slot in the text."""
    counts: Counter[int] = Counter(code.parameters)
    for block in code.blocks:
        for operation in block.operations:
            counts.update(_slots(operation.destinations))
        counts.update(_terminator_writes(block))
    return counts


def _terminator_writes(block: BlockCode) -> tuple[int, ...]:
    terminator = block.terminator
    if isinstance(terminator, FunctionCall):
        return terminator.results
    if isinstance(terminator, BarrierWait) and terminator.reduction is not None:
        return (terminator.reduction[1].slot,)
    return ()


def _is_constant(
    operation: Operation, constant: set[int], definitions: Counter[int], code: FunctionCode
) -> bool:
    if not isinstance(operation, Lanewise):
        return False
    for use in operation.sources:
        if isinstance(use, RegisterUse):
            if use.slot not in constant:
                return False
        elif not isinstance(use, ConstantUse | SymbolUse | KernelParameterUse):
            return False
    for use in operation.destinations:
        if isinstance(use, SinkUse):
            continue
        if not isinstance(use, RegisterUse) or definitions[use.slot] != 1:
            return False
        if code.slots[use.slot].role is not Role.REGISTER:
            return False
    return True


# --- liveness ------------------------------------------------------------------------------------


def _mask(slots: Iterable[int], wide: int) -> int:
    mask = 0
    for slot in slots:
        mask |= 1 << slot
    return mask & wide


def _liveness(code: FunctionCode) -> None:
    wide = 0  # the slots with a value per lane, which diverged lanes have to keep
    for index, slot in enumerate(code.slots):
        uniform = slot.role is Role.SPECIAL and SPECIAL_REGISTERS[slot.name].extent is Extent.LAUNCH
        if slot.role is not Role.CONSTANT and not uniform:
            wide |= 1 << index
    for block in code.blocks:
        _reads_and_writes(block, wide)
    changed = True
    while changed:
        changed = False
        for block in reversed(code.blocks):
            live_out = _mask(_slots(block.terminator.reads), wide)
            after = 0
            for successor in block.terminator.successors:
                after |= code.blocks[successor].live_in
            live_out |= after & ~_mask(_terminator_writes(block), wide)
            live_in = block.reads | (live_out & ~block.writes)
            if (live_in, live_out) != (block.live_in, block.live_out):
                block.live_in, block.live_out = live_in, live_out
                changed = True


def _reads_and_writes(block: BlockCode, wide: int) -> None:
    reads = writes = 0
    if block.sync_mask is not None:
        reads |= _mask(_slots([block.sync_mask]), wide)
    for operation in block.operations:
        sources = set(_slots(operation.sources))
        # Writing a part of a variable preserves the rest.
        sources.update(u.slot for u in operation.destinations if isinstance(u, ParameterUse))
        reads |= _mask(sources, wide) & ~writes
        writes |= _mask(_slots(operation.destinations), wide)
    reads |= _mask(_slots(block.terminator.reads), wide) & ~writes
    block.reads, block.writes = reads, writes


# --- loops that poll -----------------------------------------------------------------------------


def _mark_polling_loops(code: FunctionCode) -> None:
    last: dict[int, int] = {}  # the last block so far with a cost
    for block in code.blocks:
        last[_polling_cost(block)] = block.index
        for target in block.terminator.successors:
            if target <= block.index:
                body = (cost for cost, index in last.items() if index >= target)
                code.blocks[target].polls = max(code.blocks[target].polls, *body)


def _polling_cost(block: BlockCode) -> int:
    """Return the polling cost of a jump back to a loop with this block."""
    cost = _COST_OF_ATOMICS if isinstance(block.terminator, FunctionCall) else 0
    for operation in block.operations:
        if isinstance(operation, Action):
            action = operation.action
            waits = isinstance(action, Wait) or (
                isinstance(action, MemoryLoad) and action.accesses[0].strong
            )
            if waits or isinstance(action, Atomic):
                cost = _COST_OF_ATOMICS
            elif isinstance(action, MemoryLoad):
                cost = max(cost, _COST_OF_LOADS)
    return cost
