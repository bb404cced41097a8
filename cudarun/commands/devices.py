"""``cudarun devices``: which devices there are."""

from __future__ import annotations

from typing import Any

import click

from cudarun.commands.options import context_options, device_options, output_options, target
from cudarun.errors import ExitCode
from cudarun.report.json import document, errors_as_json
from cudarun.session.inventory import list_devices


@click.command("devices")
@device_options(default="all")
@context_options
@output_options
def command(as_json: bool, quiet: bool, **values: Any) -> int:
    """List GPUs, or emulated devices with -d cpu:all.

    \b
    cudarun devices
    cudarun devices -d cpu --json
    """
    with errors_as_json("devices", wanted=as_json):
        report = list_devices(target(values, capture=as_json))
    if as_json:
        click.echo(document("devices", report))
    elif quiet:
        click.echo("\n".join(device.uuid for device in report.devices))
    else:
        from cudarun.report.tables import console, show_devices

        show_devices(report, console(click.get_current_context().color))
    return ExitCode.OK
