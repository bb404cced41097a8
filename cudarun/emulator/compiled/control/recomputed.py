"""Registers that are computed again where they are read, instead of kept while other lanes run.

Indices and conditions depend on special registers and constants, and take few instructions. If they
are kept from one basic block to another, their values are merged with those of other lanes, and
saved where a warp waits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import chain

from cudarun.emulator.code import FunctionCode, Lanewise, RegisterUse, Role, Use, slots_of
from cudarun.emulator.compiled.control.inlining import moved_operation, moved_terminator, moved_use
from cudarun.emulator.compiled.control.waits import WaitPoints
from cudarun.emulator.decode.analysis import FIXED_USES, find_liveness, terminator_writes
from cudarun.emulator.decode.loops import loop_body, starts_of_loops
from cudarun.emulator.machine.frame import each, mask_of
from cudarun.emulator.numerics.types import TypeKind

_CHEAP = {
    *("add", "and", "bfe", "cvt", "cvta", "mad", "max", "min", "mov", "mul", "neg", "not", "or"),
    *("selp", "setp", "shl", "shr", "sub", "xor"),
}
_MOST = 8  # instructions that compute a register

_Chain = dict[int, Lanewise]
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
    places = _places(function)

    def place(slot: int) -> int:
        return places.get(slot, slot)

    code, same = replace(function, blocks=[]), {each.index: each.index for each in function.blocks}
    for block in function.blocks:
        code.blocks.append(
            replace(
                block,
                operations=[moved_operation(each, place) for each in block.operations],
                terminator=moved_terminator(block.terminator, same, place),
                sync_mask=None if block.sync_mask is None else moved_use(block.sync_mask, place),
            )
        )
    find_liveness(code)
    return code


def _places(function: FunctionCode) -> dict[int, int]:
    """Return the registers that others share, by slot."""
    own = function.blocks[0].live_in  # they begin with zeros
    for block in function.blocks:
        for use in (use for operation in block.operations for use in operation.destinations):
            if isinstance(use, RegisterUse) and use.type.bits < function.slots[use.slot].type.bits:
                own |= 1 << use.slot
    shared = 0
    for block in function.blocks:
        shared |= block.live_in & ~own
    spans = [(b.live_in | b.live_out | b.reads | b.writes) & shared for b in function.blocks]
    found: dict[int, int] = {}
    free: defaultdict[tuple[int, TypeKind | None], list[int]] = defaultdict(list)
    later = [0]  # what blocks use from each one on
    for span in reversed(spans):
        later.append(later[-1] | span)
    for span, after in zip(spans, later[-2::-1], strict=True):
        for slot in each(span & ~mask_of(found)):
            kind = _kind(function, slot)
            found[slot] = free[kind].pop() if free[kind] else slot
        for slot in each(span & ~after):
            free[_kind(function, slot)].append(found[slot])
    return found


def _kind(function: FunctionCode, slot: int) -> tuple[int, TypeKind | None]:
    """Return what registers that share one have in common."""
    found = function.slots[slot].type
    return found.bits, found.kind if found.kind is TypeKind.PREDICATE else None


def _chains(function: FunctionCode) -> dict[int, _Chain]:
    """Return the registers that can be computed again, with the instructions."""
    kept, writes = _kept(function), Counter[int]()
    for block in function.blocks:
        writes.update(terminator_writes(block))
        for operation in block.operations:
            writes.update(slots_of(operation.destinations))
    found: dict[int, _Chain] = {}
    count = -1
    while count < len(found):
        count = len(found)
        for operation in function.operations:
            if not isinstance(operation, Lanewise) or len(operation.destinations) != 1:
                continue
            (target,), cheap = operation.destinations, operation.name.partition(".")[0] in _CHEAP
            if not isinstance(target, RegisterUse) or target.slot in found or not cheap:
                continue
            register = function.slots[target.slot]
            is_whole = register.role is Role.REGISTER and register.type.bits == target.type.bits
            if is_whole and writes[target.slot] == 1 and not kept >> target.slot & 1:
                steps = _steps(operation.sources, function, found)
                if steps is not None and len(steps) < _MOST:
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

    They can be read before they are written, or in loops, or when the lanes that begin a block are
    found, or by the interpreter.
    """
    kept = function.blocks[0].live_in
    for met in chain.from_iterable(WaitPoints.of(function.blocks).meetings):
        kept |= met.reads | met.writes
    inside = {index for start in starts_of_loops(function) for index in loop_body(function, start)}
    for block in function.blocks:
        kept |= mask_of(slots_of(filter(None, [block.sync_mask])))
        if block.index in inside:
            kept |= block.reads
    return kept
