"""``cudarun launch``: one kernel, typed arguments, checked results."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import click

from cudarun.commands.launch_options import launch_options, launch_request
from cudarun.commands.options import context_options, device_options, output_options, target
from cudarun.errors import ExitCode
from cudarun.report.json import document, errors_as_json
from cudarun.report.progress import status_line
from cudarun.session.fleet import Fleet
from cudarun.session.launching import launch, plan, prefetch
from cudarun.session.requests import ContextOptions, LaunchRequest, Target
from cudarun.session.selection import Selector


@click.command("launch")
@click.argument("image")
@click.argument("arguments", nargs=-1, metavar="[ARG]...")
@launch_options
@click.option("--dry-run", is_flag=True, help="Print the parameter table and stop; needs no GPU.")
@device_options(default="0")
@context_options
@output_options
def command(as_json: bool, quiet: bool, dry_run: bool, **values: Any) -> int:
    """Launch a kernel of IMAGE (PTX, cubin or fatbin; - is stdin) with typed arguments.

    An ARG is [NAME=]VALUE, in the order of the kernel's parameters: f32:2.5 a scalar,
    f32[n]:iota a buffer, {f32:1, float4:1,2,3,4} a struct, @x.npy a file, &counter a variable.

    \b
    cudarun launch samples/saxpy.ptx -d cpu --threads 1000 --block 256 \\
        a=f32:2 'x=f32[n]:iota' 'y=f32[n]:ones' n=i32:1000 \\
        --check 'y == a*x + 1' --print 'y[:4]'
    """
    where = target(values, capture=as_json)
    with errors_as_json("launch", wanted=as_json):
        if dry_run:
            return _dry_run(launch_request(values, where), as_json=as_json)
        with ExitStack() as workers:
            # They initialise the driver while we read what the user wants of them.
            fleet = workers.enter_context(Fleet(where, prefetch, status_line()))
            reference = _reference(values["reference"], where, workers)
            request = launch_request(values, where)
            return _launch(request, fleet, reference, as_json=as_json, quiet=quiet)


def _reference(selector: Selector | None, where: Target, workers: ExitStack) -> Fleet | None:
    """A worker for the device of ``--reference``; what its kernel prints is dropped."""
    if selector is None:
        return None
    alone = replace(
        where, devices=(selector,), context=ContextOptions(), together=False, capture=True
    )
    return workers.enter_context(Fleet(alone, prefetch, status_line()))


def _launch(
    request: LaunchRequest, fleet: Fleet, reference: Fleet | None, *, as_json: bool, quiet: bool
) -> int:
    meanwhile = None if as_json else _import_tables
    report = launch(request, fleet, reference=reference, meanwhile=meanwhile)
    if as_json:
        click.echo(document("launch", report, report.exit_code))
        return report.exit_code
    from cudarun.report.tables import console, show_launch

    show_launch(report, console(click.get_current_context().color), quiet=quiet)
    return report.exit_code


def _dry_run(request: LaunchRequest, *, as_json: bool) -> int:
    report = plan(request)
    if as_json:
        click.echo(document("launch", report))
        return ExitCode.OK
    from cudarun.report.tables import console, show_plan

    show_plan(report, console(click.get_current_context().color))
    return ExitCode.OK


def _import_tables() -> None:
    """Import rich while the workers work, so that rendering does not wait for it."""
    import cudarun.report.tables  # noqa: F401
