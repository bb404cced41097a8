"""``cudarun record``: launches of another program as files."""

from __future__ import annotations

from typing import Any

import click

from cudarun.base.errors import ExitCode, RequestError
from cudarun.base.files import FileUse, OutputFile, check_outputs
from cudarun.commands.declaration import option
from cudarun.commands.files import output_files
from cudarun.commands.help import Command
from cudarun.commands.numbers import seconds, size, whole
from cudarun.commands.options import output_options, progress_display
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.report.terminal import pass_on
from cudarun.session.driver.selection import ALL, Selector, parse_devices
from cudarun.session.driver.target import Target
from cudarun.session.record.request import RecordRequest


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
    type=size(1),
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
@option(
    "--at-fault",
    is_flag=True,
    help="Run the program twice: to find the launch that faults, and to record it.",
)
@option(
    "--shrink",
    file=FileUse.INPUT,
    metavar="FILE",
    help="Keep only the memory that the launch of a recording accesses, in place of COMMAND.",
)
@option(
    "-d",
    "--device",
    "devices",
    type=parse_devices,
    metavar="DEVICE",
    help="Device of the replays of --shrink: cpu observes one, a GPU repeats it without parts of "
    "the memory.  [default: cpu; without PTX, GPU 0]",
)
@option(
    "--edit",
    file=FileUse.INPUT,
    metavar="FILE",
    help="Convert a recording to a spec -o NAME.toml with .npy files, in place of COMMAND.",
)
@option(
    "--timeout",
    type=seconds,
    metavar="SECONDS",
    help="Time limit in seconds of a replay of --shrink, and of each launch with --at-fault: a "
    "longer one counts as a fault.  [default: none]",
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
    at_fault: bool,
    shrink: str | None,
    edit: str | None,
    devices: tuple[Selector, ...] | None,
    timeout: float | None,
    raw_output: bool,
    quiet: bool,
    verbose: bool,
    **_: Any,
) -> int:
    """Run COMMAND and record a launch of it: code, arguments, memory and results in one file.

    Requires a GPU. The program runs unchanged, and its exit code is that of the command unless
    nothing was recorded. cudarun launch replays the file on any
    device. The file contains device memory of the program: share it as you would share its data.

    --shrink FILE replays a recording and keeps what the launch accesses: it becomes small.

    \b
    cudarun record --list -- python train.py
    cudarun record -k '*softmax*' --nth 3 -o softmax.cudarun -- python train.py
    cudarun record --shrink softmax.cudarun -o small.cudarun
    cudarun launch small.cudarun -d cpu --detect race,uninit
    """
    if raw_output:
        pass_on()
    if shrink is not None:
        return _shrink(shrink, output, program, timeout, devices, quiet=quiet, verbose=verbose)
    if devices is not None:
        raise RequestError("requires --shrink", option="--device")
    if edit is not None:
        return _edit(edit, output, program)
    if not program:
        raise RequestError("missing COMMAND", hint="example: cudarun record -- python train.py")
    if at_fault:
        _refuse_with_fault(kernels, nth, count, all_kernels=all_kernels, listed=listed)
    elif timeout is not None:
        raise RequestError("requires --at-fault or --shrink", option="--timeout")
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
        limit=timeout or None,
        keeps_stdout=as_json,
    )
    # Imported here: --help needs no recorder.
    from cudarun.session.record.parent import list_launches, record, record_at_fault

    if at_fault:
        return finish(record_at_fault(request), renderer)
    return finish(list_launches(request) if listed else record(request), renderer)


def _refuse_with_fault(
    kernels: tuple[str, ...], nth: int, count: int, *, all_kernels: bool, listed: bool
) -> None:
    """Refuse options that choose launches: the fault does.

    Raises:
        RequestError: One is given.
    """
    given = {
        "--kernel": kernels, "--nth": nth > 1, "--count": count > 1,
        "--all-kernels": all_kernels, "--list": listed,
    }  # fmt: skip
    for option_name, is_given in given.items():
        if is_given:
            raise RequestError(f"--at-fault and {option_name} cannot be combined").naming(
                "--at-fault", option_name
            )


def _shrink(
    path: str,
    output: str | None,
    program: tuple[str, ...],
    timeout: float | None,
    devices: tuple[Selector, ...] | None,
    *,
    quiet: bool,
    verbose: bool,
) -> int:
    """Write a smaller recording."""
    if program or output is None:
        raise RequestError("requires -o FILE and no COMMAND", option="--shrink")
    if devices is not None and (len(devices) > 1 or devices[0].by == ALL):
        raise RequestError("--shrink uses one device", option="--device")
    renderer = chosen_renderer()
    target = OutputFile("--output", output)
    check_outputs([target], [path])
    # Imported here: --help needs no recorder.
    from cudarun.commands.recorded_request import recorded_launch
    from cudarun.model.record import RecordReport
    from cudarun.session.record.shrink import shrink

    where = Target(devices=devices or (), timeout=timeout or None, verbose=verbose, capture=True)
    file = shrink(recorded_launch(path), target, where, progress_display(where, quiet=quiet))
    return finish(RecordReport(0, (file,)), renderer)


def _edit(path: str, output: str | None, program: tuple[str, ...]) -> int:
    """Write a spec of a recording."""
    if program or output is None or not output.endswith(".toml"):
        raise RequestError("requires -o NAME.toml and no COMMAND", option="--edit")
    # Imported here: --help needs no recorder.
    from cudarun.commands.recorded_request import recorded_launch
    from cudarun.session.record.edit import EditableRecording

    recording = recorded_launch(path).last.image.recording
    assert recording is not None, "recorded_launch refuses other files"
    EditableRecording(recording, output).write()
    return ExitCode.OK
