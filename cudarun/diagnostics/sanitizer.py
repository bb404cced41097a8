"""Parsing of NVIDIA's compute-sanitizer output (Compute Sanitizer manual, per tool).

Every line of it begins with ``=========``. A record is a line and the indented ones that follow::

    ========= Invalid __global__ write of size 4 bytes
    =========     at far(int *, int)+0x50 in faults.cu:28
    =========     by thread (0,0,0) in block (0,0,0)
    =========     Access to 0x7f0000000000 is out of bounds
    =========
    ========= ERROR SUMMARY: 1 error
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Extent, FindingLocation, SanitizerFinding

_PREFIX = re.compile(r"^=+ ?", re.MULTILINE)
_SUMMARY = re.compile(r"^(?:(?:ERROR|RACECHECK) SUMMARY: (\d+)|\w+ SUMMARY:)")
_BANNER = "COMPUTE-SANITIZER"
# Messages about the tool itself, not a kernel.
_COMPLAINT = re.compile(
    r"^(?:Internal Sanitizer Error|Target application|Warning: (?!Race|\()|"
    r"(?:Error|Fatal)(?: |: (?!Race|Potential))|.*not supported\b)",
    re.IGNORECASE,
)
_HOST = re.compile(r"^(?:Saved host backtrace|Host Frame)", re.IGNORECASE)
_SEVERITY = re.compile(r"^(error|warning|info): ", re.IGNORECASE)
_VARYING = re.compile(
    r"^\([^)]*\) | (?:of size|between|at|on|detected at|to|encountered)\b.*|\. .*|[.:]$"
)

# `at NAME+0x50 in FILE:34`; older ones have `at NAME:0x50 …` and `at 0x50 in FILE:34:NAME`.
_FILE = r"(?: in (?P<file>[^\n]+?):(?P<line>\d+))?"
_PLACES = (
    re.compile(rf"^at (?P<offset>0x[0-9a-f]+){_FILE}(?::(?P<function>.+))?$"),
    re.compile(rf"^at (?P<function>.+?)(?:\+|:)(?P<offset>0x[0-9a-f]+){_FILE}$"),
)
_FRAME = re.compile(r"^Device Frame: ?(?P<place>.+)$")
_RACE = re.compile(r"(?P<access>\w+ access) (?P<place>at .+?)(?: \[\d+ hazards?\])?$")
_HAZARD = re.compile(r"^(?P<access>\w+) Thread \((?P<thread>[\d,]+)\) (?P<place>at .+)$")
_THREAD = re.compile(r"\bthread \((\d+),(\d+),(\d+)\)", re.IGNORECASE)
_BLOCK = re.compile(r"\bblock \((\d+),(\d+),(\d+)\)")
_ADDRESS = re.compile(
    r"(?:^Address |^Access (?:to|at) |__shared__ |^Leaked .* at )(0x[0-9a-f]+)", re.MULTILINE
)
# Device runtime functions, as __assertfail: not a kernel, even if they are the outermost frame.
_RUNTIME = "__"


@dataclass(frozen=True, slots=True)
class SanitizerLog:
    """The parsed output of one run of the tool."""

    findings: tuple[SanitizerFinding, ...]
    complaints: tuple[str, ...]  # errors of the tool itself
    total: int | None  # the reported number of errors; ``None`` if the run did not get that far


def parse_sanitizer_log(text: str) -> SanitizerLog:
    """Parse the output of one run; lines that are not the tool's are ignored."""
    findings, complaints, totals = [], [], []
    for record in _records(text):
        summary = _SUMMARY.match(record[0])
        if summary:
            totals += [int(number) for number in summary.groups() if number]
        elif _COMPLAINT.match(record[0]):
            complaints.append("\n".join(record))
        else:
            first, *rest = (line for line in record if not _HOST.match(line))
            graded = _SEVERITY.match(first)
            message = _SEVERITY.sub("", first)
            places = tuple(_places([message, *rest]))
            # The outermost function is the kernel; the last frames, up to it, may be missing.
            outermost = next(
                (each.function for each in reversed(places) if each.function), _RUNTIME
            )
            whole = "\n".join((message, *rest))
            address = _ADDRESS.search(whole)
            findings.append(
                SanitizerFinding(
                    kind=_VARYING.sub("", message),
                    severity="warning" if graded and graded[1].lower() != "error" else "error",
                    message=message,
                    kernel=None if outermost.startswith(_RUNTIME) else outermost,
                    places=places,
                    block=_extent(_BLOCK.search(whole)),
                    thread=_extent(_THREAD.search(whole)),
                    address=int(address[1], 16) if address else None,
                    details=tuple(rest),
                )
            )
    return SanitizerLog(tuple(findings), tuple(complaints), sum(totals) if totals else None)


def _records(text: str) -> Iterator[list[str]]:
    """Yield the records, each as its lines; an indented line continues the one before."""
    record: list[str] = []
    for line in text.splitlines():
        if not line.startswith("==="):
            continue
        words = _PREFIX.sub("", line, count=1).rstrip()
        if words.startswith(" ") and record:
            record.append(words.strip())
            continue
        if record:
            yield record
        record = [] if words.strip() in ("", _BANNER) else [words.strip()]
    if record:
        yield record


def _places(lines: Sequence[str]) -> Iterator[FindingLocation]:
    for text in lines:
        text, access = _FRAME.sub(r"at \g<place>", text), ""
        if race := _RACE.search(text) or _HAZARD.match(text):
            text, access = race["place"], race["access"]
        if found := next(filter(None, (each.match(text) for each in _PLACES)), None):
            function, line = found["function"], found["line"]
            yield FindingLocation(
                access,
                # The function's own name of ``[clone kernel(int *)] inlined()``.
                re.sub(r"^\[clone .*?\] ", "", function) if function else None,
                int(found["offset"], 16),
                found["file"],
                int(line) if line else None,
            )


def _extent(found: re.Match[str] | None) -> Extent | None:
    return (int(found[1]), int(found[2]), int(found[3])) if found else None
