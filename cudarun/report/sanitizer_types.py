"""What a sanitizer had to say of a launch."""

from __future__ import annotations

from cudarun.diagnostics.findings import SanitizerFinding
from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class SanitizerReport:
    """One tool of compute-sanitizer over one launch on one device.

    Attributes:
        tool: ``memcheck``, ``racecheck``, ``initcheck`` or ``synccheck``.
        findings: What it found, as many as it printed.
        total: How many errors it counted.
    """

    tool: str
    findings: tuple[SanitizerFinding, ...]
    total: int
