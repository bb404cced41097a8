"""Analysis of a function as a whole, after decoding.

* Registers that hold one value throughout a launch (kernel parameters and what is computed from
  them) become single values, computed once before the first lane runs.
* For every block, the registers it reads, writes, and that are live after it: diverged lanes keep
  only those.
* Results of atomic operations that are never read.
* Registers that may be read before they are written: like memory, they begin with all bits set, but
  for those of 128 bits, and in functions that begin with a loop or with an operation of warps.
* Loops that could be waiting for another thread.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    BlockCode,
    ConstantUse,
    FunctionCode,
    KernelParameterUse,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterSlot,
    RegisterUse,
    Role,
    SinkUse,
    SymbolUse,
    slots_of,
)
from cudarun.emulator.decode.loops import starts_of_loops
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.barriers import BarrierWait
from cudarun.emulator.machine.control import FunctionCall
from cudarun.emulator.machine.frame import each, mask_of
from cudarun.emulator.machine.mbarriers import PhaseTest
from cudarun.emulator.machine.special_registers import SPECIAL_REGISTERS, Extent
from cudarun.emulator.machine.stack import StackAllocate
from cudarun.emulator.machine.transfers import MemoryLoad
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import TYPES

_COST_OF_JUMPS = 1
_COST_OF_WAITS = 512
_SLOTTED = (RegisterUse, ParameterUse)
FIXED_USES = (ConstantUse, SymbolUse, KernelParameterUse)  # the same throughout a launch


def analyze(code: FunctionCode) -> None:
    """Analyze a function's code and add the results to it."""
    uses = _uses(code)
    code.symbols, code.allocates = uses.symbols, uses.allocates
    _drop_unread_results(uses)
    _extract_constants(code, uses.writes)
    find_liveness(code)
    _fill_unwritten(code)
    _mark_loops(code)


@dataclass(slots=True)
class _Uses:
    """The uses of slots and symbols in a function."""

    read: set[int]  # the slots that are read anywhere
    writes: Counter[int]  # the number of writes to each slot in the text
    symbols: set[str] = field(default_factory=set)  # the variables and functions it refers to
    # The atomic operations: the operations of the block, and the index there.
    atomics: list[tuple[list[Operation], int]] = field(default_factory=list)
    allocates: bool = False  # whether it has an ``alloca``


def _uses(code: FunctionCode) -> _Uses:
    found = _Uses(set(code.results), Counter(code.parameters))
    read, symbols = found.read, found.symbols
    written: list[int] = []
    for block in code.blocks:
        read.update(slots_of(block.terminator.reads))
        written += terminator_writes(block)
        if block.sync_mask is not None:
            read.update(slots_of([block.sync_mask]))
        for index, operation in enumerate(block.operations):
            read |= slots_of(operation.sources)
            symbols |= {use.name for use in operation.sources if isinstance(use, SymbolUse)}
            written += [use.slot for use in operation.destinations if isinstance(use, _SLOTTED)]
            if isinstance(operation.action, Atomic):
                found.atomics.append((block.operations, index))
            elif isinstance(operation.action, StackAllocate):
                found.allocates = True
    found.writes.update(written)
    return found


def terminator_writes(block: BlockCode) -> tuple[int, ...]:
    """Return the slots that the end of a block writes."""
    terminator = block.terminator
    if isinstance(terminator, FunctionCall):
        return terminator.results
    if isinstance(terminator, BarrierWait) and terminator.reduction is not None:
        return (terminator.reduction[1].slot,)
    return ()


# --- unread results ------------------------------------------------------------------------------


def _drop_unread_results(uses: _Uses) -> None:
    for operations, index in uses.atomics:
        operation = operations[index]
        assert isinstance(operation, Action)
        assert isinstance(operation.action, Atomic)
        slots = [*slots_of(operation.destinations)]
        if uses.read.isdisjoint(slots):
            operation.action.without_result()
            operations[index] = replace(operation, destinations=())
            uses.writes.subtract(slots)


