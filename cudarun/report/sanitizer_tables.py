"""The findings of ``--sanitize``."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from cudarun.diagnostics.findings import FindingLocation, SanitizerFinding
from cudarun.model.sanitizer import SanitizerReport
from cudarun.report.console import FAILED, PASSED, print_line


def show_sanitizer(report: SanitizerReport, device: str, out: Console) -> None:
    """Print each finding with its places, and the number of findings."""
    if not report.findings:
        print_line(out, PASSED, f"{report.tool}: nothing found on {device}")
        return
    for finding in report.findings:
        mark = FAILED if finding.severity == "error" else "warning "
        print_line(out, mark, f"{report.tool}: {finding.message}")
        for line in _below(finding):
            print_line(out, f"  {line}")
    left = report.total - len(report.findings)
    more = f", {left} not shown" if left > 0 else ""
    count = max(report.total, len(report.findings))
    noun = "finding" if count == 1 else "findings"
    print_line(out, f"{report.tool}: {count} {noun} on {device}{more}")


def _below(finding: SanitizerFinding) -> Iterator[str]:
    """Yield the places of a finding as a compiler writes them, then the sanitizer's other lines."""
    for place in finding.places:
        if place.file is not None:
            yield f"{place.file}:{place.line}: {_what(place)}"
    yield from finding.details


def _what(place: FindingLocation) -> str:
    access = f"{place.access} in " if place.access else ""
    return f"{access}{place.function or 'an unknown function'}"
