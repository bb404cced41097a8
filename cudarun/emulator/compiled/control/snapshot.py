"""The registers of lanes that have yielded, or wait for others of their warp.

Lanes that run meanwhile do not preserve them; they do preserve those that are needed at barriers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cudarun.base.records import dataclass
from cudarun.emulator.code import BlockCode, RegisterUse, Use
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector
from cudarun.emulator.compiled.state.layout import WarpState
from cudarun.emulator.compiled.state.memory import pointer_to
from cudarun.emulator.compiled.state.registers import WarpRegisters


@dataclass(slots=True)
class Snapshot:
    """The code that saves these registers in the warp's state, and restores them."""

    code: CodeBuilder
    registers: WarpRegisters
    blocks: Sequence[BlockCode]  # the basic blocks
    # Of each block, the slots whose values other lanes may need while it runs.
    needed: Sequence[int]
    offsets: Mapping[int, int]  # where registers are saved in the state, by slot

    def drop(self, origin: int, targets: Iterable[int]) -> None:
        """Clear the registers that no lane needs, so that loops need not keep them to be saved.

        Args:
            origin: The block after which lanes yield.
            targets: Those that these lanes run next.
        """
        needed = self.needed[origin]
        for target in targets:
            needed |= self.blocks[target].live_in
        for slot in self.offsets:
            if not needed >> slot & 1:
                self.registers.clear(slot)

    def declare(self) -> None:
        """Name the variables, which are in the state because they are seldom used."""
        for name in ("SAVED", "LEAVES", "RESTORED", "RESUMES"):
            offset = getattr(WarpState, name)
            self.code.line(f"%{name} = getelementptr i8, ptr %state, i64 {offset}")

    def save(self, mask: str, *, leaves: bool = False) -> None:
        """Save lanes; then dispatch others, or leave ``step``."""
        self.code.line(f"store i32 {mask}, ptr %SAVED")
        self.code.line(f"store i32 {int(leaves)}, ptr %LEAVES")
        self.code.line("br label %save.lanes")

    def restore(self, mask: str) -> None:
        """Restore lanes before any are dispatched."""
        self.code.combine("or", "RESTORED", mask)

    def restore_operand(self, use: Use, mask: str) -> None:
        """Load the register that an operand is, if it is one of them, of some lanes."""
        if isinstance(use, RegisterUse) and use.slot in self.offsets:
            self._load(use.slot, self.code.from_mask(mask))

    def define(self, *, yields: bool) -> None:
        """Add the code that saves and restores lanes; ``select`` is what follows ``dispatch``."""
        code = self.code
        lanes = code.scalar("load i32, ptr %RESTORED")
        none = code.scalar(f"icmp eq i32 {lanes}, 0")
        code.line(f"br i1 {none}, label %select, label %restore.lanes")
        code.label("restore.lanes")
        chosen = code.from_mask(code.scalar("load i32, ptr %RESTORED"))
        code.line("store i32 0, ptr %RESTORED")
        for slot in self.offsets:
            self._load(slot, chosen)
        resumes = code.scalar(f"icmp ne i32 {code.scalar('load i32, ptr %RESUMES')}, 0")
        code.line("store i32 0, ptr %RESUMES")
        code.line(f"br i1 {resumes}, label %{'turn' if yields else 'select'}, label %select")
        code.label("save.lanes")
        chosen = code.from_mask(code.scalar("load i32, ptr %SAVED"))
        for slot, offset in self.offsets.items():
            self.registers.save(slot, pointer_to(code, "%state", offset), chosen)
        leaves = code.scalar(f"icmp ne i32 {code.scalar('load i32, ptr %LEAVES')}, 0")
        code.line(f"br i1 {leaves}, label %{'leaving' if yields else 'dispatch'}, label %dispatch")

    def _load(self, slot: int, lanes: LaneVector) -> None:
        pointer = pointer_to(self.code, "%state", self.offsets[slot])
        self.registers.restore(slot, pointer, lanes)
