"""The ``.target`` and ``.version`` that each instruction requires.

``required_versions.txt`` was recorded from ptxas 13.0 for every form in the tables, PTX 9.1 from
ptxas 13.5. The opcode is followed by the architecture, the version of PTX and the words that
require them: ``bf16`` for one word, ``rn+tf32`` for two in combination, nothing for the whole
instruction, ``f32.bf16`` for one that follows another. A row without an opcode belongs to the one
above. Everything else is available in PTX 6.0 and on sm_50. In place of the architecture, some have
the targets of specific features: ``90a``, and ``10f`` for those of the family of major version 10,
which are sm_100a, sm_100f, sm_103a and so on.
`tests/emulator/test_targets.py` compares every form with ptxas on every target.

The driver of an H200 enforces every row: the chapter ``accepted-ptx`` of ``tools.hardware`` asks.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from cudarun.base.records import dataclass

Version = tuple[int, int]


_HOPPER = 90


@dataclass(frozen=True, slots=True)
class _Row:
    words: frozenset[str]
    least: int
    specific: tuple[str, ...]
    version: Version


def _rows() -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    opcode = ""
    table = Path(__file__).with_name("required_versions.txt").read_text()
    for line in (each for each in table.splitlines() if not each.startswith("#")):
        if not line.startswith(" "):
            opcode = line.split()[0]
        target, number, *words = line.removeprefix(opcode).split()
        major, _, minor = number.partition(".")
        version = int(major), int(minor)
        least, specific = (int(target), ()) if target.isdecimal() else (0, (*target.split("+"),))
        for together in words or [""]:
            needed = frozenset(together.split("+")) - {""}
            rows.setdefault(opcode, []).append(_Row(needed, least, specific, version))
    return rows


_SINCE = _rows()


@lru_cache(maxsize=4096)
def requirements(opcode: str, modifiers: tuple[str, ...]) -> tuple[int, Version]:
    """Return the architecture (``90`` for ``sm_90``) and PTX version that the driver demands."""
    rows = _matching(opcode, modifiers)
    return max((row.least for row in rows), default=0), max(
        (row.version for row in rows), default=(0, 0)
    )


def unpermitted(target: str, opcode: str, modifiers: tuple[str, ...]) -> frozenset[str] | None:
    """Return the words that a ``.target`` does not permit for lack of specific features.

    ``None`` if it permits the instruction; no words if it has no such instruction at all.
    """
    number, suffix = target.removeprefix("sm_").rstrip("af"), target[-1:]
    own = {f"{number}{suffix}"} | ({f"{number[:-1]}f"} if suffix in "af" else set())
    for row in _matching(opcode, modifiers):
        if row.specific and own.isdisjoint(row.specific):
            return row.words
    return None


@lru_cache(maxsize=4096)
def is_newer(opcode: str, modifiers: tuple[str, ...]) -> bool:
    """Return whether only architectures after Hopper have an instruction."""
    return any(
        row.least > _HOPPER or (row.specific and f"{_HOPPER}a" not in row.specific)
        for row in _matching(opcode, modifiers)
    )


def _matching(opcode: str, modifiers: tuple[str, ...]) -> list[_Row]:
    rows = _SINCE.get(opcode)
    if rows is None:
        return []
    given = {*modifiers, *map(".".join, pairwise(modifiers))}
    return [row for row in rows if row.words <= given]
