"""``cudarun load``: images and all their kernels loaded on each device, and their contents."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from cudarun.base.errors import RequestError
from cudarun.commands import completion
from cudarun.commands.declaration import Option, conflict, filled, given_on_line, option, options_of
from cudarun.commands.help import Command
from cudarun.commands.inputs import open_inputs
from cudarun.commands.numbers import UINT_MAX, extent, size
from cudarun.commands.options import (
    compile_options,
    gpus,
    jit,
    jit_options,
    progress_display,
    reading,
    target,
    target_options,
)
from cudarun.commands.output import chosen_renderer
from cudarun.images.kinds import ImageKind, identify
from cudarun.report.renderer import finish
from cudarun.session.load.parent import load, prefetch
from cudarun.session.load.request import LaunchShape, LoadRequest, OfflineScope
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.pool import worker_pool

if TYPE_CHECKING:
    from cudarun.base.profiles import Profile

_OPTIONS = options_of(
    LoadRequest,
    kernel={"shell_complete": completion.kernels},
    block={"type": extent},
    smem={"type": size(0, UINT_MAX), "show_default": False},
)


@click.command("load", cls=Command)
@click.argument(
    "images", nargs=-1, required=True, metavar="IMAGE...", shell_complete=completion.files
)
@_OPTIONS["via"]
@_OPTIONS["lazy"]
@_OPTIONS["kernel"]
@click.option("--offline", is_flag=True, help="Inspect the files without a driver.")
@option(
    "--arch ARCH",
    help="With --offline: inspect only code for this target, such as sm_90 or compute_90. A .cu is "
    "compiled for it.",
)
@option(
    "--for GPUS",
    "gpus",
    type=gpus,
    default=(),
    shell_complete=completion.gpus,
    help="Without a device, report whether these GPUs load each kernel, and launch it with --block "
    "and --smem: comma-separated, such as rtx5090,b200,sm_86.",
)
@_OPTIONS["block"]
@_OPTIONS["smem"]
@jit_options
@compile_options
@target_options(default="0")
def command(quiet: bool, offline: bool, gpus: tuple[Profile, ...], **values: Any) -> int:
    """Load IMAGEs with all their kernels on each device, and show their contents.

    The driver loads lazily and can accept a file with invalid code. This command forces every
    kernel to load, and reports the result of each file on each device. Exit code 4 if one is
    refused.

    \b
    cudarun load samples/saxpy.ptx samples/managed.ptx -d cpu --block 256
    cudarun load --offline samples/saxpy.ptx
    cudarun load --offline libnccl.so.2 --arch sm_90 -v
    cudarun load samples/matmul.ptx --for rtx5090,t4 --block 32,32 --smem 64Ki
    """
    renderer = chosen_renderer()
    where = target(values, capture=True)
    if offline or gpus:
        from cudarun.session.load.offline import load_offline

        with reading(where):
            _refuse_offline("--for" if gpus else "--offline", ("block", "smem") if gpus else ())
            if gpus and values["arch"]:
                raise conflict("--arch", "--for", "--for reads the code that each GPU loads")
            files = open_inputs(values["images"], values)
            details = where.verbose or renderer.owns_stdout
            scope = OfflineScope(
                *(values["kernel"], values["arch"], details, where.timeout),
                *(gpus, LaunchShape(values["block"], values["smem"])),
            )
            display = progress_display(where, quiet=quiet)
            return finish(load_offline(files, scope, display), renderer)
    if arch := values.pop("arch"):
        values["compiler_options"] += (f"--gpu-architecture={arch}",)

    with worker_pool() as pool:
        workers = DeviceWorkers(pool, where, prefetch, progress_display(where, quiet=quiet))
        with reading(where):
            images = open_inputs(values["images"], values)
            options = jit(values, verbose=where.verbose)
            request = filled(LoadRequest, values, images=images, options=options)
            kinds = {identify(each.data) for each in images} if arch else set()
            if arch and ImageKind.CUDA_SOURCE not in kinds:
                raise RequestError(
                    "a device loads the code for its own architecture", hint="add --offline"
                ).of(option="--arch")
        report = load(request, workers)
    return finish(report, renderer)


def _refuse_offline(option: str = "--offline", permitted: Collection[str] = ()) -> None:
    """Refuse options for the driver with ``--offline`` or ``--for``."""
    for each in given_on_line(click.get_current_context()):
        if isinstance(each, Option) and each.of_device and each.name not in permitted:
            raise conflict(each.opts[-1], option, f"{option} uses no device")
