"""The report of ``judge``."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from cudarun.base.errors import ExitCode
from cudarun.base.records import dataclass

# fmt: off
JudgeRule: TypeAlias = Literal[
    "error", "output", "mismatch", "inputs", "patched", "ended", "timeout", "memory",
    "launches", "host", "library", "assert", "floor", "not_shared",
]
# fmt: on
"""The rules that ``docs/how-to/judge-submissions.md`` explains, and a case that is no fault: CUDA
cannot share the memory of the problem with the process (``not_shared``)."""


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A case that a submission has passed."""

    name: str  # the parameters of the case
    runs: int  # the runs that were compared, each with new inputs
    # The median time of the runs but the first; ``None`` on `cpu` and for numpy.
    milliseconds: float | None = None
    reference_milliseconds: float | None = None  # the same of the reference


@dataclass(frozen=True, slots=True)
class ObservedKernel:
    """A kernel that a submission has launched."""

    kernel: str  # its name in C++ spelling
    launches: int  # the number of launches


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """The judgement of a submission."""

    submission: str  # the file
    rule: JudgeRule | None  # the rule that it breaks; ``None`` if it passed
    message: str | None  # how it breaks the rule
    case: str | None  # the case in which it does; ``None`` if that is not in one
    cases: tuple[JudgedCase, ...]  # the cases that it passed
    kernels: tuple[ObservedKernel, ...]  # the kernels that it launched
    notes: tuple[str, ...] = ()  # the ways in which it was not confined

    @property
    def verdict(self) -> Literal["passed", "failed"]:
        """The verdict."""
        return "passed" if self.rule is None else "failed"


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The judgement of submissions for a problem."""

    problem: str  # the file or folder of the problem
    device: str  # the device
    seed: int  # the seed of all inputs
    submissions: tuple[JudgedSubmission, ...]  # the judgements
    tag: ClassVar[Literal["judge"]] = "judge"

    @property
    def exit_code(self) -> int:
        """0 if all submissions passed, else 1."""
        has_failed = any(each.rule is not None for each in self.submissions)
        return int(ExitCode.CHECK_FAILED if has_failed else ExitCode.OK)
