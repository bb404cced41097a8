"""The code that threads execute after an instruction at which they wait, and never before it.

A thread may exit instead of arriving: the others do not wait for it. One that executes such code
without having arrived has skipped the instruction. The stores and atomic operations before an early
return are merged by compilers with those before the last one. So only code that loads from memory
or waits shows that a thread has skipped an instruction; in a loop whose rounds it has left, also
another access.
"""

from __future__ import annotations

from typing import NamedTuple

from cudarun.emulator.code import BlockCode, FunctionCode, Site
from cudarun.emulator.machine.access import AccessKind, MemoryAction
from cudarun.emulator.machine.barriers import BarrierWait, WarpBarrier
from cudarun.emulator.machine.control import Exit, Return
from cudarun.emulator.machine.frame import each
from cudarun.emulator.machine.warps import WarpAction


class Following(NamedTuple):
    """Blocks around an instruction at which threads wait, by their numbers."""

    wait: int  # the block with the instruction
    # The last one after it that loads from memory or waits; ``None`` if there is none.
    loads: int | None
    # Of an instruction in a loop, the last one after it that accesses memory or waits.
    accesses: int | None


def following_blocks(function: FunctionCode) -> dict[Site, Following]:
    """Return the blocks that show that a thread has skipped an instruction."""
    blocks = function.blocks
    waits = [(block.index, site) for block in blocks for site in _waiting_sites(block)]
    if not waits:
        return {}
    reachable, always = _after(blocks)
    loading, accessing = (
        sum(1 << block.index for block in blocks if passing_site(block, writes=writes) is not None)
        for writes in (False, True)
    )

    def last(wait: int, counted: int) -> int | None:
        after = each(always[wait] & counted & ~(1 << wait))
        after = [index for index in after if not reachable[index] >> wait & 1]
        return min(after, key=lambda index: always[index].bit_count(), default=None)

    return {
        site: Following(
            wait, last(wait, loading), last(wait, accessing if reachable[wait] >> wait & 1 else 0)
        )
        for wait, site in waits
    }


def passing_site(block: BlockCode, *, writes: bool) -> Site | None:
    """Return the first instruction of a block that only loads (or also ``writes``), or waits."""
    for operation in block.operations:
        action = operation.action
        if isinstance(action, MemoryAction) and (
            writes or {access.kind for access in action.accesses} == {AccessKind.READ}
        ):
            return operation.site
    return next(iter(_waiting_sites(block)), None)


def _waiting_sites(block: BlockCode) -> list[Site]:
    found = []
    first = block.operations[0] if block.sync_mask is not None else None
    if first is not None and isinstance(first.action, WarpAction):
        found.append(first.site)
    if isinstance(block.terminator, BarrierWait | WarpBarrier):
        found.append(block.terminator.site)
    return found


def _after(blocks: list[BlockCode]) -> tuple[list[int], list[int]]:
    """Return bits of the blocks that can follow each block, and of its post-dominators."""
    everything = (1 << len(blocks)) - 1
    reachable, always = [0] * len(blocks), [everything] * len(blocks)
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            terminator = block.terminator
            some, every = 0, 0 if isinstance(terminator, Exit | Return) else everything
            for successor in terminator.successors:
                some |= reachable[successor] | 1 << successor
                every &= always[successor]
            every |= 1 << block.index
            if (some, every) != (reachable[block.index], always[block.index]):
                reachable[block.index], always[block.index] = some, every
                changed = True
    return reachable, always