# --- constants -----------------------------------------------------------------------------------


def _extract_constants(code: FunctionCode, writes: Counter[int]) -> None:
    constant = {
        index
        for index, slot in enumerate(code.slots)
        if slot.role is Role.SPECIAL and SPECIAL_REGISTERS[slot.name].extent is Extent.LAUNCH
    }
    is_incomplete = True
    while is_incomplete:
        found: set[int] = set()
        missing: set[int] = set()  # of each operation that is not constant, a slot that is not
        for block in code.blocks:
            moved = []
            for index, operation in enumerate(block.operations):
                if not isinstance(operation, Lanewise):
                    continue
                for use in operation.sources:
                    if isinstance(use, RegisterUse):
                        if use.slot not in constant:
                            missing.add(use.slot)
                            break
                    elif not isinstance(use, FIXED_USES):
                        break
                else:
                    if _is_written_once(operation, writes, code):
                        code.prologue.append(operation)
                        moved.append(index)
                        slots = [*slots_of(operation.destinations)]
                        constant.update(slots)
                        found.update(slots)
            for index in reversed(moved):
                del block.operations[index]
        is_incomplete = not found.isdisjoint(missing)
    for index in constant:
        slot = code.slots[index]
        if slot.role is Role.REGISTER:
            code.slots[index] = RegisterSlot(slot.name, slot.type, Role.CONSTANT, slot.size)


def _is_written_once(operation: Lanewise, writes: Counter[int], code: FunctionCode) -> bool:
    """Return whether an operation alone writes its destinations, which are registers."""
    return all(
        isinstance(use, RegisterUse)
        and writes[use.slot] == 1
        and code.slots[use.slot].role is Role.REGISTER
        for use in operation.destinations
        if not isinstance(use, SinkUse)
    )


# --- liveness ------------------------------------------------------------------------------------


def find_liveness(code: FunctionCode) -> None:
    """Find the registers that blocks read, write and need, and those live after them."""
    wide = 0  # the slots with a value per lane, which diverged lanes have to keep
    for index, slot in enumerate(code.slots):
        uniform = slot.role is Role.SPECIAL and SPECIAL_REGISTERS[slot.name].extent is Extent.LAUNCH
        if slot.role is not Role.CONSTANT and not uniform:
            wide |= 1 << index
    ends = []  # of each block, from the last: what its terminator reads, and does not write
    for block in code.blocks:
        _reads_and_writes(block, wide)
    for block in reversed(code.blocks):
        terminator = block.terminator
        reads = mask_of(slots_of(terminator.reads)) & wide
        kept = ~(mask_of(terminator_writes(block)) & wide)
        ends.append((block, reads, kept, terminator.successors))
    blocks = code.blocks
    changed = True
    while changed:
        changed = False
        for block, live_out, kept, successors in ends:
            after = 0
            for successor in successors:
                after |= blocks[successor].live_in
            live_out |= after & kept
            live_in = block.reads | (live_out & ~block.writes)
            if live_in != block.live_in or live_out != block.live_out:
                block.live_in, block.live_out = live_in, live_out
                changed = True


def unwritten_registers(code: FunctionCode) -> list[int]:
    """Return the slots of registers that a path may read before it has written them."""
    fills = (each for each in code.operations if getattr(each, "function", None) is fill)
    return [slot for one in fills for slot in slots_of(one.destinations)]


def fill(undefined: Array, register: Array) -> None:
    """Write the bits of registers that nothing has written."""
    np.copyto(register, undefined)


