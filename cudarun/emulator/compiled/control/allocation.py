"""Memory for the registers of large kernels: those that are never needed together share a place.

Compilers write PTX with thousands of registers, of which few are live at a time. Registers that
live from one basic block to another have places by the blocks in which they are live; those of one
block have places by its instructions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cudarun.emulator.code import BlockCode, FunctionCode, RegisterUse, Role, Use
from cudarun.emulator.compiled.state.registers import WarpRegisters
from cudarun.emulator.machine.frame import each


def needed_slots(
    blocks: Sequence[BlockCode], waiting: int, every: int, first_called: int
) -> list[int]:
    """Return the slots that inactive lanes may need while each block runs.

    The lowest block with waiting lanes runs, so that diverged lanes wait to run later ones.

    Args:
        blocks: The basic blocks.
        waiting: The slots that lanes need that wait for other warps.
        every: All slots.
        first_called: The first block of outlined functions. Lanes that wait for the return of
            others can be anywhere.
    """
    slots, found = waiting, []
    for block in reversed(blocks):
        found.append(every if block.index >= first_called else slots)
        slots |= block.live_in
    return found[::-1]


class RegisterPlaces(NamedTuple):
    """The places of registers.

    Attributes:
        of: The place of each register, by slot.
        sizes: The bytes of each place.
    """

    of: dict[int, int]
    sizes: dict[int, int]


def place_registers(
    function: FunctionCode, registers: WarpRegisters, slots: Iterable[int]
) -> RegisterPlaces:
    """Return places for registers of a function."""
    used = set(slots)
    own = _with_own_places(function) & used
    shared = {slot for slot in used - own if registers.is_shared(slot)}
    inner = (used - own - shared) & _of_one_block(function.blocks)
    found = _Places(registers)
    for slot in sorted(used - shared - inner):
        found.take(slot)
    ends = defaultdict(list)
    for slot, last in _last_blocks(function.blocks, shared).items():
        ends[last].append(slot)
    for block, begins in enumerate(_first_slots(function.blocks, shared)):
        for slot in begins:
            found.take(slot)
        for slot in ends[block]:
            found.release(slot)
    found.forget()  # registers of one block are written for all lanes, so they share no place
    for block_code in function.blocks:
        _place_in_block(block_code, inner, found)
    return RegisterPlaces(found.of, found.sizes)


def own_places(
    function: FunctionCode, registers: WarpRegisters, slots: Iterable[int]
) -> RegisterPlaces:
    """Return a place of its own for each register that lives from one block to another."""
    shared = [slot for slot in sorted(slots) if registers.is_shared(slot)]
    sizes = {slot: registers.bytes_of(slot) for slot in shared}
    return RegisterPlaces({slot: slot for slot in shared}, sizes)


class _Places:
    def __init__(self, registers: WarpRegisters) -> None:
        self.of: dict[int, int] = {}
        self.sizes: dict[int, int] = {}
        self._registers = registers
        self._free: defaultdict[int, list[int]] = defaultdict(list)  # by size

    def take(self, slot: int) -> None:
        size = self._registers.bytes_of(slot)
        free = self._free[size]
        if free:
            self.of[slot] = free.pop()
        else:
            self.of[slot] = len(self.sizes)
            self.sizes[self.of[slot]] = size

    def release(self, slot: int) -> None:
        self._free[self._registers.bytes_of(slot)].append(self.of[slot])

    def forget(self) -> None:
        self._free.clear()


def _with_own_places(function: FunctionCode) -> set[int]:
    """Return registers that can be read before they are written, whole or in part."""
    found = set(each(function.blocks[0].live_in))
    for block in function.blocks:
        writes = [use for operation in block.operations for use in operation.destinations]
        for use in writes:
            if isinstance(use, RegisterUse) and use.type.bits < function.slots[use.slot].type.bits:
                found.add(use.slot)
        for use in block.terminator.reads:
            if isinstance(use, RegisterUse):
                found.add(use.slot)
    return found


def _of_one_block(blocks: Sequence[BlockCode]) -> set[int]:
    """Return the registers that only one block uses."""
    once = several = 0
    for block in blocks:
        now = block.reads | block.writes
        several |= once & now
        once |= now
    return set(each(once & ~several))


def _first_slots(blocks: Sequence[BlockCode], slots: set[int]) -> list[list[int]]:
    """Return of each block the slots that no block before it needs."""
    seen, found = 0, []
    for block in blocks:
        now = _needed(block)
        found.append([slot for slot in each(now & ~seen) if slot in slots])
        seen |= now
    return found


def _last_blocks(blocks: Sequence[BlockCode], slots: set[int]) -> dict[int, int]:
    """Return of each slot the last block that needs it."""
    seen = 0
    found: dict[int, int] = {}
    for block in reversed(blocks):
        now = _needed(block)
        found.update((slot, block.index) for slot in each(now & ~seen) if slot in slots)
        seen |= now
    return found


def _needed(block: BlockCode) -> int:
    return block.live_in | block.live_out | block.reads | block.writes


def _place_in_block(block: BlockCode, slots: set[int], places: _Places) -> None:
    """Place registers that only one block uses, which need a place up to their last use."""
    uses = [
        [use.slot for use in (*operation.destinations, *operation.sources)
         if isinstance(use, RegisterUse) and use.slot in slots]
        for operation in block.operations
    ]  # fmt: skip
    left = Counter(slot for each_ in uses for slot in each_)
    current: set[int] = set()
    for each_ in uses:
        for slot in each_:
            if slot not in current:
                places.take(slot)
                current.add(slot)
        for slot in each_:
            left[slot] -= 1
        for slot in set(each_):
            if not left[slot]:
                places.release(slot)


def _uses(function: FunctionCode) -> Iterator[Use]:
    """Yield the operands of a function."""
    for block in function.blocks:
        yield from block.terminator.reads
        if block.sync_mask is not None:
            yield block.sync_mask
        for operation in block.operations:
            yield from operation.sources
            yield from operation.destinations


def slots_used(function: FunctionCode) -> set[int]:
    """Return the slots of registers that the function's blocks read or write."""
    used = {use.slot for use in _uses(function) if isinstance(use, RegisterUse)}
    return {slot for slot in used if function.slots[slot].role is Role.REGISTER}
