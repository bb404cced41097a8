"""``cudarun devices``: the available devices, and the check of the machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from cudarun.base.errors import NoDevice, RequestError
from cudarun.commands.help import Command
from cudarun.commands.options import progress_display, target, target_options
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.session.devices.parent import list_devices
from cudarun.session.driver.selection import parse_devices


@click.command("devices", cls=Command)
@click.option("--attributes", is_flag=True, help="Also show all attributes of each device.")
@click.option(
    "--doctor",
    is_flag=True,
    help="Report problems that keep this machine's GPUs from working, and how to fix them.",
)
@target_options(default="all")
def command(attributes: bool, doctor: bool, quiet: bool, **values: Any) -> int:
    """List GPUs, or emulated devices with -d cpu:all.

    Without -d and without a GPU, list the emulated devices and the reason. -d all and --quiet
    require a GPU (exit code 3 without one).

    --doctor checks the whole machine, even without a driver. Exit code 3 if a problem keeps GPUs
    from working.

    \b
    cudarun devices
    cudarun devices -d cpu --json
    cudarun devices --doctor
    """
    renderer, context = chosen_renderer(), click.get_current_context()
    where = target(values, capture=renderer.owns_stdout)
    if doctor:
        from cudarun.session.devices.doctor import check_machine

        given = context.get_parameter_source("devices") is ParameterSource.COMMANDLINE
        if given or attributes:
            option = "--device" if given else "--attributes"
            raise RequestError("--doctor always checks the whole machine", option=option)
        return finish(check_machine(where.timeout), renderer)
    display = progress_display(where, quiet=quiet)
    try:
        report = list_devices(where, display, attributes=attributes)
    except NoDevice as error:
        # With --quiet a script takes the UUIDs for those of GPUs.
        is_default = context.get_parameter_source("devices") is ParameterSource.DEFAULT
        if not is_default or quiet:
            raise
        emulated = replace(where, devices=parse_devices("cpu:all"))
        found = list_devices(emulated, display, attributes=attributes)
        report = replace(found, no_gpu=str(error))
    return finish(report, renderer)
