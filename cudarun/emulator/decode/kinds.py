"""Kinds of instructions: what opcode and modifiers alone determine, found once per module."""

from __future__ import annotations

from cudarun.emulator.decode.control import CONTROL, Lowering
from cudarun.emulator.decode.rules import too_new
from cudarun.ptx import tree
from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class InstructionKind:
    """The instructions with an opcode and modifiers.

    Attributes:
        name: The instruction as written, modifiers included.
        wrong: The error if it needs a later ``.target`` or ``.version``.
        fetches: Whether it can have a sampler.
        control: Decodes it, if it belongs to control flow; not of ``bra``.
    """

    name: str
    wrong: str | None
    fetches: bool
    control: Lowering | None


class InstructionKinds:
    """The kinds of instructions in a module.

    Args:
        module: The module.
    """

    def __init__(self, module: tree.Module) -> None:
        self._module = module
        self._known: dict[tuple[str, tuple[str, ...]], InstructionKind] = {}

    def of(self, instruction: tree.Instruction) -> InstructionKind:
        """Return the kind of an instruction."""
        key = instruction.opcode, instruction.modifiers
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = InstructionKind(
                instruction.name,
                too_new(instruction, self._module),
                instruction.opcode in ("tex", "tld4"),
                CONTROL.get(instruction.opcode),
            )
        return known
