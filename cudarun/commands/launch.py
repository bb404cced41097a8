"""``cudarun launch``: one kernel with typed arguments and checked results."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click

from cudarun.base.errors import RequestError
from cudarun.base.files import FileUse, check_outputs
from cudarun.base.options import OptionGroup, OptionScope
from cudarun.commands import completion
from cudarun.commands.declaration import Option, Values, conflict, filled, given_on_line, option
from cudarun.commands.help import is_image_name
from cudarun.commands.inputs import ZIP_MAGIC, is_recording, read_input
from cudarun.commands.launch_options import engine_options, launch_options
from cudarun.commands.numbers import seconds
from cudarun.commands.options import (
    compile_options,
    progress_display,
    reading,
    target,
    target_options,
)
from cudarun.commands.output import chosen_renderer
from cudarun.commands.steps import STEPS, LaunchCommand, step_values
from cudarun.report.renderer import Renderer, finish
from cudarun.report.terminal import shown
from cudarun.session.driver.contexts import ContextOptions, Target
from cudarun.session.driver.selection import ALL
from cudarun.session.image.image import CompileOptions, Image
from cudarun.session.image.triton import files_beside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cudarun.session.launch.request import Program
    from cudarun.session.spec.case import Case

CASE_TIMEOUT = 60.0  # the time limit of a case of a spec in seconds, without ``--timeout``
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


_of_spec = partial(option, group=OptionGroup.SPECS, scope=OptionScope.RUN, of_spec=True)


@click.command("launch", cls=LaunchCommand)
@click.argument("image", required=False, shell_complete=completion.or_case(completion.files))
@click.argument(
    "arguments",
    nargs=-1,
    metavar="[ARG]...",
    shell_complete=completion.or_case(completion.argument),
)
@option(
    "--then",
    group=OptionGroup.PROGRAMS,
    scope=OptionScope.SINGLE,
    is_flag=True,
    help="Start the next step: another launch, which can use the buffers of those before it.",
)
@option(
    "--image FILE",
    "step_image",
    group=OptionGroup.PROGRAMS,
    scope=OptionScope.SINGLE,
    of_step=True,
    file=FileUse.INPUT,
    help="After --then, the image of the step.  [default: that of the step before]",
)
@launch_options
@compile_options
@option(
    "--sanitize",
    group=OptionGroup.CHECKS,
    scope=OptionScope.SINGLE,
    type=click.Choice(SANITIZERS),
    help="Launch under a tool of NVIDIA compute-sanitizer; exit code 1 if it reports errors.",
)
@option(
    "--dry-run",
    group=OptionGroup.ARGUMENTS,
    scope=OptionScope.SINGLE,
    is_flag=True,
    is_keyword=True,
    help="Print the parameter table and stop; requires no GPU.",
)
@option(
    "--spec FILE",
    group=OptionGroup.SPECS,
    scope=OptionScope.RUN,
    file=FileUse.INPUT,
    help="Run the cases of a TOML file (- is stdin): all, or those named by the arguments (* and "
    "? are wildcards).",
)
@_of_spec(
    "--filter EXPR",
    "filter_text",
    help="Run only the cases of --spec that match an expression, such as 'saxpy and n >= 32'. "
    "Names: name, image, kernel, device and the names of the matrix.",
)
@_of_spec(
    "--list",
    "listed",
    is_flag=True,
    help="List the selected cases of --spec and stop; requires no GPU.",
)
@_of_spec(
    "--fail-fast",
    is_flag=True,
    help="Stop after the first failing case of --spec, or of each candidate.",
)
@_of_spec(
    "--budget SECONDS",
    type=seconds,
    help="Time limit in seconds of all cases of --spec, or of each candidate; exit code 6 when "
    "exceeded.  [default: none]",
)
@_of_spec(
    "--candidate FILE[:KERNEL]",
    "candidates",
    file=FileUse.INPUT,
    multiple=True,
    help="Run --spec with this image in place of the image of its cases, repeatable; or launch it "
    "in place of the code of a recording.",
)
@_of_spec(
    "--best",
    type=click.Choice(["min", "median"]),
    help="Report the fastest passing case of --spec with repeat, by its shortest or median time.",
)
@_of_spec("--junit FILE", file=FileUse.JUNIT, help="Write the results of --spec as JUnit XML.")
@option(
    "--format",
    "output_format",
    group=OptionGroup.OUTPUT,
    scope=OptionScope.RUN,
    type=click.Choice(["table", "brief", "github", "jsonl", "sarif"]),
    default="table",
    help="Output: tables, a few lines for each failure, tables with annotations and a job summary "
    "of GitHub Actions, with --spec a JSON document in a line for each case and candidate, or the "
    "failures as SARIF.",
)
@option(
    "--allow-python",
    group=OptionGroup.CHECKS,
    scope=OptionScope.RUN,
    of_spec=True,
    of_result=True,
    is_flag=True,
    help="Allow --spec to run the Python functions that its cases compare with.",
)
@_of_spec(
    "--confine DIR",
    of_result=True,
    file=FileUse.INPUT,
    help="Refuse a --spec that reads or writes files outside DIR.",
)
@option(
    "--write-spec FILE",
    group=OptionGroup.SPECS,
    scope=OptionScope.SINGLE,
    file=FileUse.APPENDED,
    help="Append this launch to a spec file, and run it.",
)
@target_options(default="0", time_limit=f"{CASE_TIMEOUT:g} in each case of --spec, else none")
@engine_options
def command(quiet: bool, **values: Any) -> int:
    """Launch a kernel of IMAGE (PTX, cubin, fatbin or .cu; - is stdin) with typed arguments.

    An ARG is [NAME=]VALUE. Values: f32:2.5 (scalar), f32[n]:iota (buffer), {f32:1, float4:1,2,3,4}
    (struct), @x.npy (file), &counter (variable), texture(f32[h,w]:rand), surface(u8[h,w]). Pass
    ARGs in the order of the kernel's parameters. If the parameters have names, as in a .cu,
    NAME=VALUE can be at any position.

    \b
    cudarun launch samples/saxpy.ptx -d cpu --threads 1000 --block 256 \\
        a=f32:2 'x=f32[n]:iota' 'y=f32[n]:ones' n=i32:1000 \\
        --check 'y == a*x + 1' --print 'y[:4]'
    """
    renderer = chosen_renderer()
    if values["spec"] is not None:
        return _spec(values, renderer, quiet=quiet)
    where = target(values, capture=renderer.owns_stdout)
    if values["image"] is None:
        raise click.UsageError("missing argument 'IMAGE'", click.get_current_context())
    for each in _own_options(of_spec=True):
        if each.name != "candidates" and values[each.name or ""] not in _ABSENT:
            raise RequestError(f"{each.opts[-1]} requires --spec")
    if values["output_format"] == "jsonl":
        raise RequestError("--format jsonl requires --spec").naming("--format", "--spec")
    images = [values["image"], *takewhile(is_image_name, values["arguments"])]
    if len(images) > 1:
        device = where.devices[0]
        output = "linked.ptx" if device.driver == "cpu" else "linked.cubin"
        words = ["cudarun", "link", *images, "-o", output, "-d", str(device)]
        raise RequestError(
            f"launch accepts one image, got {len(images)}: {', '.join(images)}",
            hint=f"link them first: {shlex.join(words)}",
        )
    if renderer.copies is not None and (len(where.devices) > 1 or where.devices[0].by == ALL):
        raise RequestError(
            "a program launches on one device at a time",
            hint="launch once for each",
            option="--device",
        )
    if values["sanitize"] is not None:  # in processes that compute-sanitizer starts
        from cudarun.session.launch.sanitizer import refuse_emulated, sanitize

        refuse_emulated(where)
        for option in given_on_line(click.get_current_context()):
            if option.name in _NEVER_SANITIZED:
                raise conflict("--sanitize", option.opts[-1])
        return finish(sanitize(values["sanitize"], request_of(values, where), where), renderer)
    # Imported here: --help needs no workers.
    from cudarun.session.launch.parent import launch, plan, prefetch
    from cudarun.session.workers.devices import DeviceWorkers
    from cudarun.session.workers.pool import worker_pool

    if values["dry_run"]:
        label = str(where.devices[0])
        return finish(plan(request_of(values, where), where.timeout, label), renderer)
    with worker_pool() as pool:
        # They initialize the driver while the parent parses the request.
        workers = DeviceWorkers(pool, where, prefetch, progress_display(where, quiet=quiet))
        reference = None
        if (selector := values["reference"]) is not None:  # its kernel's output is discarded
            alone = replace(
                where,
                devices=(selector,),
                context=ContextOptions(),
                together=False,
                capture=True,
                escape=False,
            )
            reference = DeviceWorkers(pool, alone, prefetch, progress_display(where))
        request = request_of(values, where)
        if renderer.copies is not None:
            request = request.with_options(copies=renderer.copies)
        report = launch(request, workers, reference=reference, meanwhile=renderer.prepare)
        return finish(report, renderer)


def request_of(values: Values, where: Target) -> Program:
    """Return the launch that the command line describes: to a server, the same again and again."""
    with reading(where):
        data = _all_that_it_reads(values)
    if data is not None:
        known = _known_request((*values.items(),), where, data)
        if known.last.image.data == data:  # the file has not changed meanwhile
            return known
    return _new_request(values, where)


@lru_cache(64)
def _known_request(values: Iterable[tuple[str, object]], where: Target, _data: bytes) -> Program:
    return _new_request(dict(values), where)


def _all_that_it_reads(values: Values) -> bytes | None:
    """Return the contents of a short image; ``None`` if a launch depends on other files, too."""
    image, words = values["image"], values["arguments"]
    files = _own_options(of_spec=False)
    if (
        not all(isinstance(each, str) and "@" not in each for each in (image, *words))
        or any(values[each.name or ""] not in _ABSENT for each in files)
        or values[STEPS]
        or values["seed"] == "random"
        or os.path.exists(files_beside(image)[0])
    ):
        return None
    try:
        found = os.stat(image)
        if image == "-" or not stat.S_ISREG(found.st_mode) or found.st_size > _SHORT:
            return None
        with open(image, "rb") as file:
            data = file.read()
    except (OSError, ValueError):  # its reader reports it
        return None
    return None if data[:4] == ZIP_MAGIC else data  # a recording is more than its image


@cache
def _own_options(*, of_spec: bool) -> list[Option]:
    """Return the options of the run of a spec, or those that name files."""
    options = (each for each in command.params if isinstance(each, Option))
    return [each for each in options if (each.of_spec if of_spec else each.file is not None)]


_SHORT = 1 << 16


def _new_request(values: Values, where: Target) -> Program:
    # Imported here, while the workers are already running.
    from cudarun.commands.files import image_files, input_files, output_files
    from cudarun.commands.launch_request import program_request
    from cudarun.session.image.kernels import check_kernel
    from cudarun.session.launch.detection import check_detection

    with reading(where):
        steps = [*step_values(values)]
        steps[0] = _with_candidate(steps[0])
        request = program_request(steps, where, _image)
        parameters = click.get_current_context().command.params
        outputs = output_files(parameters, steps[0], devices=where.devices)
        of_step = [each for each in parameters if isinstance(each, Option) and each.of_step]
        for each in steps[1:]:
            outputs += output_files(of_step, each, devices=where.devices)
        if outputs:
            inputs = [path for image in request.images for path in image_files(image)]
            inputs += [path for each in steps for path in input_files(parameters, each)]
            check_outputs(outputs, inputs)
    baseline = request.options.baseline
    for step in (*request.steps, *(baseline.program.steps if baseline else ())):
        check_kernel(step.image, step.kernel)
    check_detection(request, where.devices)
    if values["write_spec"] is not None:
        from cudarun.commands.spec_writer import append_case

        name = append_case(values["write_spec"], click.get_current_context(), request)
        done = f"appended case '{name}' to {values['write_spec']}"
        click.echo(shown(done, sys.stderr), err=True)
    return request


def _image(values: Values) -> Image:
    from cudarun.commands.launch_request import code_of

    options = filled(CompileOptions, values)
    image, candidate = code_of(values)
    found = read_input(candidate or image, options, values["max_image"], values["kernel"])
    return found if candidate is None else found.replaying(read_input(image))


_ABSENT = (None, False, ())  # values of options that are not given


def _with_candidate(values: Values) -> Values:
    """Return the values of a launch with the candidate for the code of its recording."""
    if not values["candidates"]:
        return values
    from cudarun.commands.recorded_request import with_candidate  # few launches have one

    if values[STEPS]:
        raise conflict("--candidate", "--then", "a candidate is the code of one launch")
    if not is_recording(values["image"]):
        raise RequestError(
            "--candidate requires --spec, or a recording as the image", option="--candidate"
        )
    if len(values["candidates"]) > 1:
        raise RequestError(
            "a launch has one candidate",
            hint='write a spec of the recording: image = "NAME.cudarun"',
            option="--candidate",
        )
    return with_candidate(values, values["candidates"][0], is_recording=True)


def _spec(values: Values, renderer: Renderer, *, quiet: bool) -> int:
    """Run a spec: report each completed case, or one document."""
    _refuse_with_spec()
    where = target(values, capture=True, default_timeout=CASE_TIMEOUT)
    if values["listed"]:
        if values["junit"] is not None:
            raise conflict("--list", "--junit", "--list runs no case")
        from cudarun.model.spec import SpecListing

        listed = tuple(case.listed() for case in _cases(values, where))
        return finish(SpecListing(values["spec"], listed), renderer)
    from cudarun.session.spec.limits import CandidateLimits
    from cudarun.session.spec.parent import device_runs, run_spec

    with device_runs(where) as runs:  # the workers start while the spec is read
        cases = _cases(values, where)
        from cudarun.commands.files import output_files

        outputs = [  # the rule for them applies across the cases, and to the report
            replace(output, case=(f"{values['spec']}:{case.line}", case.label))
            for case in cases
            for output in case.outputs
        ]
        parameters = click.get_current_context().command.params
        own = (each for each in parameters if isinstance(each, Option))
        outputs += output_files((each for each in own if each.scope is OptionScope.RUN), values)
        inputs = (path for case in cases for path in case.inputs)
        check_outputs(outputs, [values["spec"], *inputs])
        if values["best"] is not None and not any(case.is_timed for case in cases):
            raise RequestError(
                "no selected case is timed", hint="add repeat = N to the cases", option="--best"
            )
        renderer.prepare()
        report = run_spec(
            values["spec"],
            cases,
            runs,
            limits=CandidateLimits(values["budget"] or None, fail_fast=values["fail_fast"]),
            display=progress_display(where, quiet=quiet),
            on_case=renderer.add,
            keep=not renderer.streams,
            best=values["best"],
        )
    return finish(report, renderer)


def _cases(values: Values, where: Target) -> list[Case]:
    """Read the selected cases of a spec."""
    from cudarun.commands.spec_file import read_spec
    from cudarun.commands.spec_options import spec_options

    names = [name for name in (values["image"], *values["arguments"]) if name is not None]
    options = spec_options(click.get_current_context())
    return read_spec(values["spec"], names, where, options, values["filter_text"])


_NEVER_SANITIZED = frozenset(
    {
        *("together", "repeat", "reference", "baseline"),
        *("seeds", "schedule", "schedules", "stateless"),
    }
)


def _refuse_with_spec() -> None:
    """Refuse options of a single launch with ``--spec``; the file has them."""
    context = click.get_current_context()
    if context.params[STEPS]:
        raise RequestError(
            "--then applies to one launch; set it in the cases of the spec", option="--spec"
        )
    for each in given_on_line(context):
        if isinstance(each, Option) and not each.goes_with_spec:
            raise RequestError(
                f"{each.opts[-1]} applies to one launch; set it in the cases of the spec",
                option="--spec",
            )
