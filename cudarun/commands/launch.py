"""``cudarun launch``: one kernel, typed arguments, checked results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cudarun.commands.compile_options import compilation, compile_options
from cudarun.commands.declaration import EarlyEffect, Option, Scope, option
from cudarun.commands.launch_options import launch_options
from cudarun.commands.options import (
    context_options,
    device_options,
    output_options,
    target,
    watch,
)
from cudarun.errors import ExitCode, RequestError
from cudarun.report.json import document
from cudarun.session.driver.selection import Selector
from cudarun.session.driver.target import ContextOptions, Target
from cudarun.session.launch.parent import launch, plan, prefetch
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.pool import WorkerPool

if TYPE_CHECKING:
    from cudarun.report.types import LaunchReport
    from cudarun.session.launch.request import LaunchRequest

SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


@click.command("launch")
@click.argument("image", required=False)
@click.argument("arguments", nargs=-1, metavar="[ARG]...")
@launch_options
@compile_options
@option(
    "--sanitize",
    scope=Scope.SINGLE,
    early=EarlyEffect.NO_WORKER,
    type=click.Choice(SANITIZERS),
    help="Launch under a tool of NVIDIA's compute-sanitizer; what it finds is exit code 1.",
)
@option(
    "--dry-run",
    scope=Scope.SINGLE,
    early=EarlyEffect.NO_WORKER,
    is_flag=True,
    help="Print the parameter table and stop; needs no GPU.",
)
@option(
    "--spec",
    scope=Scope.RUN,
    early=EarlyEffect.NO_WORKER,
    metavar="FILE",
    help="Run the cases of a TOML file: all, or those named as arguments.",
)
@option(
    "--fail-fast",
    scope=Scope.RUN,
    is_flag=True,
    help="Begin no case of --spec after one that failed.",
)
@option(
    "--junit", scope=Scope.RUN, metavar="FILE", help="Write the results of --spec as JUnit XML."
)
@option(
    "--write-spec",
    scope=Scope.SINGLE,
    metavar="FILE",
    help="Append this launch to a spec file, and make it.",
)
@device_options(default="0")
@context_options
@output_options
def command(as_json: bool, quiet: bool, **values: Any) -> int:
    """Launch a kernel of IMAGE (PTX, cubin, fatbin or .cu; - is stdin) with typed arguments.

    An ARG is [NAME=]VALUE, in the order of the kernel's parameters: f32:2.5 a scalar,
    f32[n]:iota a buffer, {f32:1, float4:1,2,3,4} a struct, @x.npy a file, &counter a variable.

    \b
    cudarun launch samples/saxpy.ptx -d cpu --threads 1000 --block 256 \\
        a=f32:2 'x=f32[n]:iota' 'y=f32[n]:ones' n=i32:1000 \\
        --check 'y == a*x + 1' --print 'y[:4]'
    """
    if values["spec"] is not None:
        return _spec(values, as_json=as_json, quiet=quiet)
    where = target(values, capture=as_json)
    _refuse_without_spec(values)
    if values["dry_run"]:
        return _dry_run(_request(values, where), where.timeout, as_json=as_json)
    if values["sanitize"] is not None:
        return _sanitize(values, where, as_json=as_json, quiet=quiet)
    with WorkerPool() as pool:
        # They initialize the driver while we read what the user wants of them.
        workers = DeviceWorkers(pool, where, prefetch, watch(where, quiet=quiet))
        reference = _reference(values["reference"], where, pool)
        request = _request(values, where)
        return _launch(request, workers, reference, as_json=as_json, quiet=quiet)


def _request(values: dict[str, Any], where: Target) -> LaunchRequest:
    # Imported here, when the workers are at work already.
    from cudarun.commands.inputs import read_input
    from cudarun.commands.launch_request import launch_request
    from cudarun.session.launch.detection import check_watchable

    request = launch_request(values, where, read_input(values["image"], compilation(values)))
    check_watchable(request.watch, where.devices)
    if values["write_spec"] is not None:
        from cudarun.commands.spec_writing import append_case

        name = append_case(values["write_spec"], click.get_current_context())
        click.echo(f"appended case '{name}' to {values['write_spec']}", err=True)
    return request


def _refuse_without_spec(values: dict[str, Any]) -> None:
    if values["image"] is None:
        raise click.UsageError("missing argument 'IMAGE'", click.get_current_context())
    for name in ("fail_fast", "junit"):
        if values[name]:
            raise RequestError(f"--{name.replace('_', '-')} is for --spec")


def _spec(values: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Run a spec: a line for each case as it is settled, or one document."""
    _refuse_with_spec()
    return _run_spec(values, target(values, capture=True), as_json=as_json, quiet=quiet)


