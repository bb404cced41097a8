"""``cudarun record``: launches of another program as files."""

from __future__ import annotations

from typing import Any

import click

from cudarun.commands.declaration import option
from cudarun.commands.files import output_files
from cudarun.commands.help import Command
from cudarun.commands.numbers import whole
from cudarun.commands.options import output_options
from cudarun.commands.output import chosen_renderer
from cudarun.errors import RequestError
from cudarun.report.renderer import finish
from cudarun.session.record.request import RecordRequest
from cudarun.writing import FileUse, check_outputs


@click.command("record", cls=Command, context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, metavar="COMMAND...", type=click.UNPROCESSED)
@option(
    "-o",
    "--output",
    file=FileUse.OUTPUT,
    metavar="FILE",
    help="Write the recording to FILE, further ones to FILE-2 and so on.  "
    "[default: the kernel's name]",
)
@option(
    "-k",
    "--kernel",
    "kernels",
    multiple=True,
    metavar="GLOB",
    help="Record kernels whose name matches, mangled or in C++ spelling; repeatable.  "
    "[default: every kernel]",
)
@option(
    "--nth",
    type=whole(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Start with the Nth matching launch.",
)
@option(
    "--count",
    type=whole(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of launches to record.",
)
@option(
    "--all-kernels",
    is_flag=True,
    help="Apply --nth and --count to each matching kernel of each process.",
)
@option(
    "--max-size",
    "max_bytes",
    type=whole(1),
    default="4Gi",
    show_default=True,
    metavar="BYTES",
    help="Record no launch that can reach more device memory.",
)
@option(
    "--list",
    "listed",
    is_flag=True,
    help="List the launches of the program with their times, and record nothing.",
)
@output_options
def command(
    program: tuple[str, ...],
    as_json: bool,
    kernels: tuple[str, ...],
    nth: int,
    count: int,
    all_kernels: bool,
    max_bytes: int,
    listed: bool,
    output: str | None,
    **_: Any,
) -> int:
    """Run COMMAND and record a launch of it: code, arguments, memory and results in one file.

    The program runs unchanged with its own exit code. cudarun launch replays the file on any
    device. The file contains device memory of the program: share it as you would share its data.

    \b
    cudarun record --list -- python train.py
    cudarun record -k '*softmax*' --nth 3 -o softmax.cudarun -- python train.py
    cudarun launch softmax.cudarun -d cpu --detect race,uninit
    """
    if not program:
        raise RequestError("missing COMMAND", hint="example: cudarun record -- python train.py")
    renderer = chosen_renderer()
    context = click.get_current_context()
    check_outputs(output_files(context.command.params, context.params), ())
    request = RecordRequest(
        command=program,
        kernels=kernels,
        nth=nth,
        count=count,
        all_kernels=all_kernels,
        max_bytes=max_bytes,
        listed=listed,
        output=output,
        keeps_stdout=as_json,
    )
    # Imported here: --help needs no recorder.
    from cudarun.session.record.parent import list_launches, record

    return finish(list_launches(request) if listed else record(request), renderer)
