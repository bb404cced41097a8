"""Short answers, ``--format brief``: for each failing case its fields, one in a line."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

import click

from cudarun.base.errors import CudarunError
from cudarun.base.terminal import one_line
from cudarun.diagnostics.entries import Diagnosed
from cudarun.model.checks import failure_lines
from cudarun.report.annotations import of_error, of_result
from cudarun.report.renderer import Renderer

if TYPE_CHECKING:
    from cudarun.model.launch import LaunchResult
    from cudarun.model.report import Part, Report

_MOST_BYTES = 1000  # of a failing case
_LONGEST = {"case": 150, "what": 280, "at": 120, "source": 100, "hint": 150}
"""The bytes of the fields, which are cut; the command is left out if it is too long."""
_LONGEST_PRINT = 200
_MOST_SOURCE = 1 << 22  # bytes of a source file that are read


class BriefRenderer(Renderer):
    """A few lines for each failing case of a spec, or for a launch, and the totals."""

    owns_stdout = True
    streams = True

    def add(self, part: Part) -> None:
        """Write a failing case."""
        if part.tag == "case" and part.verdict == "failed":
            label = f"{part.label} on {part.device}"
            click.echo(_failure(label, part.result, part.error, part.reason, part.command))

    def end(self, report: Report) -> None:
        """Write the launch, or the verdict of each candidate and the totals."""
        if report.tag == "launch":
            for outcome in report.outcomes:
                result, error = outcome.result, outcome.error
                name = report.image if result is None else result.demangled
                label = f"{name} on {outcome.device}"
                if result is None or error is not None or not result.passed:
                    click.echo(_failure(label, result, error, None, None))
                    continue
                click.echo(f"PASS {one_line(label)}  {result.milliseconds:.3f} ms")
                for each in result.prints:
                    text = f"{each.expression} = {each.text}"
                    click.echo(_cut("print: ", text, _LONGEST_PRINT))
        elif report.tag == "launch-spec":
            for candidate in report.candidates:
                verdict, cases = candidate.verdict, candidate.passed + candidate.failed
                count = f"{candidate.passed} of {cases} cases passed"
                click.echo(f"{_VERDICTS[verdict]} {one_line(candidate.candidate)}: {count}")
            counts = f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped"
            click.echo(counts)


_VERDICTS = {"passed": "PASS", "failed": "FAIL", "skipped": "SKIP"}


def _failure(
    label: str,
    result: LaunchResult | None,
    error: CudarunError | None,
    reason: str | None,
    command: str | None,
) -> str:
    found = [*(of_result(result) if result else ()), *(of_error(error) if error else ())]
    serious = [each for each in found if each.level == "error"]
    # In the source of the kernel, or in another file.
    place = next((each for each in serious if each.line is not None), None)
    file, line = (None, None) if place is None else (place.file, place.line)
    fields = {
        "case": label,
        "what": _what(result, error) or reason,
        "at": file if line is None else f"{file}:{line}",
        "source": _source(file, line),
        "hint": None if error is None else error.hint,
    }
    lines = [
        _cut("FAIL " if name == "case" else f"  {name}: ", text, _LONGEST[name])
        for name, text in fields.items()
        if text
    ]
    if command is not None:
        lines.append(f"  repeat: {one_line(command)}")
        if len("\n".join(lines).encode(errors="replace")) >= _MOST_BYTES:
            lines[-1] = "  repeat: too long, see --json"
    return "\n".join(lines)


def _what(result: LaunchResult | None, error: CudarunError | None) -> str | None:
    """Return what is wrong: a finding, an error, or the first mismatch of a failed check."""
    findings = [*(result.findings if result else ()), *(error.findings if error else ())]
    if findings:
        return "; ".join((findings[0].summary, *(each.summary for each in findings[0].places)))
    if error is not None:
        if not isinstance(error, Diagnosed):
            return "; ".join((str(error), *(error.log or "").splitlines()[:1]))
        messages = (each.message for each in error.diagnostics if each.is_serious)
        return ": ".join((str(error), *islice(messages, 1)))
    if result is None:
        return None
    for check in (*result.checks, *(each for each, _ in result.comparisons)):
        if not check.passed:
            return f"{check.expression}: {'; '.join(islice(failure_lines(check), 2))}"
    failures: tuple[str, ...] = result.failures
    return "; ".join(failures) or None


def _source(file: str | None, line: int | None) -> str | None:
    """Return a line of a file; ``None`` if it cannot be read."""
    if file is None or line is None or not os.path.isfile(file):
        return None
    try:
        with open(file, "rb") as stream:
            lines = stream.read(_MOST_SOURCE).splitlines()
    except OSError:
        return None
    return lines[line - 1].decode(errors="replace").strip() if line <= len(lines) else None


def _cut(start: str, text: str, longest: int) -> str:
    """Return ``start`` and a text in one line of at most so many bytes; line ends are spaces."""
    line = f"{start}{' '.join(map(str.strip, text.splitlines()))}"
    data = line.encode(errors="replace")  # a file's name can have other bytes
    if len(data) <= longest:
        return data.decode()
    return data[: longest - len("…".encode())].decode(errors="ignore") + "…"
