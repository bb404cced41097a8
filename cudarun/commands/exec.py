"""``cudarun exec``: a CUDA program on the emulated device."""

from __future__ import annotations

from typing import Any

import click

from cudarun.base.errors import ExitCode, RequestError
from cudarun.base.files import check_outputs
from cudarun.commands.debug import commands_option, format_option
from cudarun.commands.declaration import filled, option, options_of
from cudarun.commands.files import output_files
from cudarun.commands.help import Command
from cudarun.commands.launch_options import DETECTION
from cudarun.commands.numbers import seconds
from cudarun.commands.options import device_option, output_options, stack
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.session.exec.request import ExecRequest


@click.command("exec", cls=Command, context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, metavar="PROGRAM [ARG]...", type=click.UNPROCESSED)
@device_option(
    default="cpu",
    show_default=True,
    help="Device of the program: cpu, the emulated one, or cpu@GPU, such as cpu@a100.",
)
@stack(*options_of(ExecRequest, detect=DETECTION, timeout={"type": seconds}).values())
@option(
    "--debug",
    is_flag=True,
    help="Debug the kernels: stop at the start of the first launch, and read commands as 'cudarun "
    "debug' does. The program has no stdin.",
)
@commands_option
@format_option
@output_options
def command(
    program: tuple[str, ...], debug: bool, commands: tuple[str, ...], form: str, **values: Any
) -> int:
    """Run a CUDA program without a GPU: all its kernels run on the emulated device.

    The program is not changed. It has to use the CUDA runtime as a shared library (nvcc -cudart
    shared) and contain PTX. Its output is its own; the report is on stderr. It runs with your
    rights. A PROGRAM that ends with .cu is compiled by nvcc first, and cached.

    \b
    nvcc -cudart shared -o saxpy saxpy.cu
    cudarun exec -- ./saxpy
    cudarun exec saxpy.cu -- 1000
    cudarun exec --detect race,uninit -- ./saxpy 1000
    cudarun exec --debug -- ./saxpy 1000
    """
    if not program:
        raise RequestError("missing PROGRAM", hint="example: cudarun exec -- ./saxpy")
    if program[0].endswith(".cu") and program[1:2] == ("--",):
        program = (program[0], *program[2:])
    device = values["devices"][0]
    if len(values["devices"]) > 1 or (device.driver, device.value) != ("cpu", "0"):
        raise RequestError("exec uses the emulated device cpu", option="--device")
    if not debug and (commands or form != "text"):
        raise RequestError("only with --debug", option="-x" if commands else "--format")
    if debug and values["engine"] == "compile":
        raise RequestError("kernels that are debugged are interpreted", option="--engine")
    request = filled(
        ExecRequest,
        {**values, "timeout": values["timeout"] or None},
        command=program,
        profile=device.profile,
        keeps_stdout=values["as_json"] or form == "json",
    )
    renderer = chosen_renderer()
    check_outputs(output_files(click.get_current_context().command.params, values), ())
    # Imported here: --help starts no server.
    from cudarun.session.exec.parent import execute
    from cudarun.session.launch.detection import check_engine

    check_engine(request.detection, request.engine)
    if debug:
        from cudarun.commands.debug_program import execute_debugged

        report = execute_debugged(request, renderer.prepare, commands, form)
        return ExitCode.OK if report is None else finish(report, renderer)
    return finish(execute(request, renderer.prepare), renderer)
