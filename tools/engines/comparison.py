"""The outcome of comparing cases on both engines."""

from __future__ import annotations

from dataclasses import dataclass, field


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
