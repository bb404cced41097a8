"""What ``cudarun devices --doctor`` found out about the machine."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.errors import ExitCode
from cudarun.records import dataclass

State = Literal["well", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        subject: What: ``driver library``, ``device nodes``, ….
        state: ``note`` is what keeps no GPU from working, ``wrong`` what does.
        says: How it is.
        remedy: What to do about it; empty where all is well.
    """

    subject: str
    state: State
    says: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The answer of ``cudarun devices --doctor``: everything looked at, in order."""

    tag: ClassVar[Literal["devices-doctor"]] = "devices-doctor"

    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> ExitCode:
        """3 where something keeps GPUs from working."""
        wrong = any(finding.state == "wrong" for finding in self.findings)
        return ExitCode.NO_DEVICE if wrong else ExitCode.OK
