"""Mutants of PTX: one instruction or declaration of a valid text changed at random.

``mutate(text, seed)`` is the same for the same text and seed. What a mutant means, if anything, is
for ptxas to say: `tools/ptxas_mutations.py` records it, `tests/emulator/test_mutations.py` and
`tools/hardware/mutations.py` hold the emulated device to it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TYPES = _words(
    "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 tf32 f32 f64 pred "
    "e4m3x2 e5m2x2 s16x2 u16x2"
)

# Words after a dot that instructions of PTX have, whether the emulated device knows them or not.
MODIFIERS = _words(
    "rn rz rm rp rna rni rzi rmi rpi approx full ftz sat satfinite relu lo hi wide cc shiftamt "
    "clamp wrap l r lut f4e b4e rc8 ecl ecr rc16 eq ne lt le gt ge ls hs equ neu ltu leu gtu geu "
    "num nan and or xor popc add min max inc dec exch cas global shared local param const generic "
    "weak volatile relaxed acquire release acq_rel mmio cta cluster gpu sys v2 v4 ca cg cs lu cv "
    "nc wb wt sync all any uni ballot up down bfly idx aligned warp arrive red row col m16n8k8 "
    "m16n8k16 m8n8k4 x1 x2 x4 trans to async commit_group wait_group L2 128B ssat finite infinite "
    "number notanumber normal subnormal noftz NaN abs xorsign frob"
)

OPCODES = _words(
    "add sub mul mad fma div rem abs neg min max sad mul24 mad24 and or xor not cnot shl shr shf "
    "popc clz brev bfe bfi bfind bmsk szext fns prmt lop3 dp4a dp2a set setp selp slct testp "
    "copysign rcp sqrt rsqrt sin cos lg2 ex2 tanh cvt mov ld st ldu atom red addc subc madc "
    "cvta isspacep prefetch shfl vote match activemask redux bar barrier membar fence bra ret "
    "exit trap call tex surf frobnicate"
)

_CONSTANTS = _words("0 1 -1 31 0x80000000 0f3F800000 0d3FF0000000000000")

_INSTRUCTION = re.compile(
    r"^(?P<head>\s*(?:\{\s*)?(?:\$?[\w$]+:\s*)?(?:@!?%\w+\s+)?)(?P<name>[a-z]\w*(?:\.[\w:]+)*)"
    r"(?P<gap>\s*)(?P<operands>[^;]*);(?P<tail>.*)$"
)
_DECLARATION = re.compile(
    r"^(?P<head>\s*(?:\.(?:visible|extern|weak)\s+)?\.(?:reg|shared|local|global|const|param)\b"
    r"(?:\s*\.align \d+)?\s+\.)(?P<type>\w+)(?P<tail>.*)$"
)
_REGISTER = re.compile(r"%\w+(?:\.[xyz])?")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text that differs in one line; ``line`` is its number, ``was`` and ``now`` what it says."""

    text: str
    line: int
    was: str
    now: str


def mutate(text: str, seed: int) -> Mutant:
    """One mutant of a text."""
    chance = random.Random(seed)
    lines = text.split("\n")
    places = [index for index, line in enumerate(lines) if _can_change(line)]
    while True:
        index = chance.choice(places)
        now = _change(lines[index], chance)
        if now is not None and now != lines[index]:
            whole = "\n".join([*lines[:index], now, *lines[index + 1 :]])
            return Mutant(whole, index + 1, lines[index].strip(), now.strip())


def _can_change(line: str) -> bool:
    if line.lstrip().startswith("//"):
        return False
    return bool(_DECLARATION.match(line) or _INSTRUCTION.match(line))


def _change(line: str, chance: random.Random) -> str | None:
    declaration = _DECLARATION.match(line)
    if declaration:
        if chance.random() < 0.8:  # there are many of them, and little to find
            return None
        return declaration["head"] + chance.choice(TYPES) + declaration["tail"]
    match = _INSTRUCTION.match(line)
    if match is None:
        return None
    kinds = list(_KINDS)
    kind = chance.choices(kinds, [_KINDS[kind] for kind in kinds])[0]
    changed = kind(match["name"].split("."), match["operands"], chance)
    if changed is None:
        return None
    words, operands = changed
    gap = match["gap"] or (" " if operands else "")
    return f"{match['head']}{'.'.join(words)}{gap}{operands};{match['tail']}"


Words = list[str]
Changed = tuple[Words, str] | None


def _another_type(words: Words, operands: str, chance: random.Random) -> Changed:
    places = [index for index, word in enumerate(words) if word in TYPES]
    if not places:
        return None
    words[chance.choice(places)] = chance.choice(TYPES)
    return words, operands


def _another_modifier(words: Words, operands: str, chance: random.Random) -> Changed:
    if len(words) < 2:
        return None
    words[chance.randrange(1, len(words))] = chance.choice(MODIFIERS)
    return words, operands


def _another_opcode(words: Words, operands: str, chance: random.Random) -> Changed:
    words[0] = chance.choice(OPCODES)
    return words, operands


def _a_modifier_more(words: Words, operands: str, chance: random.Random) -> Changed:
    words.insert(chance.randrange(1, len(words) + 1), chance.choice(MODIFIERS + TYPES))
    return words, operands


def _a_modifier_less(words: Words, operands: str, chance: random.Random) -> Changed:
    if len(words) < 2:
        return None
    del words[chance.randrange(1, len(words))]
    return words, operands


def _modifiers_swapped(words: Words, operands: str, chance: random.Random) -> Changed:
    if len(words) < 3:
        return None
    first, second = chance.sample(range(1, len(words)), 2)
    words[first], words[second] = words[second], words[first]
    return words, operands


def _another_register(words: Words, operands: str, chance: random.Random) -> Changed:
    found = list(_REGISTER.finditer(operands))
    if len(found) < 2:
        return None
    place, other = chance.sample(found, 2)
    return words, operands[: place.start()] + other[0] + operands[place.end() :]


def _a_constant(words: Words, operands: str, chance: random.Random) -> Changed:
    found = list(_REGISTER.finditer(operands))
    if not found:
        return None
    place = chance.choice(found)
    constant = chance.choice(
        ["0", "1", "-1", "31", "0x80000000", "0f3F800000", "0d3FF0000000000000"]
    )
    return words, operands[: place.start()] + constant + operands[place.end() :]


def _an_operand_less_or_more(words: Words, operands: str, chance: random.Random) -> Changed:
    parts = operands.split(", ")
    place = chance.randrange(len(parts))
    if chance.random() < 0.5 and len(parts) > 1:
        del parts[place]
    else:
        parts.insert(place, parts[place])
    return words, ", ".join(parts)


_KINDS: dict[Callable[[Words, str, random.Random], Changed], int] = {
    _another_type: 5,
    _another_modifier: 5,
    _another_opcode: 3,
    _a_modifier_more: 3,
    _a_modifier_less: 3,
    _modifiers_swapped: 1,
    _another_register: 2,
    _a_constant: 2,
    _an_operand_less_or_more: 1,
}
