"""Mutants of PTX that ptxas takes or refuses: the emulated device has the same verdict.

Where ptxas takes a text, the emulated device may refuse it for one of the reasons in `ALLOWED`. It
takes nothing that ptxas refuses but what `ALLOWED_HERE` names.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.support.ptx_mutations import mutate
from tools.fuzz.fuzzer import Fuzzer, Unexpected
from tools.record_mutants import takes, texts

_LINE = re.compile(r"(?:PTX )?line (\d+)[:;]")


class Ptxas(Fuzzer[str]):
    """One mutant; ptxas takes about 0.1 s for each."""

    name = "ptxas"
    is_process = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._texts = list(texts().values())

    @classmethod
    def unavailable(cls) -> str | None:
        """Return that there is no ptxas, if so."""
        return None if shutil.which("ptxas") else "there is no ptxas"

    def case(self, chance: random.Random) -> str:
        """Return a mutant."""
        return mutate(chance.choice(self._texts), chance.randrange(1 << 62)).text

    def exit_code(self, case: str) -> int:
        """Compare the verdicts."""
        refusal, taken = refused(case), takes(case)
        if not taken and not refusal and not any(e.search(case) for e in ALLOWED_HERE.values()):
            raise Unexpected("ptxas refuses it")
        if taken and refusal and not any(holds(case, refusal) for holds in ALLOWED.values()):
            raise Unexpected(f"ptxas takes it: {refusal}")
        return 0


def refused(text: str) -> str:
    """Return why the emulated device refuses a text or a kernel of it; else an empty string."""
    try:
        kernels = compile_module(parse(text)).kernels.values()
    except PtxError as error:
        return str(error)
    return "\n".join(str(place) for kernel in kernels for place in kernel.unimplemented)


def _others(text: str, refusal: str, vary: Callable[[list[str]], Iterator[list[str]]]) -> bool:
    """Return whether the text is taken with other words of the instruction that is refused."""
    place = _LINE.match(refusal)
    if place is None:
        return False
    lines = text.split("\n")
    index = int(place[1]) - 1
    for name in dict.fromkeys(re.findall(r"[a-z]\w*(?:\.[\w:]+)+", lines[index])):
        for words in vary(name.split(".")):
            other = lines[index].replace(name, ".".join(words), 1)
            if not refused("\n".join([*lines[:index], other, *lines[index + 1 :]])):
                return True
    return False


def _one_less(words: list[str]) -> Iterator[list[str]]:
    for at in range(1, len(words)):
        yield words[:at] + words[at + 1 :]


def _two_swapped(words: list[str]) -> Iterator[list[str]]:
    for one, other in combinations(range(1, len(words)), 2):
        swapped = [*words]
        swapped[one], swapped[other] = words[other], words[one]
        yield swapped


def _one_moved(words: list[str]) -> Iterator[list[str]]:
    for at in range(1, len(words)):
        rest = words[:at] + words[at + 1 :]
        for to in range(1, len(words)):
            yield [*rest[:to], words[at], *rest[to:]]


ALLOWED: dict[str, Callable[[str, str], bool]] = {
    "a modifier that ptxas ignores": lambda text, why: _others(text, why, _one_less),
    "modifiers in another order": lambda text, why: (
        _others(text, why, _two_swapped) or _others(text, why, _one_moved)
    ),
    "ld and st of part of a floating, packed or 128-bit register": lambda text, why: bool(
        re.search(r"Arguments mismatch for instruction '(ld|st)'", why)
    ),
    "an address of less than 64 bits": lambda text, why: bool(
        re.search(r"32-bit addressing is not supported|as address operand", why)
    ),
}
"""Reasons for which the emulated device alone refuses a text, by name."""

ALLOWED_HERE = {"a constant count of 0": re.compile(r"mbarrier\.arrive[\w.:]*\s[^;]*, 0;")}
"""Texts that only ptxas refuses, by name."""
