"""``cudarun devices``: which devices there are."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from cudarun.commands.options import (
    context_options,
    device_options,
    output_options,
    target,
    watch,
)
from cudarun.errors import ExitCode, RequestError
from cudarun.report.json import document
from cudarun.session.devices.parent import list_devices


@click.command("devices")
@click.option("--attributes", is_flag=True, help="Show every attribute of each device, too.")
@click.option(
    "--doctor",
    is_flag=True,
    help="Say what keeps this machine's GPUs from working, and how to mend it.",
)
@device_options(default="all")
@context_options
@output_options
def command(attributes: bool, doctor: bool, as_json: bool, quiet: bool, **values: Any) -> int:
    """List GPUs, or emulated devices with -d cpu:all.

    --doctor looks at the whole machine, also where there is no driver: the exit code is 3 when
    something keeps GPUs from working.

    \b
    cudarun devices
    cudarun devices -d cpu --json
    cudarun devices --doctor
    """
    where = target(values, capture=as_json)
    if doctor:
        return _doctor(where.timeout, attributes=attributes, as_json=as_json, quiet=quiet)
    report = list_devices(where, watch(where, quiet=quiet), attributes=attributes)
    if as_json:
        click.echo(document("devices", report))
    elif quiet and not attributes:
        click.echo("\n".join(device.uuid for device in report.devices))
    else:
        from cudarun.report.tables import console, show_devices

        show_devices(report, console(click.get_current_context().color), quiet=quiet)
    return ExitCode.OK


def _doctor(timeout: float | None, *, attributes: bool, as_json: bool, quiet: bool) -> int:
    from cudarun.session.devices.doctor import examine_machine

    context = click.get_current_context()
    given = context.get_parameter_source("devices") is ParameterSource.COMMANDLINE
    if given or attributes:
        option = "--device" if given else "--attributes"
        raise RequestError("--doctor looks at the whole machine", option=option)
    report = examine_machine(timeout)
    if as_json:
        click.echo(document("devices-doctor", report, report.exit_code))
        return report.exit_code
    from cudarun.report.doctor import show_doctor
    from cudarun.report.tables import console

    show_doctor(report, console(context.color), quiet=quiet)
    return report.exit_code
