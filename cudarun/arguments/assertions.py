"""The conditions of ``--assert``: a number of what ran, compared with a constant."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

RESOURCES = ("registers", "local_bytes", "shared_bytes")
COUNTED = ("bank_conflicts", "divergent_branches")  # on cpu
SPILLS = "spills"  # in machine code

_CONDITION = re.compile(r"\s*([A-Za-z][\w.:]*)\s*(==|!=|<=|>=|<|>)\s*(\d+)\s*")
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition of a launch."""

    text: str  # as given
    name: str  # a resource, a count, or an opcode with modifiers: ld.global.v4
    comparison: str
    limit: int

    @property
    def is_resource(self) -> bool:
        """Return whether it is about a resource, for which nothing is counted."""
        return self.name in RESOURCES

    def is_true_of(self, number: int) -> bool:
        """Return whether a number satisfies it."""
        return _COMPARISONS[self.comparison](number, self.limit)


def matching(name: str, counts: Mapping[str, int]) -> int:
    """Return the number of instructions that have the opcode and all modifiers of a name.

    Args:
        counts: Numbers by instruction with its modifiers.
    """
    opcode, *wanted = name.split(".")
    total = 0
    for each, count in counts.items():
        found, *modifiers = each.split(".")
        if found == opcode and not Counter(wanted) - Counter(modifiers):
            total += count
    return total


def parse_assertion(text: str) -> Assertion:
    """Parse the text of an ``--assert``.

    Raises:
        RequestError: It is no condition.
    """
    found = _CONDITION.fullmatch(text)
    if found is None:
        names = ", ".join((*RESOURCES, *COUNTED, SPILLS))
        raise RequestError(
            f"'{text}' is not NAME COMPARISON NUMBER",
            hint=f"example: 'mma > 0'; names: {names}, and opcodes",
            option="--assert",
        )
    name, comparison, limit = found.groups()
    return Assertion(text.strip(), name, comparison, int(limit))
