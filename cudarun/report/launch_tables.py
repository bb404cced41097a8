"""The tables of a launch, of its plan and of its parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cudarun.diagnostics.entries import Diagnostic
from cudarun.model.checks import CheckResult, failure_lines, nan_note
from cudarun.model.launch import (
    BufferResult,
    KernelEngine,
    KernelLaunch,
    LaunchPlan,
    LaunchReport,
    LaunchResult,
    LayoutRow,
    MemoryRow,
    PlannedStep,
)
from cudarun.model.spec import CaseReport
from cudarun.report.console import FAILED, NOTE, PASSED, FittingTable, Part, extent_text, print_line
from cudarun.report.detector_tables import (
    show_findings,
    show_sanitizer,
    show_statistics,
    show_watched,
)
from cudarun.report.errors import show_diagnostic, show_error
from cudarun.report.figures import show_figure
from cudarun.report.notes import changed_variables, never_written, own_reference, weak_checks
from cudarun.report.renderer import TableStyle
from cudarun.report.timing_tables import show_speed, show_timing

_NAMED_SEEDS = 8  # seeds of failed runs that are named


def show_launch(report: LaunchReport, out: Console, style: TableStyle) -> None:
    """Print the result of each device; errors and warnings on stderr."""
    if report.seed is not None and style.seed and not style.quiet:
        out.print(Text(f"seed {report.seed}  (--seed {report.seed} repeats it)", style="dim"))
    shown: set[Diagnostic] = set()
    for outcome in report.outcomes:
        result, error = outcome.result, outcome.error
        warnings = result.diagnostics if result else error.warnings if error else ()
        for warning in warnings:
            is_wanted = not (style.quiet and warning.severity == "note")
            if is_wanted and warning not in shown:  # every device compiles, and is equivalent
                shown.add(warning)
                show_diagnostic(warning)
        if result is not None:
            _show_result(result, out, style)
        elif error is not None:
            if not style.quiet:
                is_counted = error.statistics is not None
                show_engines(error.engines, out, interpreted=is_counted, verbose=style.verbose)
            show_findings(error.findings, out)
            show_statistics(error.statistics, out)
        out.file.flush()
        for each in (result.errors if result else ()) or ((error,) if error else ()):
            show_error(each)
        if outcome.sanitizer is not None:
            show_sanitizer(outcome.sanitizer, outcome.device, out)


def show_plan(plan: LaunchPlan, out: Console, _: TableStyle) -> None:
    """Print the parameter buffer of a launch, value by value; diagnostics on stderr."""
    for diagnostic in plan.diagnostics:
        show_diagnostic(diagnostic)
    steps: Sequence[LaunchPlan | PlannedStep] = plan.steps or (plan,)
    for number, step in enumerate(steps, start=1):
        print_line(out, f"step {number}  " if plan.steps else "", _headline(step))
        out.print(_layout(step.parameters))
        out.print(f"parameter buffer: {step.parameter_bytes} bytes")
        _show_memory(step.memory, out)


def _layout(parameters: Sequence[LayoutRow]) -> Table:
    rows = FittingTable("offset", "size", "align", "padding", "name", "type", "value")
    for row in parameters:
        about = row.name, row.type, row.value
        rows.add_row(row.offset, row.size, row.alignment, row.padding_before or "", *about)
    return rows


def _show_memory(memory: Sequence[MemoryRow], out: Console) -> None:
    """Print variables of the image and buffers that are not arguments, if a launch uses any."""
    if not memory:
        return
    rows = FittingTable("memory", "space", "size", "type", "value")
    for row in memory:
        rows.add_row(row.name, row.space, row.nbytes, row.type, row.value or "")
    out.print(rows)


def _headline(launch: KernelLaunch) -> Text:
    total = math.prod(launch.grid) * math.prod(launch.block)
    line = Text.assemble(
        (launch.demangled, "bold"),
        f"  grid {extent_text(launch.grid)} × block {extent_text(launch.block)} = ",
        f"{total} thread{'s' * (total != 1)}",
    )
    if launch.threads is not None and math.prod(launch.threads) != total:
        line.append(f" ({extent_text(launch.threads)} requested)")
    line.append(f"  shared {launch.shared_bytes} B" if launch.shared_bytes else "")
    line.append(f"  cluster {extent_text(launch.cluster)}" if launch.cluster else "")
    return line.append("  cooperative" if launch.cooperative else "")


def _show_result(result: LaunchResult, out: Console, style: TableStyle) -> None:
    if result.steps:
        count = len(result.steps)
        for number, step in enumerate(result.steps, start=1):
            if not style.quiet:
                number_text, on = (f"step {number}  ", "") if count > 1 else ("", _on(result))
                times = f"  {step.times} times" if step.times > 1 else ""
                time = "" if step.milliseconds is None else f"  {step.milliseconds:.3f} ms"
                print_line(out, number_text, _headline(step), times, on, time)
            if style.verbose:
                out.print(_layout(step.parameters))
                _show_memory(step.memory, out)
        if count > 1 and not style.quiet:
            print_line(out, f"{count} steps{_on(result)}  {result.milliseconds:.3f} ms")
    elif not style.quiet:
        print_line(out, _headline(result), _on(result), f"  {result.milliseconds:.3f} ms")
    if not style.quiet:
        # The counts of --stats are those of the interpreter.
        is_explained = result.milliseconds > _LONG or result.statistics is not None
        show_engines(result.engines, out, interpreted=is_explained, verbose=style.verbose)
        for each in result.predictions:
            if each.error is None:
                blocks = each.occupancy.blocks if each.occupancy else 0
                resident = f" ({blocks} blocks per multiprocessor)" if blocks else ""
                print_line(out, f"{each.demangled} launches on {each.gpu}, by its limits{resident}")
    if style.verbose and not result.steps:
        out.print(_layout(result.parameters))
        _show_memory(result.memory, out)
    show_asked(result, out)
    if result.watched is not None:
        others = () if result.schedules is None else result.schedules.runs
        show_watched(result.watched, out, schedules=1 + len(others))
    for buffer in result.buffers:
        _show_buffer(buffer, out)
    for check, claim in _checks(result):
        _show_check(check, out, claim)
    _show_runs(result, out)
    if (weak := weak_checks(result)) and (result.weak_is_failure or not style.quiet):
        print_line(out, FAILED if result.weak_is_failure else NOTE, weak)
    for note in (own_reference(result), changed_variables(result)):
        if note is not None and not style.quiet:
            print_line(out, NOTE, note)


def _on(result: LaunchResult) -> str:
    return f"  on {result.device.label} ({result.device.name})"


def show_asked(result: LaunchResult, out: Console) -> None:
    """Print the requested outputs of a launch that came back: times, values, figures, files."""
    if result.timing is not None:
        show_timing(result.timing, out)
    if result.baseline is not None:
        show_speed(result.baseline, out, passed=result.passed)
    for printed in result.prints:
        after = "" if printed.step is None else f"after step {printed.step}: "
        first, *rows = printed.text.split("\n")
        for line in (f"{after}{printed.expression} = {first}", *rows):
            print_line(out, line)
    for figure in result.figures:
        show_figure(figure, out)
    for saved in result.saved:
        print_line(out, f"saved {saved.name} to {saved.path}, {saved.nbytes} bytes")


def show_failures(result: LaunchResult, out: Console) -> None:
    """Print only the failures of a launch that came back."""
    show_findings(result.findings, out)
    for buffer in result.buffers:
        if buffer.guard_damage is not None:
            _show_buffer(buffer, out)
    for check, claim in _checks(result):
        if not check.passed:
            _show_check(check, out, claim)
    if any(run.failures for run in (*result.runs, *result.input_sets)):
        _show_runs(result, out)
    if result.weak_is_failure and (weak := weak_checks(result)):
        print_line(out, FAILED, weak)


def _checks(result: LaunchResult) -> Iterator[tuple[CheckResult, str]]:
    """Yield checks and comparisons, each with a text after its expression."""
    wrong = next((run for run in (*result.runs, *result.input_sets) if run.failures), None)
    of_run = "" if wrong is None else f" with seed {wrong.seed}"
    if result.schedules is not None and result.schedules.failed:
        of_run = f" with --schedule {result.schedules.failed[0].schedule}"
    for check in result.checks:
        yield check, ("" if check.step is None else f" after step {check.step}") + of_run
    for comparison, claim in result.comparisons:
        yield comparison, f" {claim}"


def _show_check(check: CheckResult, out: Console, claim: str = "") -> None:
    """Print a check, and below a failed one its mismatches."""
    remarks = [f"rtol {check.rtol:g}, atol {check.atol:g}"] if check.rtol or check.atol else []
    if check.evaluated and not check.elements:
        remarks.append("0 elements")
    verdict: Part = PASSED if check.passed else FAILED
    if not check.evaluated:
        verdict = "not evaluated ", "yellow"
    shown = f"  ({', '.join(remarks)})" if remarks else ""
    print_line(out, verdict, check.expression + claim, (shown, "dim"))
    for text in failure_lines(check):
        print_line(out, f"  {text}")
    note = nan_note(check)
    if note is not None:
        print_line(out, ("  note ", "yellow"), note)


def _show_runs(result: LaunchResult, out: Console) -> None:
    """Print how many of several runs passed."""
    for what, runs in (("runs", result.runs), ("input sets", result.input_sets)):
        wrong = [run.seed for run in runs if run.failures]
        if wrong:
            named = ", ".join(map(str, wrong[:_NAMED_SEEDS]))
            more = f" and {len(wrong) - _NAMED_SEEDS} more" if len(wrong) > _NAMED_SEEDS else ""
            seeds = f"seed{'s' * (len(wrong) > 1)} {named}{more}"
            print_line(out, FAILED, f"{len(wrong)} of {len(runs)} {what}: {seeds}")
        elif runs:
            seeds = f"seeds {runs[0].seed} to {runs[-1].seed}"
            print_line(out, PASSED, f"{len(runs)} {what}: {seeds}")
    if result.schedules is not None:
        count, failed = len(result.schedules.runs), result.schedules.failed
        schedules = f"{count} schedule{'s' * (count > 1)}"
        if failed:
            first = f"--schedule {failed[0].schedule} repeats the first one"
            print_line(out, FAILED, f"{len(failed)} of {schedules}: {first}")
        else:
            seeds = {1: "", 2: " and seed 0"}.get(count, f" and seeds 0 to {count - 2}")
            print_line(out, PASSED, f"{schedules}: late{seeds}")


def _show_buffer(buffer: BufferResult, out: Console) -> None:
    unwritten = never_written(buffer)
    if unwritten is not None:
        print_line(out, NOTE, unwritten)
    if buffer.guard_damage is not None:
        damage, count = buffer.guard_damage, math.prod(buffer.shape)
        past = damage - buffer.nbytes
        where = f"{-damage} bytes before its start" if damage < 0 else f"{past} bytes past its end"
        element = f": element {damage // (buffer.nbytes // count)} of {count}" if count else ""
        print_line(out, FAILED, f"{buffer.name}: memory was written {where}{element}")


# --- engines of an emulated device ---------------------------------------------------------------


_LONG = 5000  # milliseconds from which on a user wants to know why a launch takes so long


def show_engines_of_case(case: CaseReport, out: Console) -> None:
    """Print the engines of a case of a spec below its line."""
    found = case.result or case.error
    for each in found.engines if found is not None else ():
        print_line(out, "  ", _engine(each))


def show_engines(
    engines: Sequence[KernelEngine], out: Console, *, interpreted: bool, verbose: bool
) -> None:
    """Print the engines that the user has selected.

    Args:
        interpreted: Print kernels that are interpreted by default, too.
    """
    for each in engines:
        if verbose or (interpreted and each.engine == "interpret") or not each.is_default:
            print_line(out, _engine(each))


def _engine(each: KernelEngine) -> Part:
    engine = "compiled" if each.engine == "compile" else "interpreted"
    some = "" if each.reason is None else f": {each.reason}"
    return f"{each.demangled}: {engine}{some}", "dim"
