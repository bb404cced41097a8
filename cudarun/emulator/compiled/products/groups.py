"""The code in which the warps of a warpgroup wait for each other.

A warp that reaches ``wgmma.fence`` or ``wgmma.wait_group`` waits until the live lanes of all four
are there; the last one lets all continue, the first one first. A product itself needs no other
warp: each one computes the rows that it has in its registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudarun.emulator.code import Action, BlockCode
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import WarpState
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.machine.warpgroups import NothingPending

WARPS = WARPGROUP // WARP


def group_blocks(blocks: Sequence[BlockCode]) -> list[BlockCode]:
    """Return the blocks that begin with an instruction at which a warpgroup waits."""
    return [block for block in blocks if block.sync_warps > 1 and _waits(block)]


def _waits(block: BlockCode) -> bool:
    operation = block.operations[0]
    assert isinstance(operation, Action)
    action = operation.action
    return isinstance(action, NothingPending) and "commit_group" not in action.words


class WarpgroupCode:
    """The code of these blocks in ``step``.

    Each has a second label, where released lanes continue: an entry beyond the basic blocks.

    Args:
        code: The code.
        blocks: The blocks.
        first: The number of the first entry beyond the basic blocks.
    """

    def __init__(self, code: CodeBuilder, blocks: list[BlockCode], first: int) -> None:
        self._code = code
        self._entries = {block.index: first + place for place, block in enumerate(blocks)}

    @property
    def entries(self) -> list[int]:
        """The entries beyond the basic blocks."""
        return list(self._entries.values())

    def waits(self, block: BlockCode) -> bool:
        """Return whether the block is one of them."""
        return block.index in self._entries

    def declare(self) -> None:
        """Reserve the variable with the answer of a warp that has released others."""
        if self._entries:
            self._code.line("%RELEASED = alloca i32")
            self._code.line(f"store i32 {layout.WAITS}, ptr %RELEASED")

    def answer(self, answer: str) -> str:
        """Return the answer of ``step``: other warps have to run if some have been released."""
        if not self._entries:
            return answer
        released = self._code.scalar("load i32, ptr %RELEASED")
        return self._code.scalar(f"or i32 {answer}, {released}")

    def wait(self, block: BlockCode, state: WarpState) -> None:
        """Park the active lanes until those of the four warps are here."""
        code, place = self._code, state.parked(block.index)
        entry = self._entries[block.index]
        arrived = code.scalar("load i32, ptr %MASK")
        parked = field(code, "%state", place, "i32")
        here = code.scalar(f"or i32 {arrived}, {parked}")
        store_field(code, "%state", place, "i32", here)
        missing = "0"
        for other in self._warps(state):
            alive, arrived = (
                field(code, other, state.ALIVE, "i32"),
                field(code, other, place, "i32"),
            )
            missing = code.scalar(f"or i32 {missing}, {code.scalar(f'xor i32 {alive}, {arrived}')}")
        ready = code.fresh("ready")
        whole = code.scalar(f"icmp eq i32 {missing}, 0")
        code.line(f"br i1 {whole}, label %{ready}, label %dispatch")
        code.label(ready)
        for other in self._warps(state):
            self._move(other, place, state.pending(entry))
        code.line(f"store i32 {layout.YIELDS}, ptr %RELEASED")
        code.line("br label %dispatch")
        code.label(f"enter.{entry}")

    def is_whole(self, state: WarpState, mask: str) -> str:
        """Return whether all lanes of the four warps are alive, and those of this one active."""
        code, every = self._code, mask
        for other in self._warps(state):
            every = code.scalar(f"and i32 {every}, {field(code, other, state.ALIVE, 'i32')}")
        full = code.scalar(f"icmp eq i32 {every}, -1")
        after = code.scalar(f"or i32 %warp, {WARPS - 1}")
        count = code.scalar(f"trunc i64 {field(code, '%ctx', layout.WARPS, 'i64')} to i32")
        present = code.scalar(f"icmp ult i32 {after}, {count}")
        return code.scalar(f"and i1 {full}, {present}")

    def lanes_exit(self, state: WarpState) -> None:
        """Let the parked lanes of the other warps look again who is there."""
        if not self._entries:
            return
        for other in self._warps(state):
            for block in self._entries:
                self._move(other, state.parked(block), state.pending(block))
        self._code.line(f"store i32 {layout.YIELDS}, ptr %RELEASED")

    def _move(self, other: str, origin: int, target: int) -> None:
        code = self._code
        lanes, waiting = field(code, other, origin, "i32"), field(code, other, target, "i32")
        store_field(code, other, origin, "i32", "0")
        store_field(code, other, target, "i32", code.scalar(f"or i32 {waiting}, {lanes}"))

    def _warps(self, state: WarpState) -> Iterator[str]:
        """Yield the states of the warps of the group; of missing ones that of the last warp."""
        code = self._code
        states = field(code, "%ctx", layout.STATES, "ptr")
        count = code.scalar(f"trunc i64 {field(code, '%ctx', layout.WARPS, 'i64')} to i32")
        last = code.scalar(f"sub i32 {count}, 1")
        first = code.scalar(f"and i32 %warp, {-WARPS}")
        code.module.declare("declare i32 @llvm.umin.i32(i32, i32)")
        for place in range(WARPS):
            number = code.scalar(f"add i32 {first}, {place}")
            number = code.scalar(f"call i32 @llvm.umin.i32(i32 {number}, i32 {last})")
            wide = code.scalar(f"zext i32 {number} to i64")
            yield pointer_to(code, states, code.scalar(f"mul i64 {wide}, {state.size}"))
