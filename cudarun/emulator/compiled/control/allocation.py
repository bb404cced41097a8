"""Memory for the registers of large kernels: those that are never needed together share a place.

Compilers write PTX with thousands of registers, of which few are live at a time. Registers that
live from one basic block to another have places by the blocks in which they are live; those of one
block have places by its instructions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from cudarun.emulator.code import BlockCode, FunctionCode, Operation, RegisterUse, Role, slots_of
from cudarun.emulator.compiled.state.registers import WarpRegisters
from cudarun.emulator.machine.frame import each, mask_of


def needed_slots(
    blocks: Sequence[BlockCode], waiting: int, every: int, first_called: int
) -> list[int]:
    """Return the slots that inactive lanes may need while each block runs.

    The lowest block with waiting lanes runs, so that diverged lanes wait to run later ones.

    Args:
        blocks: The basic blocks.
        waiting: The slots that lanes need that wait for other warps.
        first_called: The first block of outlined functions. Lanes that wait for the return of
            others can be anywhere.
    """
    slots, found = waiting, []
    for block in reversed(blocks):
        found.append(every if block.index >= first_called else slots)
        slots |= block.live_in
    return found[::-1]


class RegisterPlaces:
    """The places of registers; ``size_of`` returns the size of one."""

    def __init__(self, size_of: Callable[[int], int]) -> None:
        self.of: dict[int, int] = {}  # the place of each register, by slot
        self.sizes: dict[int, int] = {}  # the size of each place
        self._size_of = size_of
        self._free: defaultdict[int, list[int]] = defaultdict(list)  # by size

    def add(self, slots: int, *, shares: bool = True) -> None:
        """Give registers places, which others can have had if they may share them."""
        for slot in each(slots):
            size = self._size_of(slot)
            if shares and self._free[size]:
                self.of[slot] = self._free[size].pop()
            else:
                self.of[slot] = len(self.sizes)
                self.sizes[self.of[slot]] = size

    def add_in_turn(self, steps: Sequence[int]) -> None:
        """Give registers places from the first to the last of the steps that use them."""
        later, ends = 0, []
        for slots in reversed(steps):
            ends.append(slots & ~later)
            later |= slots
        begun = 0
        for slots, ending in zip(steps, reversed(ends), strict=True):
            self.add(slots & ~begun)
            begun |= slots
            for slot in each(ending):
                self._free[self._size_of(slot)].append(self.of[slot])

    def keep(self) -> None:
        """Share none of the places so far any more."""
        self._free.clear()


def place_registers(function: FunctionCode, registers: WarpRegisters, slots: int) -> RegisterPlaces:
    """Return places for registers of a function."""
    places, blocks = RegisterPlaces(registers.bytes_of), function.blocks
    sharing = slots & ~_with_own_places(function)
    shared = registers.shared & sharing
    once = several = 0
    for block in blocks:
        several |= once & (block.reads | block.writes)
        once |= block.reads | block.writes
    inner = once & ~several & sharing & ~shared  # of one block
    places.add(slots & ~shared & ~inner, shares=False)
    places.add_in_turn(_spans(blocks, shared))
    places.keep()  # registers of one block are written for all lanes
    for block in blocks:
        places.add_in_turn([_used(operation) & inner for operation in block.operations])
    return places


def places_of_blocks(function: FunctionCode, size_of: Callable[[int], int]) -> RegisterPlaces:
    """Return places for registers that live from one block to another and can share some."""
    places, shared = RegisterPlaces(size_of), 0
    for block in function.blocks:
        shared |= block.live_in
    roles = {slot for slot in each(shared) if function.slots[slot].role is Role.REGISTER}
    places.add_in_turn(_spans(function.blocks, mask_of(roles) & ~_with_own_places(function)))
    return places


def _spans(blocks: Sequence[BlockCode], slots: int) -> list[int]:
    """Return those of some slots that have a value in each block."""
    return [(b.live_in | b.live_out | b.reads | b.writes) & slots for b in blocks]


def own_places(function: FunctionCode, registers: WarpRegisters, slots: int) -> RegisterPlaces:
    """Return a place of its own for each register that lives from one block to another."""
    places = RegisterPlaces(registers.bytes_of)
    places.add(slots & registers.shared, shares=False)
    return places


def _with_own_places(function: FunctionCode) -> int:
    """Return registers that can be read before they are written, whole or in part."""
    found = function.blocks[0].live_in
    for block in function.blocks:
        found |= mask_of(slots_of(block.terminator.reads))
        for use in (use for operation in block.operations for use in operation.destinations):
            if isinstance(use, RegisterUse) and use.type.bits < function.slots[use.slot].type.bits:
                found |= 1 << use.slot
    return found


def _used(operation: Operation) -> int:
    return mask_of(slots_of((*operation.sources, *operation.destinations)))


def slots_used(function: FunctionCode) -> int:
    """Return the slots of registers that the function's blocks read or write."""
    used = 0
    for block in function.blocks:
        used |= mask_of(slots_of(block.terminator.reads))
        used |= mask_of(slots_of(filter(None, [block.sync_mask])))
        for operation in block.operations:
            used |= _used(operation)
    roles = {slot for slot in each(used) if function.slots[slot].role is Role.REGISTER}
    return mask_of(roles)
