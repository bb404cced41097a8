"""``cudarun launch``: one kernel, typed arguments, checked results."""

from __future__ import annotations

import os
from typing import Any

import click

from cudarun.commands.inputs import read_input
from cudarun.commands.options import (
    context_options,
    device_options,
    extent,
    output_options,
    target,
    whole_number,
)
from cudarun.errors import ExitCode, RequestError
from cudarun.report.json import document, errors_as_json
from cudarun.session.fleet import Fleet
from cudarun.session.launching import launch, plan, prefetch
from cudarun.session.outputs import check_savable
from cudarun.session.requests import Geometry, LaunchRequest, Save, Target

_DEFAULT_BLOCK = 256  # threads per block where only --threads is given


@click.command("launch")
@click.argument("image")
@click.argument("arguments", nargs=-1, metavar="[ARG]...")
@click.option(
    "-k",
    "--kernel",
    metavar="NAME",
    help="Mangled, demangled or bare function name; optional when there is one.",
)
@click.option("--grid", type=extent, metavar="X[,Y[,Z]]", help="Blocks in the grid.  [default: 1]")
@click.option(
    "--block",
    type=extent,
    metavar="X[,Y[,Z]]",
    help="Threads in a block.  [default: 1; 256 with --threads]",
)
@click.option(
    "--threads",
    type=extent,
    metavar="X[,Y[,Z]]",
    help="Threads in all; the grid is deduced, rounding up.",
)
@click.option(
    "--smem", type=whole_number, metavar="BYTES", default=0, help="Bytes of dynamic shared memory."
)
@click.option(
    "--params",
    "passing",
    type=click.Choice(["array", "buffer"]),
    default="array",
    show_default=True,
    help="Pass parameters by kernelParams, or packed by CU_LAUNCH_PARAM_BUFFER_POINTER.",
)
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="EXPR",
    help="An expression that must hold after the run; repeatable.",
)
@click.option(
    "--rtol",
    type=click.FloatRange(min=0),
    help="Relative tolerance of --check.  [default: by dtype]",
)
@click.option(
    "--atol",
    type=click.FloatRange(min=0),
    help="Absolute tolerance of --check.  [default: by dtype]",
)
@click.option("--equal-nan", is_flag=True, help="Let NaN equal NaN in --check.")
@click.option(
    "--print",
    "prints",
    multiple=True,
    metavar="EXPR",
    help="Print an expression's value; repeatable.",
)
@click.option(
    "--save",
    "saves",
    multiple=True,
    metavar="NAME=PATH",
    help="Write a buffer to PATH (.npy, .bin); repeatable; {device} in PATH is the device.",
)
@click.option("--force", is_flag=True, help="Let --save replace existing files.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed of random initialisers.  [default: random, printed]",
)
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
            return _dry_run(_request(values, where), as_json=as_json)
        # The workers initialise the driver while we read what the user wants of them.
        with Fleet(where, prefetch) as fleet:
            return _launch(_request(values, where), fleet, as_json=as_json, quiet=quiet)


def _launch(request: LaunchRequest, fleet: Fleet, *, as_json: bool, quiet: bool) -> int:
    report = launch(request, fleet, meanwhile=None if as_json else _import_tables)
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


def _request(values: dict[str, Any], where: Target) -> LaunchRequest:
    """Parse and validate everything that needs no driver.

    Raises:
        RequestError: Any of it is unusable.
        ImageRefused: The file is empty or no image at all.
    """
    from cudarun.arguments.expressions import parse_expression
    from cudarun.arguments.grammar import parse_argument
    from cudarun.arguments.tolerance import Tolerance

    force = values.pop("force")
    saves = tuple(_save(text, where, force=force) for text in values.pop("saves"))
    seed = values.pop("seed")
    return LaunchRequest(
        image=read_input(values.pop("image")),
        kernel=values.pop("kernel"),
        geometry=_geometry(values),
        arguments=tuple(map(parse_argument, values.pop("arguments"))),
        checks=tuple(map(parse_expression, values.pop("checks"))),
        prints=tuple(map(parse_expression, values.pop("prints"))),
        saves=saves,
        tolerance=Tolerance(values.pop("rtol"), values.pop("atol"), values.pop("equal_nan")),
        seed=int.from_bytes(os.urandom(4), "little") if seed is None else seed,
        force=force,
        passing=values.pop("passing"),
    )


def _geometry(values: dict[str, Any]) -> Geometry:
    grid, block, threads = values.pop("grid"), values.pop("block"), values.pop("threads")
    if grid and threads:
        raise RequestError("--grid and --threads exclude each other: each says the whole size")
    if block is None:
        block = (_DEFAULT_BLOCK if threads else 1, 1, 1)
    return Geometry(block, grid, threads, values.pop("smem"))


def _save(text: str, where: Target, *, force: bool) -> Save:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise RequestError(f"--save: '{text}' is not NAME=PATH")
    several = len(where.devices) > 1 or any(s.by == "all" for s in where.devices)
    if several and "{device}" not in path:
        raise RequestError(
            f"--save: several devices would all write {path}",
            hint="put {device} into the path, as in y-{device}.npy",
        )
    request = Save(name, path)
    check_savable(request, force=force)
    return request


def _import_tables() -> None:
    """Import rich while the workers work, so that rendering does not wait for it."""
    import cudarun.report.tables  # noqa: F401
