"""The renderer for people: tables and lines on stdout, errors and warnings on stderr."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

import click

from cudarun.report.renderer import Renderer
from cudarun.terminal import visible

# rich and the tables are imported with the report: they would delay the start of the work.
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from cudarun.model.report import Part, Report
    from cudarun.report.context_tables import StepLines
    from cudarun.report.fleet_tables import FleetTable
    from cudarun.report.spec_tables import SpecTable

_TO_START_AND_CLEAR = "\r\x1b[K"


class TableRenderer(Renderer):
    """Tables for people.

    Args:
        color: Colored output; ``None`` decides by whether stdout is a terminal.
        quiet: Only what was asked for, and what is wrong.
        verbose: Parameters and compiler logs, too.
        seed: Whether to show the seed of random numbers.
        times: Whether to show the time of each step.
    """

    streams = True

    def __init__(
        self, color: bool | None, *, quiet: bool, verbose: bool, seed: bool, times: bool
    ) -> None:
        self._color = color
        self._quiet = quiet
        self._verbose = verbose
        self._seed = seed
        self._times = times
        self._labels: list[str] = []

    def prepare(self) -> None:
        """Import rich and the tables of a launch."""
        import cudarun.report.launch_tables  # noqa: F401

    def begin(self, labels: Iterable[str]) -> None:
        """Align the columns to the longest label."""
        self._labels = [*labels]

    def progress(self, text: str) -> None:
        """Show a line on a terminal's stderr that the next one replaces."""
        if not self._quiet and sys.stderr.isatty():
            click.echo(f"{_TO_START_AND_CLEAR}{visible(text)}", nl=False, err=True)

    def add(self, part: Part) -> None:
        """Write the line of a case or a step."""
        match part.tag:
            case "case":
                self._cases.add(part)
            case "step":
                self._steps.show(part)
            case "fleet-host":
                self._fleet.add(part)

    def end(self, report: Report) -> None:
        """Write the tables; of a report whose parts were added, the totals."""
        match report.tag:
            case "launch":
                from cudarun.report.launch_tables import show_launch

                show_launch(
                    report, self._out, quiet=self._quiet, verbose=self._verbose, seed=self._seed
                )
            case "launch-plan":
                from cudarun.report.launch_tables import show_plan

                show_plan(report, self._out)
            case "launch-spec":
                self._cases.end(report)
            case "launch-spec-list":
                from cudarun.report.spec_tables import show_cases

                show_cases(report, self._out, quiet=self._quiet)
            case "load":
                from cudarun.report.image_tables import show_load

                show_load(report, self._out, quiet=self._quiet, verbose=self._verbose)
            case "load-offline":
                from cudarun.report.image_tables import show_offline

                show_offline(report, self._out, quiet=self._quiet)
            case "link":
                from cudarun.report.image_tables import show_link

                show_link(report, self._out, quiet=self._quiet, verbose=self._verbose)
            case "managed":
                from cudarun.report.managed_tables import show_managed

                show_managed(report, self._out, quiet=self._quiet)
            case "ctx-show":
                from cudarun.report.context_tables import show_contexts

                show_contexts(report, self._out)
            case "ctx-run":
                from cudarun.report.context_tables import show_end

                show_end(report, self._out)
            case "ctx-verify":
                from cudarun.report.context_tables import show_facts, show_verify

                if report.devices:
                    show_verify(report, self._out, quiet=self._quiet)
                else:
                    show_facts(report, self._out)
            case "devices" if self._quiet and not report.attributes:
                click.echo("\n".join(device.uuid for device in report.devices))  # without rich
            case "devices":
                from cudarun.report.device_tables import show_devices

                show_devices(report, self._out, quiet=self._quiet)
            case "compare":
                from cudarun.report.compare_tables import show_comparison

                show_comparison(report, self._out, quiet=self._quiet)
            case "fleet":
                self._fleet.end(report)
            case "devices-doctor":
                from cudarun.report.device_tables import show_doctor

                show_doctor(report, self._out, quiet=self._quiet)
            case "record-list":
                from cudarun.report.record_tables import show_listing

                show_listing(report, self._out)
            case "record":
                from cudarun.report.record_tables import show_recordings

                show_recordings(report, quiet=self._quiet)

    @cached_property
    def _out(self) -> Console:
        from cudarun.report.console import console

        return console(self._color)

    @cached_property
    def _cases(self) -> SpecTable:
        from cudarun.report.spec_tables import SpecTable

        return SpecTable(self._out, quiet=self._quiet, verbose=self._verbose)

    @cached_property
    def _fleet(self) -> FleetTable:
        from cudarun.report.fleet_tables import FleetTable

        return FleetTable(self._out, self._labels, quiet=self._quiet)

    @cached_property
    def _steps(self) -> StepLines:
        from cudarun.report.context_tables import StepLines, width_of

        return StepLines(self._out, width_of(self._labels), quiet=self._quiet, times=self._times)
