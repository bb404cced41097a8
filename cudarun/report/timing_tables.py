"""The table of ``--repeat``."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cudarun.model.runs import BaselineResult, TimingResult
from cudarun.report.console import NOTE, FittingTable, print_line

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
            out.print(Text(f"{rate:.4g} {unit} (median)"))
    for doubt in _doubts(timing):
        print_line(out, NOTE, doubt)


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


def _doubts(timing: TimingResult) -> list[str]:
    doubts = []
    if timing.rates_left_out:
        doubts.append("GB/s and GFLOP/s are not reported: emulated time is not GPU time")
    if timing.noisy:
        share = timing.deviation / timing.mean
        doubts.append(
            f"noisy: the standard deviation is {share:.0%} of the mean; another process may be "
            "using the device"
        )
    if timing.throttled:
        doubts.append(f"the GPU's clocks were throttled: {', '.join(timing.throttled)}")
    return doubts
