"""Kinds of instructions: what opcode and modifiers alone determine, found once per module."""

from __future__ import annotations

from functools import lru_cache

from cudarun.base.records import dataclass
from cudarun.emulator.decode.control import CONTROL, Lowering
from cudarun.emulator.isa.requirements import requirements, unpermitted
from cudarun.ptx import tree

_MOST_DIGITS = 9  # of a target that can exist


@dataclass(frozen=True, slots=True)
class InstructionKind:
    """The instructions with an opcode and modifiers."""

    name: str  # the instruction as written, modifiers included
    wrong: str | None  # the error if it needs another ``.target`` or ``.version``
    fetches: bool  # whether it can have a sampler
    control: Lowering | None  # decodes it, if it belongs to control flow; not of ``bra``


class InstructionKinds(dict[tuple[str, tuple[str, ...]], InstructionKind]):
    """The kinds of instructions in a module, by opcode and modifiers."""

    def __init__(self, module: tree.Module) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, key: tuple[str, tuple[str, ...]]) -> InstructionKind:
        opcode, modifiers = key
        kind = self[key] = InstructionKind(
            ".".join((opcode, *modifiers)),
            _wrong(opcode, modifiers, self._module),
            opcode in ("tex", "tld4"),
            CONTROL.get(opcode),
        )
        return kind


def _wrong(opcode: str, modifiers: tuple[str, ...], module: tree.Module) -> str | None:
    """Return an error if an instruction needs another ``.target`` or ``.version``."""
    version, targets = module.version, module.targets
    if opcode == "wmma":  # forms that PTX had before 6.3 or 6.5
        name = ".".join(("wmma", *modifiers[:1]))
        if version >= (6, 3) and "aligned" not in modifiers:
            return f".aligned modifier required for instruction '{name}'"
        if version >= (6, 5) and "satfinite" in modifiers and "s32" not in modifiers:
            return (
                f"Instruction ''{name}' with floating point type' with '.satfinite' is not "
                "supported starting from PTX ISA version 6.5"
            )
    has_mask = opcode not in ("shfl", "vote") or "sync" in modifiers
    if not has_mask and version >= (6, 4) and any(_architecture(name) >= 70 for name in targets):
        return (
            f"Instruction '{opcode}' without '.sync' is not supported on .target sm_70 and higher "
            "from PTX ISA version 6.4"
        )
    name = ".".join((opcode, *modifiers))
    for target in (each for each in targets if each.startswith("sm_")):
        words = unpermitted(target, opcode, modifiers)
        if words is not None:
            what = name if words else ".".join((opcode, *modifiers[:1]))
            return f"Instruction '{what}' not supported on .target '{target}'"
    architecture, least = requirements(opcode, modifiers)
    if any(_architecture(target) < architecture for target in targets):
        return f"Feature '{name}' requires .target sm_{architecture} or higher"
    if version < least:
        number = ".".join(map(str, least))
        return f"Feature '{name}' requires PTX ISA .version {number} or later"
    return None


@lru_cache
def _architecture(target: str) -> int:
    """Return 90 for ``sm_90a``; a word that is no architecture restricts nothing."""
    digits = "".join(filter(str.isdigit, target.removeprefix("sm_")))[:_MOST_DIGITS]
    return int(digits) if target.startswith("sm_") else 1 << 30
