"""The report of ``--sanitize``."""

from __future__ import annotations

from cudarun.base.records import dataclass
from cudarun.diagnostics.findings import SanitizerFinding


@dataclass(frozen=True, slots=True)
class SanitizerReport:
    """The findings of a tool of compute-sanitizer.

    Attributes:
        tool: memcheck, racecheck, initcheck or synccheck.
        findings: The findings that it printed.
        total: The number of errors that it counted.
    """

    tool: str
    findings: tuple[SanitizerFinding, ...]
    total: int
