"""The ``.target`` and ``.version`` that each instruction requires.

``required_versions.txt`` was recorded from ptxas 13.0 for every form in the tables, PTX 9.1 from
ptxas 13.5. The opcode is followed by the architecture, the version of PTX and the words that
require them: ``bf16`` for one word, ``rn+tf32`` for two in combination, nothing for the whole
instruction. A row without an opcode belongs to the one above. Everything else is available in PTX
6.0 and on sm_50.

The driver of an H200 enforces every row: the chapter ``accepted-ptx`` of ``tools.hardware`` asks.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

Version = tuple[int, int]


def _rows() -> dict[str, list[tuple[frozenset[str], int, Version]]]:
    rows: dict[str, list[tuple[frozenset[str], int, Version]]] = {}
    opcode = ""
    table = Path(__file__).with_name("required_versions.txt").read_text()
    for line in (each for each in table.splitlines() if not each.startswith("#")):
        opcode = line[:15].strip() or opcode
        target, version, *words = line[15:].split()
        major, _, minor = version.partition(".")
        for together in words or [""]:
            needed = frozenset(together.split("+")) - {""}
            rows.setdefault(opcode, []).append((needed, int(target), (int(major), int(minor))))
    return rows


_SINCE = _rows()


@lru_cache(maxsize=4096)
def requirements(opcode: str, modifiers: tuple[str, ...]) -> tuple[int, Version]:
    """Return the architecture (``90`` for ``sm_90``) and PTX version that the driver demands."""
    given, target, version = set(modifiers), 0, (0, 0)
    for words, architecture, number in _SINCE.get(opcode, ()):
        if words <= given:
            target, version = max(target, architecture), max(version, number)
    return target, version
