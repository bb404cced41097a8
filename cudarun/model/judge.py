"""The report of ``judge``."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from cudarun.base.errors import ExitCode
from cudarun.base.records import dataclass

# fmt: off
JudgeRule: TypeAlias = Literal[
    "error", "output", "mismatch", "inputs", "patched", "ended", "timeout", "memory",
    "launches", "host", "library", "floor", "not_shared",
]
# fmt: on
"""The rules that ``docs/how-to/judge-submissions.md`` explains, and a case that is no fault: CUDA
cannot share the memory of the problem with the process (``not_shared``)."""


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A case that a submission has passed.

    Attributes:
        name: The parameters of the case.
        runs: The runs that were compared, each with new inputs.
        milliseconds: The median time of the runs but the first; ``None`` on `cpu`.
        reference_milliseconds: The same of the reference.
    """

    name: str
    runs: int
    milliseconds: float | None = None
    reference_milliseconds: float | None = None


@dataclass(frozen=True, slots=True)
class ObservedKernel:
    """A kernel that a submission has launched.

    Attributes:
        kernel: Its name in C++ spelling.
        launches: The number of launches.
    """

    kernel: str
    launches: int


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """The judgement of a submission.

    Attributes:
        submission: The file.
        rule: The rule that it breaks; ``None`` if it passed.
        message: How it breaks the rule.
        case: The case in which it does; ``None`` if that is not in one.
        cases: The cases that it passed.
        kernels: The kernels that it launched.
        notes: The ways in which it was not confined.
    """

    submission: str
    rule: JudgeRule | None
    message: str | None
    case: str | None
    cases: tuple[JudgedCase, ...]
    kernels: tuple[ObservedKernel, ...]
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Literal["passed", "failed"]:
        """The verdict."""
        return "passed" if self.rule is None else "failed"


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The judgement of submissions for a problem.

    Attributes:
        problem: The file or folder of the problem.
        device: The device.
        seed: The seed of the first inputs.
        submissions: The judgements.
    """

    problem: str
    device: str
    seed: int
    submissions: tuple[JudgedSubmission, ...]
    tag: ClassVar[Literal["judge"]] = "judge"

    @property
    def exit_code(self) -> int:
        """0 if all submissions passed, else 1."""
        has_failed = any(each.rule is not None for each in self.submissions)
        return int(ExitCode.CHECK_FAILED if has_failed else ExitCode.OK)
