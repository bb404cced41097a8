"""The tables of ``--repeat`` and of ``compare``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cudarun.model.compare import ComparedCase, ComparisonReport
from cudarun.model.runs import BaselineResult, TimingResult
from cudarun.report.console import NOTE, FittingTable, print_line
from cudarun.report.renderer import TableStyle

_WIDE = 90  # in which all figures stand beside each other


def show_timing(timing: TimingResult, out: Console) -> None:
    """Print the times in a table, then the rates, then reasons to doubt them."""
    runs = len(timing.samples)
    flushed = f", L2 flushed by {timing.flushed_bytes >> 20} MiB" if timing.flushed_bytes else ""
    print_line(out, f"{runs} runs after {timing.warmup}, {timing.clock}{flushed}")
    figures = {
        "min": timing.minimum,
        "median": timing.median,
        "mean": timing.mean,
        "deviation": timing.deviation,
    }
    percentiles = {f"p{percent}": value for percent, value in timing.percentiles.items()}
    narrow = out.width < _WIDE
    for row in (figures, percentiles) if narrow else (figures | percentiles,):
        rows = FittingTable(*row)
        for column in rows.columns:
            column.justify = "right"
        rows.add_row(*(duration(value) for value in row.values()))
        out.print(rows)
    for rate, unit in (
        (timing.gigabytes_per_second, "GB/s"),
        (timing.gigaflops_per_second, "GFLOP/s"),
    ):
        if rate is not None:
            # Four digits without an exponent: 61230 GFLOP/s.
            out.print(Text(f"{float(f'{rate:.4g}'):.15g} {unit} (median)"))
    if timing.rates_left_out:
        what = "GB/s and GFLOP/s are not reported: emulated time is not GPU time"
        print_line(out, NOTE, what)
    if timing.noisy:
        share = timing.deviation / timing.mean
        what = f"noisy: the standard deviation is {share:.0%} of the mean"
        print_line(out, NOTE, f"{what}; another process may be using the device")
    if timing.throttled:
        reasons = ", ".join(timing.throttled)
        print_line(out, NOTE, f"the GPU's clocks were throttled: {reasons}")


def show_speed(baseline: BaselineResult, out: Console, *, passed: bool) -> None:
    """Print how the times compare with those of the baseline, if there are any and both passed."""
    speed, timing = baseline.speed, baseline.timing
    if timing is None:
        return
    runs = f"{len(timing.samples)} runs, median {duration(timing.median)}"
    if speed is None:
        reason = "emulated time is not GPU time" if passed else "the launch failed"
        line = f"baseline {baseline.kernel}: {runs}; no speed-up: {reason}"
        print_line(out, line)
        return
    if speed.is_significant:
        faster = speed.ratio >= 1
        ratio = speed.ratio if faster else 1 / speed.ratio
        line = f"{ratio:.3g} × {'faster' if faster else 'slower'} than {baseline.kernel}"
    else:
        line = f"no significant difference from {baseline.kernel}: {speed.ratio:.3g} × its speed"
    if speed.low is None or speed.high is None:
        how_sure = "too few runs for an interval"
    else:
        low, high = speed.low, speed.high
        if speed.is_significant and speed.ratio < 1:
            low, high = 1 / high, 1 / low
        how_sure = f"{100 * speed.confidence:g} % interval {low:.3g} to {high:.3g}"
    line += f"  ({how_sure}; baseline: {runs})"
    print_line(out, line)


def duration(milliseconds: float) -> str:
    """Return a time with four digits and a suitable unit: ``1.234 ms`` or ``12.34 µs``."""
    if milliseconds < 1:
        return f"{milliseconds * 1000:.4g} µs"
    if milliseconds < 1000:
        return f"{milliseconds:.4g} ms"
    return f"{milliseconds / 1000:.4g} s"


# --- compare -------------------------------------------------------------------------------------


_STYLES = {"faster": "green", "slower": "red bold", "no difference": "dim"}
COLUMNS = ("case", "device", "old", "new", "new/old", "95 % interval", "runs", "result")


def show_comparison(report: ComparisonReport, out: Console, style: TableStyle) -> None:
    """Print a row for each case, cases in one file only, and the totals."""
    chosen = [case for case in report.cases if case.verdict == "slower" or not style.quiet]
    if chosen:
        rows = FittingTable(*COLUMNS)
        for case in chosen:
            *texts, verdict = cells(case)
            rows.add_row(*texts, Text(verdict, style=_STYLES[case.verdict]))
        out.print(rows)
    for line in (*notes(report), totals(report)):
        print_line(out, line)


def cells(case: ComparedCase) -> Sequence[str]:
    """Return the cells of a case, in the order of `COLUMNS`."""
    runs = " and ".join(map(str, dict.fromkeys(case.runs)))
    interval = "too few runs"
    if case.low is not None and case.high is not None:
        interval = f"{case.low:.3f} to {case.high:.3f}"
    times = duration(case.old), duration(case.new)
    return case.case, case.device, *times, f"{case.ratio:.3f}", interval, runs, case.verdict


def notes(report: ComparisonReport) -> list[str]:
    """Return a line for each case of different work, and for each that is in one file only."""
    different = [
        f"note: {case.case} is not the same launch: {', '.join(case.differences)}"
        for case in report.cases
        if case.differences
    ]
    return different + [f"only in {each.file}: {each.case}" for each in report.missing]


def totals(report: ComparisonReport) -> str:
    """Return the number of cases by result."""
    verdicts = [case.verdict for case in report.cases]
    slower, faster = verdicts.count("slower"), verdicts.count("faster")
    rest = len(verdicts) - slower - faster
    return (
        f"{slower} slower, {faster} faster, {rest} without a difference "
        f"(threshold {100 * report.threshold:g} %)"
    )
