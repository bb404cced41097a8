"""The outcome of comparing cases on both engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """Cases of a group that a process compares.

    Attributes:
        group: The group's name.
        number: The number of the part in its group.
        cases: The names of the cases.
        runs: Whether they run; if not, only find out what can be compiled.
    """

    group: str
    number: int
    cases: tuple[str, ...]
    runs: bool = True


@dataclass
class Comparison:
    """Cases of one group on both engines.

    Attributes:
        name: The group's name.
        equal: The cases that were compiled and gave the same bits.
        untested: Those that can be compiled, and did not run.
        different: Those that gave other bits, or another fault.
        interpreted: Those that cannot be compiled, with the reason.
    """

    name: str
    equal: list[str] = field(default_factory=list)
    untested: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    interpreted: dict[str, str] = field(default_factory=dict)

    @classmethod
    def merged(cls, name: str, parts: Sequence[Comparison]) -> Comparison:
        """Return the comparison of a group from those of its parts."""
        found = cls(name)
        for part in parts:
            found.equal += part.equal
            found.untested += part.untested
            found.different += part.different
            found.interpreted |= part.interpreted
        return found

    @property
    def cases(self) -> int:
        """The number of cases."""
        return self.compiled + len(self.interpreted)

    @property
    def compiled(self) -> int:
        """The number of cases that were compiled."""
        return len(self.equal) + len(self.untested) + len(self.different)

    @property
    def line(self) -> str:
        """A summary."""
        return (
            f"{self.name}: {self.cases} cases, {self.compiled} compiled: {len(self.equal)} equal, "
            f"{len(self.different)} different, {len(self.untested)} not run; "
            f"{len(self.interpreted)} interpreted"
        )


@dataclass(frozen=True)
class Subject:
    """A kind of recorded cases.

    Attributes:
        groups: Returns the names of its groups, in the order of the page.
        parts: Returns the parts of all groups, the longest first; without the cases that do not
            have a text in their names, and of which one of so many runs.
        compare: Compares the cases of a part.
    """

    groups: Callable[[], Sequence[str]]
    parts: Callable[[str, int], Sequence[Part]]
    compare: Callable[[Part], Comparison]
