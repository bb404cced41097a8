"""The seconds that interpreting and compiling a kernel are expected to take."""

from __future__ import annotations

from collections.abc import Callable

from cudarun.base.records import dataclass

Clock = Callable[[], float]
"""Returns the seconds since some moment."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The seconds that the steps of interpreting and compiling are expected to take.

    Attributes:
        loading: Importing the compiler and loading a kernel, and some more, so that this is a small
            part of the time of a launch.
        compiling: Compiling a kernel without instructions.
        per_operation: What every instruction adds.
        large: At most what the instructions add, but for ``per_call``.
        per_call: What every instruction of a large kernel adds: there, instructions are data.
        per_work: Interpreting a unit of `Launch.work`.
        interval: The time between two decisions.
        batch: A batch that has to end before compiled code takes over.
    """

    loading: float = 0.3
    compiling: float = 0.1
    per_operation: float = 0.003
    large: float = 0.5
    per_call: float = 0.0002
    per_work: float = 1.8e-9
    interval: float = 0.002
    batch: float = 0.25

    def of_operations(self, operations: int) -> float:
        """Return the seconds of compiling a kernel with so many instructions."""
        each = min(self.per_operation * operations, self.large + self.per_call * operations)
        return self.compiling + each
