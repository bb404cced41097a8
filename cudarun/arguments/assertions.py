"""The conditions of ``--assert``: a number of what ran, compared with a constant."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

RESOURCES = ("registers", "local_bytes", "shared_bytes")
COUNTED = ("bank_conflicts", "divergent_branches")  # on cpu
SPILLS = "spills"  # in machine code

_CONDITION = re.compile(r"\s*([A-Za-z][\w.:]*)\s*(==|!=|<=|>=|<|>)\s*(\d+)\s*")
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
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
