"""The tables of ``ctx``."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cudarun.model import contexts
from cudarun.report.console import FittingTable, print_line
from cudarun.report.errors import show_error
from cudarun.report.renderer import LiveTable, TableStyle

_MARKS = {
    "ok": (" ", ""),
    "passed": ("✓", "green"),
    "error": ("!", "red bold"),
    "failed": ("✗", "red bold"),
    "not supported": ("–", "yellow"),
    "not run": ("!", "red bold"),
}
_VERDICTS: dict[contexts.FactVerdict, str] = {
    "passed": "green",
    "failed": "red bold",
    "not supported": "yellow",
}
_RESULT_WIDTH = 36  # CONTEXT_IS_DESTROYED (709) and a value beside most others


# --- ctx run -------------------------------------------------------------------------------------


class StepTable(LiveTable):
    """The lines of steps, each as soon as it is done: mark, step, result, value, stacks."""

    def add(self, step: contexts.StepReport) -> None:
        """Write the line of a step."""
        if self._style.quiet and step.exit_code == 0:
            return
        mark, style = _MARKS[step.verdict]
        line = Text(f"{step.number:3} ").append(mark, style=style)
        line.append(f" {step.text:{self._width}}  ")
        line.append(f"{_result(step):{_RESULT_WIDTH - 2}}  ", style=style if step.exit_code else "")
        if self._style.times:
            spent = "" if step.milliseconds is None else f"{step.milliseconds:.3f} ms"
            line.append(f"{spent:>12}  ", style="dim")
        parts = []
        for stack in step.stacks:
            names = (
                (each.name, "") if each.alive else (f"{each.name}†", "red")
                for each in stack.contexts
            )
            inside = Text(" ").join(Text(*each) for each in names)
            parts.append(Text.assemble((f"{stack.thread} ", "dim"), "[", inside, "]"))
        if step.floating:
            parts.append(Text.assemble(("floating ", "dim"), " ".join(step.floating)))
        line.append(Text("  ").join(parts))
        line.rstrip()
        print_line(self._out, line)
        for remark in (step.reason or "").splitlines():
            print_line(self._out, f"      | {remark}")
        self._out.file.flush()  # a kernel's printf writes beside us

    def end(self, report: contexts.ScriptReport) -> None:
        """Print the number of steps that did not pass, and the error."""
        verdicts = [step.verdict for step in report.steps]
        bad = [
            f"{count} {verdict}"
            for verdict in ("failed", "error", "not run", "not supported")
            if (count := verdicts.count(verdict))
        ]
        if bad:
            print_line(self._out, f"{len(verdicts)} steps: {', '.join(bad)}")
        if report.error is not None:
            self._out.file.flush()
            show_error(report.error)


def _result(step: contexts.StepReport) -> str:
    if step.verdict in ("not supported", "not run") or not step.result:
        return step.verdict if step.verdict != "ok" else ""
    result = step.result.removeprefix("CUDA_ERROR_").removeprefix("CUDA_")
    code = f" ({step.code})" if step.code else ""
    value = f"  {step.value}" if step.value is not None else ""
    return f"{result}{code}{value}"


# --- ctx verify ----------------------------------------------------------------------------------


def show_verify(report: contexts.VerifyReport, out: Console, style: TableStyle) -> None:
    """Print a row per fact and a column per device, then the failed and the unsupported ones."""
    if not style.quiet or not report.devices:
        rows = FittingTable("fact", *report.devices, "description")
        for fact in report.facts:
            verdicts = (Text(o.verdict, style=_VERDICTS[o.verdict]) for o in fact.outcomes)
            rows.add_row(fact.name, *verdicts, fact.sentence)
        out.print(rows)
    if not report.devices:  # a list of the facts
        return
    if not style.quiet:
        _show_remarks(report, out, "passed")
    _show_remarks(report, out, "not supported")
    tried = [(each, outcome) for each in report.facts for outcome in each.outcomes]
    for fact, outcome in tried:
        if outcome.verdict == "failed":
            failure = f"{fact.name} on {outcome.device}: {outcome.reason}"
            print_line(out, ("failed: ", "red bold"), failure)
            if fact.note:
                print_line(out, f"  note: {fact.note}")
            lines = StepTable(out, [step.text for step in outcome.steps], TableStyle())
            for step in outcome.steps:
                lines.add(step)
    print_line(out, ", ".join(f"{report.count(verdict)} {verdict}" for verdict in _VERDICTS))


def _show_remarks(
    report: contexts.VerifyReport, out: Console, verdict: contexts.FactVerdict
) -> None:
    """Print the reasons of a verdict, each once with the facts that it is about."""
    remarks: dict[str, list[str]] = {}
    for fact in report.facts:
        for outcome in fact.outcomes:
            if outcome.verdict == verdict and outcome.reason:
                remarks.setdefault(outcome.reason, []).append(f"{fact.name} ({outcome.device})")
    for remark, facts in remarks.items():
        print_line(out, (f"{verdict}: ", _VERDICTS[verdict]), remark)
        print_line(out, f"  {', '.join(facts)}")


# --- ctx show ------------------------------------------------------------------------------------


def show_contexts(report: contexts.ContextsReport, out: Console, _: TableStyle) -> None:
    """Print the contexts of devices, a column per device."""
    infos = [outcome.info for outcome in report.outcomes if outcome.info is not None]
    if infos:
        rows = FittingTable("", *(info.device for info in infos))
        columns = [_properties(info) for info in infos]
        for label in columns[0]:
            rows.add_row(Text(label, style="dim"), *(column[label] for column in columns))
        out.print(rows)
    for outcome in report.outcomes:
        if outcome.error is not None:
            out.file.flush()
            show_error(outcome.error)


def _properties(info: contexts.ContextInfo) -> dict[str, str]:
    made = "its primary context" if info.made == "primary" else "a new context"
    least, greatest = info.stream_priorities
    return {
        "name": info.name,
        "primary context before": "active" if info.primary_active else "inactive",
        "its flags": ", ".join(info.primary_flags),
        "current context before": "one" if info.current_before else "none",
        "made current": made,
        "flags": ", ".join(info.flags),
        "API version": str(info.api_version),
        **{
            f"limit {name}": "not supported" if value is None else str(value)
            for name, value in info.limits.items()
        },
        "cache preference": info.cache_config,
        "stream priorities": f"{least} to {greatest}",
        "creation time": f"{info.milliseconds:.2f} ms",
        "another context": f"{info.another_milliseconds:.2f} ms, "
        f"{info.another_bytes / 2**20:.1f} MiB",
    }
