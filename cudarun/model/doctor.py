"""The report of ``devices --doctor``."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.base.errors import ExitCode
from cudarun.base.records import dataclass

State = Literal["well", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A part of the machine that was examined.

    Attributes:
        subject: The part.
        state: well; note, which keeps no GPU from working; or wrong, which does.
        says: What was found.
        remedy: What to do about it; empty where all is well.
    """

    subject: str
    state: State
    says: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The report of ``devices --doctor``.

    Attributes:
        findings: All parts that were examined, in order.
    """

    tag: ClassVar[Literal["devices-doctor"]] = "devices-doctor"

    findings: tuple[DoctorFinding, ...]

    @property
    def exit_code(self) -> ExitCode:
        """3 if a finding keeps GPUs from working."""
        wrong = any(finding.state == "wrong" for finding in self.findings)
        return ExitCode.NO_DEVICE if wrong else ExitCode.OK
