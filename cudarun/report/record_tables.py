"""The tables of ``record``."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from cudarun.model.record import LaunchListing, RecordedFile, RecordReport
from cudarun.report.console import FittingTable
from cudarun.report.errors import show_error
from cudarun.report.renderer import TableStyle
from cudarun.report.terminal import shown


def show_listing(report: LaunchListing, out: Console, _: TableStyle) -> None:
    """Print a row for each kernel and geometry."""
    for note in report.notes:
        click.echo(shown(f"note: {note}", sys.stderr), err=True)
    if not report.launches:
        out.print("no launches")
        return
    rows = FittingTable("launches", "ms", "grid", "block", "shared", "kernel")
    for each in report.launches:
        is_unknown = each.in_graph and not each.measured
        milliseconds = "graph" if is_unknown else f"{each.milliseconds:.3f}"
        geometry = _extent(each.grid), _extent(each.block), each.shared_bytes
        rows.add_row(each.launches, milliseconds, *geometry, each.name)
    out.print(rows)


def show_recordings(report: RecordReport, _: Console, style: TableStyle) -> None:
    """Print a line for each file on stderr: stdout is the program's."""
    for each in report.notes:
        click.echo(shown(f"note: {each}", sys.stderr), err=True)
    for file in () if style.quiet else report.files:
        click.echo(shown(_line(file), sys.stderr), err=True)
    if report.error is not None:
        show_error(report.error)


def _line(file: RecordedFile) -> str:
    facts = [
        f"launch {file.ordinal}",
        f"grid {_extent(file.grid)}",
        f"block {_extent(file.block)}",
        f"{_size(file.memory_bytes)} of memory in {file.ranges} range{'s' * (file.ranges != 1)}",
        f"file of {_size(file.file_bytes)}",
    ]
    if not file.has_ptx:
        facts.append("no PTX: GPUs only")
    if file.status is None:
        facts.append("did not end")
    elif file.status:
        facts.append(f"failed with {file.status}")
    return f"recorded {file.path}: {file.demangled}, {', '.join(facts)}"


def _extent(extent: tuple[int, ...]) -> str:
    x, y, z = extent
    return f"{x},{y},{z}" if z > 1 else f"{x},{y}" if y > 1 else str(x)


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    for factor, unit in ((1 << 10, "KiB"), (1 << 20, "MiB")):
        if count < 999.5 * factor:  # from 999.5 on, three digits have an exponent
            return f"{count / factor:.3g} {unit}"
    return f"{count / (1 << 30):.3g} GiB"
