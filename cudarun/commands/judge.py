"""``cudarun judge``: whole submissions in Python, against the reference of a problem."""

from __future__ import annotations

import os
from typing import Any

import click

from cudarun.arguments.assertions import parse_assertion
from cudarun.base.errors import RequestError
from cudarun.commands import completion
from cudarun.commands.declaration import filled, options_of
from cudarun.commands.help import Command
from cudarun.commands.numbers import seconds, size
from cudarun.commands.options import device_option, output_options, stack
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.session.driver.selection import ALL
from cudarun.session.judge.request import JudgeRequest
from cudarun.session.launch.assertions import check_counted

_TIMEOUT = 60.0


@click.command("judge", cls=Command)
@click.argument("submissions", nargs=-1, metavar="SUBMISSION...", shell_complete=completion.files)
@device_option(default="0", show_default=True, help="The device: a GPU, or cpu.")
@stack(*options_of(JudgeRequest, timeout={"type": seconds}, memory={"type": size()}).values())
@output_options
def command(submissions: tuple[str, ...], **values: Any) -> int:
    """Judge whole submissions in Python, each in a confined process.

    A SUBMISSION has ModelNew, for a problem with Model, get_inputs and get_init_inputs
    (KernelBench), or custom_kernel, for a folder with reference.py and task.yml (GPU MODE). Each
    run has new inputs. The outputs are compared in the process of the problem, and the time is
    that of this process. On cpu the kernels run as by cudarun exec.

    \b
    cudarun judge --problem problem.py submission.py
    cudarun judge --problem vectoradd_py -d cpu honest.py cheat.py
    """
    if not submissions:
        raise RequestError("missing SUBMISSION", hint="cudarun judge --problem PATH a.py")
    for path in (*submissions, values["problem"]):
        if not os.path.exists(path):
            raise RequestError("no such file", origin=path or "--problem")
        if path in submissions and not os.path.isfile(path):
            raise RequestError("not a file", origin=path)
    device = values["devices"][0]
    if len(values["devices"]) > 1 or device.by == ALL:
        raise RequestError("judge uses one device", option="--device")
    limit = _TIMEOUT if values["timeout"] is None else values["timeout"] or None
    asserts = tuple(map(parse_assertion, values["asserts"]))
    if any(each.is_resource for each in asserts) or (asserts and device.driver != "cpu"):
        raise RequestError("judge counts instructions, on cpu only", option="--assert")
    for each in asserts:
        check_counted(each)
    request = filled(
        JudgeRequest, {**values, "timeout": limit}, submissions=submissions, device=device,
        asserts=asserts,
    )  # fmt: skip
    renderer = chosen_renderer()
    # Imported here: --help starts no process.
    from cudarun.session.judge.parent import judge

    renderer.prepare()
    return finish(judge(request, renderer.progress), renderer)
