"""``cudarun devices``: which devices there are."""

from __future__ import annotations

from typing import Any

import click

from cudarun.commands.options import (
    context_options,
    device_options,
    output_options,
    target,
    watch,
)
from cudarun.errors import ExitCode
from cudarun.report.json import document
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
    where = target(values, capture=as_json)
    report = list_devices(where, watch(where, quiet=quiet))
    if as_json:
        click.echo(document("devices", report))
    elif quiet:
        click.echo("\n".join(device.uuid for device in report.devices))
    else:
        from cudarun.report.tables import console, show_devices

        show_devices(report, console(click.get_current_context().color))
    return ExitCode.OK
