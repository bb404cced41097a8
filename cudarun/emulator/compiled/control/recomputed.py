"""Registers that are computed again where they are read, instead of kept while other lanes run.

Indices and conditions depend on special registers and constants, and take few instructions. If they
are kept from one basic block to another, their values are merged with those of other lanes, and
saved where a warp waits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cudarun.emulator.code import (
    FunctionCode,
    Lanewise,
    Operation,
    RegisterUse,
    Role,
    Use,
    slots_of,
)
from cudarun.emulator.compiled.control.allocation import places_of_blocks
from cudarun.emulator.compiled.control.inlining import moved_operation, moved_terminator, moved_use
from cudarun.emulator.decode.analysis import FIXED_USES, find_liveness, terminator_writes
from cudarun.emulator.decode.loops import loop_body, starts_of_loops
from cudarun.emulator.numerics.types import TypeKind

_CHEAP = {
    *("add", "and", "bfe", "cvt", "cvta", "mad", "max", "min", "mov", "mul", "neg", "not", "or"),
    *("selp", "setp", "shl", "shr", "sub", "xor"),
}
_MOST = 8  # instructions that compute a register

_Chain = dict[int, Operation]
"""The instructions that compute a register, in order, by the slots that they write."""


def with_recomputed_values(function: FunctionCode) -> FunctionCode:
    """Return code whose blocks compute such registers."""
    chains = _chains(function)
    code = replace(function, blocks=[])
    for block in function.blocks:
        needed: _Chain = {}
        for slot, steps in chains.items():
            if block.reads >> slot & 1:
                needed |= steps
        code.blocks.append(replace(block, operations=[*needed.values(), *block.operations]))
    find_liveness(code)
    return code


def with_shared_slots(function: FunctionCode) -> FunctionCode:
    """Return code in which registers that are never needed together share one.

    Whenever a warp waits and goes on, LLVM moves all those that live from block to block.
    """
    types = [slot.type for slot in function.slots]
    sizes = [1 if each.kind is TypeKind.PREDICATE else each.bits for each in types]
    places, first = places_of_blocks(function, sizes.__getitem__), dict[int, int]()
    for slot, place in places.of.items():
        first.setdefault(place, slot)

    def shared(slot: int) -> int:
        return first[places.of[slot]] if slot in places.of else slot

    code, same = replace(function, blocks=[]), {each.index: each.index for each in function.blocks}
    for block in function.blocks:
        code.blocks.append(
            replace(
                block,
                operations=[moved_operation(each, shared) for each in block.operations],
                terminator=moved_terminator(block.terminator, same, shared),
                sync_mask=None if block.sync_mask is None else moved_use(block.sync_mask, shared),
            )
        )
    find_liveness(code)
    return code


def _chains(function: FunctionCode) -> dict[int, _Chain]:
    """Return the registers that can be computed again, with the instructions."""
    kept, writes = _kept(function), Counter[int]()
    for block in function.blocks:
        writes.update(terminator_writes(block))
        for operation in block.operations:
            writes.update(slots_of(operation.destinations))
    found: dict[int, _Chain] = {}
    for operation in function.operations:
        cheap = isinstance(operation, Lanewise) and operation.name.partition(".")[0] in _CHEAP
        target = operation.destinations[0] if len(operation.destinations) == 1 else None
        if not (cheap and isinstance(target, RegisterUse) and writes[target.slot] == 1):
            continue
        register, steps = function.slots[target.slot], _steps(operation.sources, function, found)
        is_whole = register.role is Role.REGISTER and register.type.bits == target.type.bits
        if is_whole and not kept >> target.slot & 1 and steps is not None and len(steps) < _MOST:
            found[target.slot] = steps | {target.slot: operation}
    return found


def _steps(
    sources: tuple[Use, ...], function: FunctionCode, found: dict[int, _Chain]
) -> _Chain | None:
    """Return the instructions that compute operands; ``None`` if they depend on anything else."""
    steps: _Chain = {}
    for use in sources:
        if isinstance(use, RegisterUse) and use.slot in found:
            steps |= found[use.slot]
        elif isinstance(use, RegisterUse):
            if function.slots[use.slot].role not in (Role.SPECIAL, Role.CONSTANT):
                return None
        elif not isinstance(use, FIXED_USES):
            return None
    return steps


def _kept(function: FunctionCode) -> int:
    """Return the slots that are not computed again.

    They can be read before they are written, or in loops, or in blocks that have to begin with an
    operation of a warp or a warpgroup.
    """
    kept = function.blocks[0].live_in
    inside = {index for start in starts_of_loops(function) for index in loop_body(function, start)}
    for block in function.blocks:
        if block.sync_mask is not None or block.index in inside:
            kept |= block.reads
    return kept
