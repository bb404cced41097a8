"""``cudarun record``: launches of another program as files."""

from __future__ import annotations

from typing import Any

import click

from cudarun.base.errors import ExitCode, RequestError
from cudarun.base.files import FileUse, OutputFile, check_outputs
from cudarun.base.options import option_fields
from cudarun.commands.declaration import conflict, filled, option, options_of
from cudarun.commands.files import output_files
from cudarun.commands.help import Command
from cudarun.commands.numbers import seconds, size
from cudarun.commands.options import device_option, output_options, progress_display, stack
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import ALL
from cudarun.session.record.request import RecordRequest


@click.command("record", cls=Command, context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, metavar="COMMAND...", type=click.UNPROCESSED)
@stack(*options_of(RecordRequest, max_bytes={"type": size(1)}).values())
@option(
    "--shrink FILE",
    file=FileUse.INPUT,
    help="Keep only the memory that the launch of a recording accesses, in place of COMMAND.",
)
@device_option(
    help="Device of the replays of --shrink: cpu observes one, a GPU repeats it without parts of "
    "the memory.  [default: cpu; without PTX, GPU 0]"
)
@option(
    "--edit FILE",
    file=FileUse.INPUT,
    help="Convert a recording to a spec -o NAME.toml with .npy files, in place of COMMAND.",
)
@option(
    "--timeout SECONDS",
    type=seconds,
    help="Time limit in seconds of a replay of --shrink, and of each launch with --at-fault: a "
    "longer one counts as a fault.  [default: none]",
)
@output_options
def command(program: tuple[str, ...], **values: Any) -> int:
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
    if values["shrink"] is not None:
        path, output, devices = values["shrink"], values["output"], values["devices"]
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

        where = Target(
            devices=devices or (),
            timeout=values["timeout"] or None,
            verbose=values["verbose"],
            capture=True,
        )
        display = progress_display(where, quiet=values["quiet"])
        file = shrink(recorded_launch(path), target, where, display)
        return finish(RecordReport(0, (file,)), renderer)
    if values["devices"] is not None:
        raise RequestError("requires --shrink", option="--device")
    if values["edit"] is not None:
        path, output = values["edit"], values["output"]
        if program or output is None or not output.endswith(".toml"):
            raise RequestError("requires -o NAME.toml and no COMMAND", option="--edit")
        # Imported here: --help needs no recorder.
        from cudarun.commands.recorded_request import recorded_launch
        from cudarun.session.record.edit import EditableRecording

        recording = recorded_launch(path).last.image.recording
        assert recording is not None, "recorded_launch refuses other files"
        EditableRecording(recording, output).write()
        return ExitCode.OK
    if not program:
        raise RequestError("missing COMMAND", hint="example: cudarun record -- python train.py")
    timeout = values["timeout"]
    request = filled(
        RecordRequest,
        values,
        command=program,
        limit=timeout or None,
        keeps_stdout=values["as_json"],
    )
    if request.at_fault:
        for field in option_fields(RecordRequest):  # that choose launches: the fault does
            is_given = getattr(request, field.name) != field.default
            if is_given and field.name not in ("output", "max_bytes", "at_fault"):
                raise conflict("--at-fault", field.metadata["option"][0][-1])
    elif timeout is not None:
        raise RequestError("requires --at-fault or --shrink", option="--timeout")
    renderer = chosen_renderer()
    check_outputs(output_files(click.get_current_context().command.params, values), ())
    # Imported here: --help needs no recorder.
    from cudarun.session.record.parent import list_launches, record, record_at_fault

    if request.at_fault:
        return finish(record_at_fault(request), renderer)
    return finish(list_launches(request) if request.listed else record(request), renderer)