def _fill_unwritten(code: FunctionCode) -> None:
    first = code.blocks[0] if code.blocks else None
    loops = any(0 in block.terminator.successors for block in code.blocks)
    sites = (operation.site for operation in code.operations)
    site, fills, filled = next(sites, None), list[Operation](), 0
    if first is None or site is None or first.sync_mask is not None or loops:
        return
    for slot in each(first.live_in):
        register = code.slots[slot]
        is_predicate = register.type is TYPES["pred"]
        bits = register.type if is_predicate else TYPES.get(f"b{register.type.bits}")
        is_own = register.role is Role.REGISTER and slot not in code.parameters
        if is_own and bits is not None and bits.elements == 1:
            ones = np.full(bits.bytes, 1 if is_predicate else 0xFF, np.uint8).view(bits.dtype)
            operands = (ConstantUse(ones),), (RegisterUse(slot, bits),)
            fills.append(Lanewise(fill, *operands, site, f"mov.{bits.name}"))
            filled |= 1 << slot
    first.operations[:0] = fills
    first.writes |= filled
    first.reads &= ~filled
    first.live_in &= ~filled


def needed_registers(code: FunctionCode) -> tuple[set[int], list[set[int]]]:
    """Find what has an effect: memory, control flow and results of the function need it.

    Returns:
        The identities of the operations without effect, and the registers that are needed after
        each block.
    """
    useless: set[int] = set()
    before = [set[int]() for _ in code.blocks]
    after = [set[int]() for _ in code.blocks]
    operations = [
        [
            (one, slots_of(one.sources), slots_of(one.destinations))
            for one in reversed(block.operations)
        ]
        for block in code.blocks
    ]
    changed = True
    while changed:
        changed = False
        useless.clear()
        for block in reversed(code.blocks):
            now = after[block.index].union(*(before[each] for each in block.terminator.successors))
            after[block.index] = now.copy()
            now.difference_update(terminator_writes(block))
            now |= slots_of(block.terminator.reads)
            for one, sources, destinations in operations[block.index]:
                if isinstance(one, Lanewise) and now.isdisjoint(destinations):
                    useless.add(id(one))
                    continue
                now -= {use.slot for use in one.destinations if isinstance(use, RegisterUse)}
                now |= sources
            if block.sync_mask is not None:
                now |= slots_of([block.sync_mask])
            changed |= now != before[block.index]
            before[block.index] = now
    return useless, after


def _reads_and_writes(block: BlockCode, wide: int) -> None:
    reads: set[int] = set()
    writes: set[int] = set()
    if block.sync_mask is not None:
        reads.update(slots_of([block.sync_mask]))
    for operation in block.operations:
        for use in operation.sources:
            if isinstance(use, _SLOTTED) and use.slot not in writes:
                reads.add(use.slot)
        for use in operation.destinations:
            if isinstance(use, RegisterUse):
                writes.add(use.slot)
            elif isinstance(use, ParameterUse):
                if use.slot not in writes:  # writing a part of a variable preserves the rest
                    reads.add(use.slot)
                writes.add(use.slot)
    reads.update(slot for slot in slots_of(block.terminator.reads) if slot not in writes)
    block.reads, block.writes = mask_of(reads) & wide, mask_of(writes) & wide


# --- loops ---------------------------------------------------------------------------------------


def _mark_loops(code: FunctionCode) -> None:
    if not starts_of_loops(code):
        return
    last: dict[int, int] = {}  # the last block so far with a cost
    for block in code.blocks:
        last[_polling_cost(block)] = block.index
        for target in block.terminator.successors:
            if target <= block.index:
                body = (cost for cost, index in last.items() if index >= target)
                code.blocks[target].polls = max(code.blocks[target].polls, *body)


def _polling_cost(block: BlockCode) -> int:
    """Return the polling cost of a jump back to a loop with this block."""
    waits = isinstance(block.terminator, FunctionCall) or any(
        isinstance(action, PhaseTest)
        or (isinstance(action, MemoryLoad) and action.accesses[0].strong)
        or (isinstance(action, Atomic) and action.wanted)
        for action in (each.action for each in block.operations)
    )
    return _COST_OF_WAITS if waits else _COST_OF_JUMPS
