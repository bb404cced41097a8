"""Damaged PTX: mutants of instructions, changed words, and sizes at which slow parsers give up."""

from __future__ import annotations

import random
from pathlib import Path

from cudarun.session.image.image import Image
from tests.support.ptx_mutations import MODIFIERS, OPCODES, TYPES, mutate
from tools.fuzz import images, text
from tools.fuzz.fuzzer import Fuzzer

_DIRECTIVES = (
    *(".version", ".target", ".address_size", ".visible", ".entry", ".func", ".reg", ".param"),
    *(".shared", ".local", ".const", ".align", ".global", ".maxntid", ".reqntid", ".extern"),
    *(".minnctapersm", ".weak", ".loc", ".file", ".section", ".pragma", ".branchtargets"),
    *(".callprototype", ".texref", ".b8", ".b32", ".u64", ".f32", ".pred", "{", "}", "(", ")"),
    *("[", "]", ";", ",", ":", "@", "@!", "%", "+", "-", "=", "<", ">", '"', "_"),
)
WORDS = (
    *_DIRECTIVES,
    *(f".{word}" for word in (*MODIFIERS, *TYPES)),
    *OPCODES,
    *text.NUMBERS,
    *("%r1", "%rd1", "%f1", "%p1", "%tid.x", "/*", "*/", "//", "8.0", "sm_90", "sm_90a"),
)


class PtxText(Fuzzer[str]):
    """Damaged PTX texts, read without a driver and loaded by the emulated device."""

    name = "ptx"
    allowed = frozenset({0, 2, 4})

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        files = images.originals(["ptx"])
        self._texts = [data.decode() for name, data in sorted(files.items()) if len(data) < 20_000]

    def case(self, chance: random.Random) -> str:
        """Return a text with changes of one kind."""
        original = chance.choice(self._texts)
        match chance.randrange(4):
            case 0:
                for _ in range(chance.randint(1, 4)):
                    original = mutate(original, chance.randrange(1 << 62)).text
                return original
            case 1:
                lines = original.split("\n")
                at = chance.randrange(len(lines))
                lines[at] = text.damaged(lines[at] or " ", chance, WORDS)
                return "\n".join(lines)
            case 2:
                lines = original.split("\n")
                at, count = chance.randrange(len(lines)), chance.choice((1, 3, 30))
                lines[at:at] = lines[at : at + count] * chance.choice((1, 10, 300))
                return "\n".join(lines)[:200_000]
            case _:
                return text.damaged(original, chance, WORDS)

    def exit_code(self, case: str) -> int:
        """Read and load it."""
        return images.load_both(Image("text.ptx", case.encode(errors="replace")))
