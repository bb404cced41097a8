"""The reports of ``load`` and ``link`` as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cudarun.errors import CudarunError
from cudarun.report.console import table
from cudarun.report.errors import show_diagnostic, show_error
from cudarun.report.image_contents import show_file, show_kernels, show_variables, size_text
from cudarun.report.image_types import (
    FileReport,
    LinkReport,
    LoadOutcome,
    LoadReport,
    LoadResult,
    OfflineReport,
    WayReport,
)

_SILENCE = "(the linker said nothing)"
_GOOD, _BAD = "green", "red bold"


def show_load(report: LoadReport, out: Console, *, quiet: bool) -> None:
    """A verdict for each file and device, with what is in the file; errors go to stderr."""
    for outcome in report.outcomes:
        _show_outcome(outcome, out, quiet=quiet)


def show_offline(report: OfflineReport, out: Console, *, quiet: bool) -> None:
    """What each file holds."""
    for file in report.files:
        if file.error is not None:
            _show_failure(file.error, out)
            continue
        out.print(Text.assemble((file.image, "bold"), f"  {_describe(file)}"), soft_wrap=True)
        if not quiet:
            show_file(file, out)


def show_link(report: LinkReport, out: Console, *, quiet: bool, verbose: bool = False) -> None:
    """What was linked into what, by whom and in which time."""
    for diagnostic in report.diagnostics:
        show_diagnostic(diagnostic)
    facts = (
        f"  {report.kind} for {report.target}, {report.size} bytes, "
        f"by {report.linker} in {report.milliseconds:.1f} ms"
    )
    line = Text.assemble(("linked ", "green"), (report.output, "bold"), facts)
    out.print(line, soft_wrap=True)
    if not quiet:
        for given in report.inputs:
            out.print(
                Text(f"  from {given.name}  {given.kind}, {given.size} bytes"), soft_wrap=True
            )
        show_kernels(report.kernels, out)
        show_variables(report.variables, out)
    if not quiet:
        _show_log(report.info_log or (_SILENCE if verbose else ""), out)
    for outcome in report.loads:
        _show_outcome(outcome, out, quiet=quiet)


# --- loads ---------------------------------------------------------------------------------------


def _show_outcome(outcome: LoadOutcome, out: Console, *, quiet: bool) -> None:
    if outcome.output:
        out.print(Text(outcome.output), end="", soft_wrap=True)
    name = f" ({outcome.device.name})" if outcome.device else ""
    style = _GOOD if outcome.verdict == "loaded" else _BAD
    verdict = Text.assemble(
        (f"{outcome.verdict} ", style), (outcome.image, "bold"), f"  on {outcome.label}{name}"
    )
    out.print(verdict, soft_wrap=True)
    for result in outcome.results:
        if result.image != outcome.image and not quiet:
            out.print(Text(f"{result.image}", style="bold"), soft_wrap=True)
        _show_result(result, out, quiet=quiet)
    if outcome.error is not None:
        _show_failure(outcome.error, out)


def _show_result(result: LoadResult, out: Console, *, quiet: bool) -> None:
    if result.diagnostics:
        out.file.flush()
        for diagnostic in result.diagnostics:
            show_diagnostic(diagnostic)
    if quiet:
        return
    if len(result.ways) > 1:
        _show_ways(result.ways, out)
    elif result.error is None:
        for way in result.ways:
            out.print(Text(f"  {_way(way)}", style="dim"), soft_wrap=True)
    if result.error is None or result.kernels:
        show_kernels(result.kernels, out, result.ways)
    if result.variables is None and result.error is None:
        out.print("which variables it has cannot be read from the file")
    show_variables(result.variables or (), out)
    for difference in result.differences:
        out.print(Text.assemble(("differs ", "yellow"), difference), soft_wrap=True)
    for log in dict.fromkeys(way.info_log for way in result.ways if way.info_log):
        _show_log(log, out)
    for silence, vias in _silences(result).items():
        whose = f"by {', '.join(vias)}: " if len(vias) < len(result.ways) else ""
        _show_log(f"({whose}{silence})", out)


def _silences(result: LoadResult) -> dict[str, list[str]]:
    """Why nothing was logged, and of which ways."""
    found: dict[str, list[str]] = {}
    for way in result.ways:
        if way.silence is not None:
            found.setdefault(way.silence, []).append(way.via)
    return found


def _way(way: WayReport) -> str:
    """What one way took, in words."""
    memory = "" if way.memory_bytes is None else f"; {size_text(way.memory_bytes)} of memory"
    return (
        f"by {way.via}, {_when(way)}: {way.load_calls} calls in {way.load_milliseconds:.2f} ms, "
        f"for the kernels {way.context_calls} in {way.context_milliseconds:.2f} ms{memory}"
    )


def _when(way: WayReport) -> str:
    return "before any context" if way.before_contexts else "in a context"


def _show_ways(ways: Sequence[WayReport], out: Console) -> None:
    """Two ways side by side, and why the second failed where it is not what the first failed of."""
    rows = table("by", "loaded", "calls", "ms", "kernels", "calls", "ms", "memory")
    for way in ways:
        rows.add_row(
            way.via,
            _when(way) if way.error is None else "refused",
            str(way.load_calls),
            f"{way.load_milliseconds:.2f}",
            str(len(way.handles)),
            str(way.context_calls),
            f"{way.context_milliseconds:.2f}",
            "?" if way.memory_bytes is None else size_text(way.memory_bytes),
        )
    out.print(rows)
    errors = {way.via: way.error for way in ways if way.error is not None}
    shown = next(iter(errors.values()), None)
    for via, error in errors.items():
        if shown is not None and error.cuda != shown.cuda:
            out.print(Text(f"by {via}: {error}"), soft_wrap=True)


def _show_failure(error: CudarunError, out: Console) -> None:
    out.file.flush()
    show_error(error)


def _describe(file: FileReport) -> str:
    version = f" {file.ptx_version[0]}.{file.ptx_version[1]}" if file.ptx_version else ""
    facts = [
        f"{file.kind}{version if file.kind == 'PTX' else ''} for {', '.join(file.targets)}",
        f"{file.size} bytes",
    ]
    if file.is_relocatable:
        facts.append("relocatable: to be linked first")
    if file.toolkit:
        facts.append(f"by {file.toolkit}")
    if file.relocations:
        facts.append(f"{file.relocations} relocations")
    return ", ".join(facts)


def _show_log(log: str, out: Console) -> None:
    for line in log.splitlines():
        out.print(Text(f"  | {line}", style="dim"), soft_wrap=True)
