"""``cudarun managed``: ``__managed__`` variables compared with ``__device__`` variables."""

from __future__ import annotations

import shlex
from typing import Any

import click

from cudarun.base.errors import RequestError
from cudarun.commands import completion, options
from cudarun.commands.declaration import filled, options_of
from cudarun.commands.help import Command
from cudarun.commands.inputs import read_input
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.session.image.image import CompileOptions, Image
from cudarun.session.launch.request import Program
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep
from cudarun.session.managed.parent import managed, start_worker
from cudarun.session.managed.request import ManagedLaunch, ManagedRequest, parse_view
from cudarun.session.workers.pool import WorkerPool

_OF_STEP = options_of(
    LaunchStep,
    shared={"group": None, "scope": None, "show_default": False},
    grid={"default": "1", "help": "Grid size in blocks.  [default: 1]"},
    block={"default": "1", "help": "Block size in threads.  [default: 1]"},
    smem={"default": "0", "help": "Dynamic shared memory per block in bytes.  [default: 0]"},
)
_OPTIONS = options_of(ManagedRequest) | _OF_STEP
_ORDER = "launches grid block smem allow_type_mismatch with_globals contexts"


@click.command("managed", cls=Command)
@click.argument("image", shell_complete=completion.files)
@click.argument("variables", nargs=-1, metavar="[NAME[:TYPE|=VALUE]]...")
@options.stack(*(_OPTIONS[name] for name in _ORDER.split()))
@options.compile_options
@options.target_options(default="0")
def command(quiet: bool, **values: Any) -> int:
    """Show the __managed__ variables of IMAGE, and compare them across the host and all devices.

    NAME selects a variable, NAME:TYPE sets its type if the image does not contain it, and
    NAME=VALUE writes it from the host before the first launch; VALUE is in the argument grammar.
    One process serves all devices. Exit code 1 if a managed variable has more than one address or
    value.

    \b
    cudarun managed samples/managed.ptx -d cpu --launch 'bump k=i32:5' --globals
    cudarun managed samples/managed.ptx counter=i32:100 -d all --launch 'bump k=i32:5'
    """
    renderer = chosen_renderer()
    where = options.target(values, capture=renderer.owns_stdout)
    with WorkerPool() as pool:
        worker = start_worker(pool, where)  # initializes the driver during parsing
        display = options.progress_display(where, quiet=quiet)
        with options.reading(where):
            from cudarun.commands.launch_request import geometry_request

            image = read_input(values["image"], filled(CompileOptions, values), values["max_image"])
            geometry = geometry_request(
                {**values, "threads": None, "cluster": None, "cooperative": False}
            )
            launches = tuple(
                _launch(text, image, geometry, allow_type_mismatch=values["allow_type_mismatch"])
                for text in values["launches"]
            )
            request = filled(
                ManagedRequest,
                values,
                image=image.instantiating(*(launch.program.last.kernel for launch in launches)),
                views=tuple(map(parse_view, values["variables"])),
                launches=launches,
                context=where.context.kind,
            )
        report = managed(request, pool, worker, where.timeout, display)
    return finish(report, renderer)


def _launch(
    text: str, image: Image, geometry: GeometryRequest, *, allow_type_mismatch: bool
) -> ManagedLaunch:
    """Parse ``KERNEL ARGS…``, split like a shell command."""
    from cudarun.arguments.grammar import parse_arguments

    try:
        words = shlex.split(text)
    except ValueError as error:
        shown = f"--launch '{text}'"
        raise RequestError(str(error)).of(option="--launch", shown=shown) from None
    if not words:
        raise RequestError(
            "expected a kernel and its arguments",
            hint="example: --launch 'bump k=i32:5'",
            option="--launch",
        )
    kernel, *arguments = words
    step = LaunchStep(
        image=image,
        kernel=kernel,
        geometry=geometry,
        arguments=parse_arguments(arguments),
        allow_type_mismatch=allow_type_mismatch,
    )
    return ManagedLaunch(text, Program((step,)))
