"""``cudarun link``: several images linked into one, by the driver's linker or by nvJitLink."""

from __future__ import annotations

from typing import Any

import click

from cudarun.base.errors import RequestError
from cudarun.base.files import FileUse, check_outputs
from cudarun.commands import completion, options
from cudarun.commands.declaration import filled, option, options_of
from cudarun.commands.files import image_files, output_files
from cudarun.commands.help import Command
from cudarun.commands.inputs import open_inputs
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.session.link.request import LinkRequest


@click.command("link", cls=Command)
@click.argument(
    "inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=completion.files
)
@option(
    "-o",
    "--output FILE",
    file=FileUse.OUTPUT,
    required=True,
    help="Write the linked image to FILE.",
)
@option("--force", is_flag=True, help="Allow --output to overwrite an existing file.")
@options.stack(*options_of(LinkRequest, arch={"type": options.architecture}).values())
@options.jit_options
@options.compile_options
@options.target_options(default="0")
def command(quiet: bool, **values: Any) -> int:
    """Link INPUTs (PTX, cubins, fatbins, objects, static libraries, LTO-IR, .cu) into one image.

    Undefined symbols and multiple definitions are errors, which list all files that contain them.
    FILE is written only if linking succeeds. Without a GPU, nvJitLink is the linker and --arch is
    required.

    \b
    cudarun link samples/link/main.ptx samples/link/lib.ptx -o out.cubin --arch sm_90
    cudarun link samples/link/main.ptx samples/link/lib.ptx -o out.ptx -d cpu --load
    """
    from cudarun.session.link.parent import link

    renderer = chosen_renderer()
    where = options.target(values, capture=False)
    with options.reading(where):
        if values["output"] == "-":
            raise RequestError(
                "the linked image cannot be written to stdout (-)", option="--output"
            )
        inputs = open_inputs(values["inputs"], values)
        [output] = outputs = output_files(click.get_current_context().command.params, values)
        check_outputs(outputs, [path for image in inputs for path in image_files(image)])
        own = {
            "inputs": inputs,
            "output": output,
            "options": options.jit(values, verbose=where.verbose),
        }
        request = filled(LinkRequest, values, target=where, **own)
    return finish(link(request, options.progress_display(where, quiet=quiet)), renderer)
