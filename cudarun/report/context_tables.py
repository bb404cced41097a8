"""The tables of ``ctx``."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from cudarun.model.contexts import (
    ContextInfo,
    ContextsReport,
    FactReport,
    FactVerdict,
    ScriptReport,
    StackEntry,
    StepReport,
    VerifyReport,
)
from cudarun.report.console import table
from cudarun.report.errors import show_error

_MARKS = {
    "ok": (" ", ""),
    "passed": ("✓", "green"),
    "error": ("!", "red bold"),
    "failed": ("✗", "red bold"),
    "not supported": ("–", "yellow"),
    "not run": ("!", "red bold"),
}
_VERDICTS: dict[FactVerdict, str] = {
    "passed": "green",
    "failed": "red bold",
    "not supported": "yellow",
}
_RESULT_WIDTH = 36  # CONTEXT_IS_DESTROYED (709) and a value beside most others


# --- ctx run -------------------------------------------------------------------------------------


class StepLines:
    """The lines of steps, each as soon as it is done: mark, step, result, value, stacks.

    Args:
        out: The console.
        width: Characters of the longest step.
        quiet: Leave out the steps that passed.
        times: Show the time of each call.
    """

    def __init__(self, out: Console, width: int, *, quiet: bool, times: bool) -> None:
        self._out = out
        self._width = width
        self._quiet = quiet
        self._times = times

    def show(self, step: StepReport) -> None:
        """Write the line of a step."""
        if self._quiet and step.exit_code == 0:
            return
        mark, style = _MARKS[step.verdict]
        line = Text(f"{step.number:3} ").append(mark, style=style)
        line.append(f" {step.text:{self._width}}  ")
        line.append(f"{_result(step):{_RESULT_WIDTH - 2}}  ", style=style if step.exit_code else "")
        if self._times:
            spent = "" if step.milliseconds is None else f"{step.milliseconds:.3f} ms"
            line.append(f"{spent:>12}  ", style="dim")
        line.append(_stacks(step))
        line.rstrip()
        self._out.print(line, soft_wrap=True)
        for remark in (step.reason or "").splitlines():
            self._out.print(Text(f"      | {remark}"), soft_wrap=True)
        self._out.file.flush()  # a kernel's printf writes beside us


def show_end(report: ScriptReport, out: Console) -> None:
    """Print the number of steps that did not pass, and the error."""
    bad = [
        f"{count} {words}"
        for verdict, words in (
            ("failed", "failed"),
            ("error", "error"),
            ("not run", "not run"),
            ("not supported", "not supported"),
        )
        if (count := sum(step.verdict == verdict for step in report.steps))
    ]
    if bad:
        out.print(Text(f"{len(report.steps)} steps: {', '.join(bad)}"), soft_wrap=True)
    if report.error is not None:
        out.file.flush()
        show_error(report.error)


def _result(step: StepReport) -> str:
    if step.verdict in ("not supported", "not run") or not step.result:
        return step.verdict if step.verdict != "ok" else ""
    result = step.result.removeprefix("CUDA_ERROR_").removeprefix("CUDA_")
    code = f" ({step.code})" if step.code else ""
    value = f"  {step.value}" if step.value is not None else ""
    return f"{result}{code}{value}"


def _stacks(step: StepReport) -> Text:
    """Return ``main [B A]  t1 []  floating C``."""
    parts = []
    for stack in step.stacks:
        inside = Text(" ").join(map(_entry, stack.contexts))
        parts.append(Text.assemble((f"{stack.thread} ", "dim"), "[", inside, "]"))
    if step.floating:
        parts.append(Text.assemble(("floating ", "dim"), " ".join(step.floating)))
    return Text("  ").join(parts)


def _entry(entry: StackEntry) -> Text:
    return Text(entry.name) if entry.alive else Text(f"{entry.name}†", style="red")


# --- ctx verify ----------------------------------------------------------------------------------


def show_verify(report: VerifyReport, out: Console, *, quiet: bool) -> None:
    """Print a row per fact and a column per device, then the failed and the unsupported ones."""
    if not quiet:
        rows = table("fact", *report.devices, "description")
        for fact in report.facts:
            verdicts = (Text(o.verdict, style=_VERDICTS[o.verdict]) for o in fact.outcomes)
            rows.add_row(fact.name, *verdicts, Text(fact.sentence))
        out.print(rows)
    if not quiet:
        _show_remarks(report, out, "passed")
    _show_remarks(report, out, "not supported")
    for fact in report.facts:
        _show_failure(fact, out)
    counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in _VERDICTS)
    out.print(Text(counts), soft_wrap=True)


def _show_remarks(report: VerifyReport, out: Console, verdict: FactVerdict) -> None:
    """Print the reasons of a verdict, each once with the facts that it is about."""
    remarks: dict[str, list[str]] = {}
    for fact in report.facts:
        for outcome in fact.outcomes:
            if outcome.verdict == verdict and outcome.reason:
                remarks.setdefault(outcome.reason, []).append(f"{fact.name} ({outcome.device})")
    for remark, facts in remarks.items():
        out.print(Text(f"{verdict}: ", style=_VERDICTS[verdict]) + Text(remark), soft_wrap=True)
        out.print(Text(f"  {', '.join(facts)}"), soft_wrap=True)


def _show_failure(fact: FactReport, out: Console) -> None:
    """Print every step of a failed fact."""
    for outcome in fact.outcomes:
        if outcome.verdict != "failed":
            continue
        head = Text("failed: ", style="red bold") + Text(f"{fact.name} on {outcome.device}")
        out.print(head + Text(f": {outcome.reason}"), soft_wrap=True)
        if fact.note:
            out.print(Text(f"  note: {fact.note}"), soft_wrap=True)
        lines = StepLines(
            out, width_of(step.text for step in outcome.steps), quiet=False, times=False
        )
        for step in outcome.steps:
            lines.show(step)


def show_facts(report: VerifyReport, out: Console) -> None:
    """Print facts by name and sentence."""
    rows = table("fact", "description")
    for fact in report.facts:
        rows.add_row(fact.name, Text(fact.sentence))
    out.print(rows)


def width_of(texts: Iterable[str]) -> int:
    """Return the width of a column of texts."""
    return max(map(len, texts), default=0)


# --- ctx show ------------------------------------------------------------------------------------


def show_contexts(report: ContextsReport, out: Console) -> None:
    """Print the contexts of devices, a column per device."""
    infos = [outcome.info for outcome in report.outcomes if outcome.info is not None]
    if infos:
        rows = table("", *(info.device for info in infos))
        columns = [_properties(info) for info in infos]
        for label in columns[0]:
            rows.add_row(Text(label, style="dim"), *(column[label] for column in columns))
        out.print(rows)
    for outcome in report.outcomes:
        if outcome.error is not None:
            out.file.flush()
            show_error(outcome.error)


def _properties(info: ContextInfo) -> dict[str, str]:
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
        **{f"limit {name}": _amount(value) for name, value in info.limits.items()},
        "cache preference": info.cache_config,
        "stream priorities": f"{least} to {greatest}",
        "creation time": f"{info.milliseconds:.2f} ms",
        "another context": f"{info.another_milliseconds:.2f} ms, "
        f"{info.another_bytes / 2**20:.1f} MiB",
    }


def _amount(value: int | None) -> str:
    return "not supported" if value is None else str(value)