def _run_spec(values: dict[str, Any], where: Target, *, as_json: bool, quiet: bool) -> int:
    from cudarun.session.spec.parent import device_runs, run_spec

    with device_runs(where) as runs:  # whose workers start while we read the spec
        from cudarun.commands.spec_file import read_spec
        from cudarun.report.junit import write_junit
        from cudarun.report.spec import SpecTable
        from cudarun.writing import check_writable

        names = [name for name in (values["image"], *values["arguments"]) if name is not None]
        cases = read_spec(values["spec"], names, where)
        if values["junit"] is not None:
            check_writable("--junit", values["junit"])
        table = None if as_json else SpecTable(click.get_current_context().color, quiet=quiet)
        report = run_spec(
            values["spec"],
            cases,
            runs,
            fail_fast=values["fail_fast"],
            display=watch(where, quiet=quiet),
            on_case=table.add if table is not None else lambda case: None,
            keep=table is None or values["junit"] is not None,
        )
    if values["junit"] is not None:
        write_junit(report, values["junit"])
    if table is None:
        click.echo(document("launch-spec", report, report.exit_code))
    else:
        table.end(report)
    return report.exit_code


def _refuse_with_spec() -> None:
    """What is about one launch stands in the file."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and isinstance(parameter, Option) and not parameter.goes_with_spec:
            raise RequestError(
                f"{parameter.opts[-1]} is about one launch: say it there", option="--spec"
            )


def _reference(selector: Selector | None, where: Target, pool: WorkerPool) -> DeviceWorkers | None:
    """A worker for the device of ``--reference``; what its kernel prints is dropped."""
    if selector is None:
        return None
    alone = replace(
        where, devices=(selector,), context=ContextOptions(), together=False, capture=True
    )
    return DeviceWorkers(pool, alone, prefetch, watch(where))


def _launch(
    request: LaunchRequest,
    workers: DeviceWorkers,
    reference: DeviceWorkers | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    meanwhile = None if as_json else _import_tables
    report = launch(request, workers, reference=reference, meanwhile=meanwhile)
    return _show(report, as_json=as_json, quiet=quiet)


def _show(report: LaunchReport, *, as_json: bool, quiet: bool) -> int:
    if as_json:
        click.echo(document("launch", report, report.exit_code))
        return report.exit_code
    from cudarun.report.tables import console, show_launch

    context = click.get_current_context()
    show_launch(
        report,
        console(context.color),
        quiet=quiet,
        verbose=context.params["verbose"],
        seed=context.params["seed"] is None,
    )
    return report.exit_code


def _sanitize(values: dict[str, Any], where: Target, *, as_json: bool, quiet: bool) -> int:
    """Launch in processes that the sanitizer starts."""
    from cudarun.session.launch.sanitizer import refuse_emulated, sanitize

    refuse_emulated(where)
    for name in ("together", "repeat", "reference"):
        if where.together if name == "together" else values[name] is not None:
            raise RequestError(f"--sanitize and --{name} exclude each other")
    report = sanitize(values["sanitize"], _request(values, where), where)
    return _show(report, as_json=as_json, quiet=quiet)


def _dry_run(request: LaunchRequest, timeout: float | None, *, as_json: bool) -> int:
    report = plan(request, timeout)
    if as_json:
        click.echo(document("launch", report))
        return ExitCode.OK
    from cudarun.report.tables import console, show_plan

    show_plan(report, console(click.get_current_context().color))
    return ExitCode.OK


def _import_tables() -> None:
    """Import rich while the workers work, so that rendering does not wait for it."""
    import cudarun.report.tables  # noqa: F401
