"""The renderer for people: tables and lines on stdout, errors and warnings on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from cudarun.base.terminal import visible
from cudarun.report.progress import TO_START_AND_CLEAR
from cudarun.report.renderer import LiveTable, Renderer, TableStyle

# rich and the tables are imported with the report: they would delay the start of the work.
if TYPE_CHECKING:
    from rich.console import Console

    from cudarun.model.report import Part, Report

    Show: TypeAlias = Callable[[Any, Console, TableStyle], None]

_TABLES = {
    "compare": "timing_tables.show_comparison",
    "ctx-show": "context_tables.show_contexts",
    "ctx-verify": "context_tables.show_verify",
    "devices": "device_tables.show_devices",
    "devices-doctor": "device_tables.show_doctor",
    "exec": "exec_tables.show_execution",
    "judge": "judge_tables.show_judgement",
    "launch": "launch_tables.show_launch",
    "launch-plan": "launch_tables.show_plan",
    "launch-spec-list": "spec_tables.show_cases",
    "link": "image_tables.show_link",
    "load": "image_tables.show_load",
    "load-offline": "image_tables.show_offline",
    "managed": "managed_tables.show_managed",
    "record": "record_tables.show_recordings",
    "record-list": "record_tables.show_listing",
}
"""The function of this package that shows a report, by the report's tag: a `Show`."""

_LIVE_TABLES = {
    "case": "spec_tables.SpecTable",
    "launch-spec": "spec_tables.SpecTable",
    "step": "context_tables.StepTable",
    "ctx-run": "context_tables.StepTable",
    "fleet-host": "fleet_tables.FleetTable",
    "fleet": "fleet_tables.FleetTable",
}
"""The class of tables whose parts are shown one by one, by the tags of parts and reports."""


class TableRenderer(Renderer):
    """Tables for people."""

    streams = True

    def __init__(self, style: TableStyle) -> None:
        self._style = style
        self._labels: list[str] = []
        self._live: LiveTable | None = None

    def prepare(self) -> None:
        """Import rich and the tables of a launch, and make the console."""
        import cudarun.report.launch_tables  # noqa: F401

        _ = self._out

    def begin(self, labels: Iterable[str]) -> None:
        """Align the columns to the longest label."""
        self._labels = [*labels]

    def progress(self, text: str) -> None:
        """Show a line on a terminal's stderr that the next one replaces."""
        if not self._style.quiet and sys.stderr.isatty():
            click.echo(f"{TO_START_AND_CLEAR}{visible(text)}", nl=False, err=True)

    def add(self, part: Part) -> None:
        """Write the line of a case, a step or a host."""
        self._live_table(part.tag).add(part)

    def end(self, report: Report) -> None:
        """Write the tables; of a report whose parts were added, the totals."""
        if report.tag == "devices" and self._style.quiet and not report.attributes:
            click.echo("\n".join(device.uuid for device in report.devices))  # without rich
        elif report.tag in _LIVE_TABLES:
            self._live_table(report.tag).end(report)
        elif report.tag in _TABLES:
            show: Show = imported(_TABLES[report.tag])
            show(report, self._out, self._style)

    @cached_property
    def _out(self) -> Console:
        from cudarun.report.console import console

        return console(self._style.color)

    def _live_table(self, tag: str) -> LiveTable:
        if self._live is None:
            self._live = imported(_LIVE_TABLES[tag])(self._out, self._labels, self._style)
        return self._live


def imported(name: str) -> Any:
    """Return a member of a module of this package, by the names of both."""
    module, _, member = name.partition(".")
    return getattr(import_module(f"cudarun.report.{module}"), member)
