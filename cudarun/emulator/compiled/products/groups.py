"""The code in which the warps of a warpgroup wait for each other.

A warp that reaches ``wgmma.fence`` or ``wgmma.wait_group`` waits until the live lanes of all four
are there; the last one lets all continue, the first one first. A product itself needs no other
warp: each one computes the rows that it has in its registers.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudarun.emulator.code import BlockCode
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.machine.warpgroups import ProductFence, ProductGroups

WARPS = WARPGROUP // WARP


def group_blocks(blocks: Sequence[BlockCode]) -> list[BlockCode]:
    """Return the blocks that begin with an instruction at which a warpgroup waits."""
    return [block for block in blocks if block.sync_warps > 1 and _waits(block)]


def _waits(block: BlockCode) -> bool:
    action = block.operations[0].action
    is_wait = isinstance(action, ProductGroups) and not action.commits
    return is_wait or isinstance(action, ProductFence)


class WarpgroupCode:
    """The code of these blocks in ``step``.

    Each has a second label, where released lanes continue: an entry beyond the basic blocks.

    Args:
        first: The number of the first entry beyond the basic blocks.
    """

    def __init__(self, code: CodeBuilder, blocks: list[BlockCode], first: int) -> None:
        self._code = code
        self._entries = {block.index: first + place for place, block in enumerate(blocks)}

    @property
    def blocks(self) -> list[int]:
        """The numbers of the blocks."""
        return list(self._entries)

    @property
    def entries(self) -> list[int]:
        """The entries beyond the basic blocks."""
        return list(self._entries.values())

    def waits(self, block: BlockCode) -> bool:
        """Return whether the block is one of them."""
        return block.index in self._entries

    def wait(self, block: BlockCode) -> None:
        """Park the active lanes until those of the four warps are here."""
        code, entry = self._code, self._entries[block.index]
        lanes = f"i32 {code.scalar('load i32, ptr %MASK')}, i32 {block.index}, i32 {entry}"
        call(code, "void", "wait_for_group", f"ptr %ctx, i32 %warp, {lanes}, ptr %ANSWER")
        code.line("br label %dispatch")
        code.label(f"enter.{entry}")

    def lanes_exit(self) -> None:
        """Let the parked lanes of the other warps look again who is there."""
        if self._entries:
            call(self._code, "void", "leave_group", "ptr %ctx, i32 %warp, ptr %ANSWER")
