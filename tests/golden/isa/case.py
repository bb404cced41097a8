"""One thing tried on a device: a few PTX statements over the lanes' values, and their results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.golden.isa.inputs import LANES, width

TARGET = "sm_90"


@dataclass(frozen=True)
class Case:
    """PTX statements between given values and results.

    In ``text`` the sources are ``%a0``, ``%a1`` …, the results ``%d0`` …; ``%p<4>``, ``%h<4>``,
    ``%t<8>``, ``%w<8>`` and ``%q<2>`` are predicates and registers of 16, 32, 64 and 128 bits to
    use. ``%lane`` and ``%thread`` say who it is; ``%g`` is the address of ``SCRATCH`` bytes of
    global memory that are the thread's own, those of the next thread follow; ``%s`` is the like in
    shared memory (32 bits), ``%l`` in local memory.

    Attributes:
        name: Unique in its chapter: the instruction, and what else tells it apart.
        sources: The pool of each source (``tests.golden.isa.inputs``).
        results: The type of each result, as which it is compared and shown.
        lanes: The results of how many lanes are kept.
        target: What the module is for.
    """

    name: str
    text: str
    sources: tuple[str, ...]
    results: tuple[str, ...]
    lanes: int = LANES
    target: str = TARGET

    @property
    def bytes(self) -> int:
        """How many bytes its kept results are."""
        return self.lanes * sum(result_bytes(result) for result in self.results)


def result_bytes(result: str) -> int:
    """Bytes of one lane's result; a predicate is a byte."""
    return max(width(result), 8) // 8


def unique(cases: Iterable[Case]) -> list[Case]:
    """The cases, each once: rows of a table may overlap in what they take."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    found = []
    for case in cases:
        if (case.text, case.sources) not in seen:
            seen.add((case.text, case.sources))
            found.append(case)
    names = [case.name for case in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two cases of one name: {sorted(twice)[:5]}")
    return found
