"""``cudarun fleet``: a spec on every GPU of many machines."""

from __future__ import annotations

import os
import shlex
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudarun import __version__
from cudarun.base.errors import RequestError
from cudarun.base.files import FileUse, check_outputs
from cudarun.base.terminal import one_line
from cudarun.commands import completion
from cudarun.commands.declaration import Values, filled, given_on_line, option, options_of
from cudarun.commands.help import Command
from cudarun.commands.numbers import seconds, whole
from cudarun.commands.options import output_options
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.report.terminal import shown
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.fleet.request import CASE_TIMEOUT, NodeRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.model.fleet import FleetHost
    from cudarun.session.spec.case import Case

SSH = "ssh -o BatchMode=yes {host}"
AT_ONCE = 32
HOST_TIMEOUT = 600.0


def _words(text: str) -> tuple[str, ...]:
    """Split a command into words without a shell."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise click.BadParameter(f"'{text}': {error}".lower()) from None
    if not words:
        raise click.BadParameter("it has no words")
    return words


def _devices(text: str) -> str:
    parse_devices(text)
    return text


_with_default = partial(option, show_default=True)
_OPTIONS = options_of(
    NodeRequest,
    devices={"type": _devices},
    timeout={"type": seconds},
    soak={"type": seconds, "show_default": False},
)


@click.command("fleet", cls=Command)
@click.argument("spec", required=False, shell_complete=completion.files)
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@option("--hosts LIST", help="The machines: gpu[01-64],login2, or @FILE with a machine per line.")
@_with_default(
    "--via COMMAND",
    type=_words,
    default=SSH,
    help="The command that runs another one on {host}: srun, kubectl exec, docker exec, …. It is "
    "split into words without a shell.",
)
@_with_default(
    "--program COMMAND", type=_words, default="cudarun", help="The command of cudarun on the nodes."
)
@_OPTIONS["devices"]
@_with_default(
    "-j",
    "--jobs N",
    type=whole(1, 10_000),
    default=AT_ONCE,
    help="Number of nodes at the same time.",
)
@_with_default(
    "--host-timeout SECONDS",
    type=seconds,
    default=HOST_TIMEOUT,
    help="Time limit of a node in seconds, --soak not counted.",
)
@_OPTIONS["timeout"]
@_OPTIONS["runs"]
@_OPTIONS["soak"]
@_OPTIONS["seed"]
@_OPTIONS["filter_text"]
@click.option(
    "--allow-python",
    is_flag=True,
    help="Allow the nodes, or with --node this machine, to run the Python functions that cases "
    "compare with.",
)
@option(
    "--keep FILE",
    file=FileUse.OUTPUT,
    help="Write the spec with its inputs to a file if outputs differ; 'cudarun fleet --node < "
    "FILE' runs it again.",
)
@option("--junit FILE", file=FileUse.JUNIT, help="Write a JUnit XML report.")
@option(
    "--openmetrics FILE",
    file=FileUse.METRICS,
    help="Write the results of the GPUs as OpenMetrics, for Prometheus.",
)
@click.option(
    "--node", is_flag=True, help="Run the archive on stdin on this machine; --via starts it so."
)
@output_options
def command(spec: str | None, **values: Any) -> int:
    """Run the cases of SPEC on every GPU of many machines, and compare the GPUs.

    The result of each GPU is ok, wrong answer, fault, hang, image refused or not measured. An
    output that differs from that of most GPUs of the same kind is a wrong answer, even if the
    check passes. The spec and its files are sent to the nodes, which need cudarun and nothing else.

    \b
    cudarun fleet cases.toml --hosts 'gpu[01-64]'
    cudarun fleet cases.toml --hosts @nodes.txt --via 'srun -w {host} -N1 -n1'
    cudarun fleet cases.toml --hosts 'gpu[01-64]' --soak 30m --keep differs.zip
    """
    if values["node"]:
        given = given_on_line(click.get_current_context())
        others = [o.opts[-1] for o in given if o.name not in ("node", "as_json", "allow_python")]
        if spec is not None or others:
            other = others[0] if spec is None else spec
            raise RequestError(f"--node and {other} cannot be combined")
        return _node(allow_python=values["allow_python"])
    renderer = chosen_renderer()
    if spec is None:
        raise click.UsageError("missing argument 'SPEC'", click.get_current_context())
    from cudarun.commands.files import output_files
    from cudarun.session.fleet.archive import pack
    from cudarun.session.fleet.hosts import parse_hosts
    from cudarun.session.fleet.parent import NODE, Transport, run_fleet

    if values["hosts"] is None:
        raise click.UsageError("missing option '--hosts'", click.get_current_context())
    limit, hosts = values["host_timeout"] + values["soak"], parse_hosts(values["hosts"])
    program = (*values["program"], *NODE)
    if values["allow_python"]:
        program += ("--allow-python",)
    transport = Transport(hosts, values["via"], program, values["jobs"], limit)
    spec = os.path.relpath(spec) if spec != "-" else spec
    where = Target(parse_devices(values["devices"]))
    # A node reads the whole spec, so that it needs the files of all cases.
    everything = _cases(spec, (), values | {"filter_text": None}, where)
    cases = _cases(spec, values["cases"], values, where)
    outputs = output_files(click.get_current_context().command.params, values)
    check_outputs(outputs, [spec, *(path for case in cases for path in case.inputs)])
    _refuse_outputs(cases)
    keep = next((each for each in outputs if each.option == "--keep"), None)
    seed = values["seed"]
    if seed is None and any(case.drawn_seed is not None for case in cases):
        import secrets

        seed = secrets.randbits(32)  # one for all nodes, where a case would draw one on each
    own = {"names": values["cases"], "seed": seed, "limit": limit, "spec": ""}
    node = filled(NodeRequest, values, version=__version__, **own)
    archive = pack(spec, (path for case in everything for path in case.inputs), node)
    renderer.begin(hosts)
    started = time.monotonic()

    def show(host: FleetHost, done: int) -> None:
        if values["verbose"]:
            what = host.problem or f"{len(host.gpus)} GPUs in {host.seconds:.1f} s"
            line = f"{time.monotonic() - started:8.3f} s  {host.host}: {what}"
            click.echo(shown(one_line(line), sys.stderr), err=True)
        renderer.add(host)
        renderer.progress(f"{done} of {len(hosts)} nodes")

    return finish(run_fleet(spec, archive, seed, transport, keep, show), renderer)


def _node(*, allow_python: bool) -> int:
    """Run the archive on stdin, and write the document of this machine.

    Args:
        allow_python: The user of this machine allows the Python functions of the archive.
    """
    from cudarun.report.json import JsonRenderer
    from cudarun.session.fleet.archive import unpack
    from cudarun.session.fleet.node import run_node
    from cudarun.session.workers.program import temporary_folder

    with temporary_folder() as folder:
        request = unpack(sys.stdin.buffer.read(), Path(folder))
        os.chdir(folder)
        where = Target(parse_devices(request.devices), timeout=CASE_TIMEOUT, capture=True)
        values = {
            "seed": request.seed,
            "timeout": request.timeout,
            "filter_text": request.filter_text,
            "allow_python": allow_python,
        }
        cases = _cases(request.spec, request.names, values, where)
        _refuse_outputs(cases)
        report = run_node(cases, where, request, sys.stdout.fileno())
        os.chdir("/")
    return finish(report, JsonRenderer())


def _cases(spec: str, names: Sequence[str], values: Values, where: Target) -> list[Case]:
    from cudarun.commands.spec_file import read_spec
    from cudarun.commands.spec_options import SpecOptions

    given = {name: values[name] for name in ("seed", "timeout") if values[name] is not None}
    options = SpecOptions(
        allows_python=values["allow_python"], overrides={"devices": where.devices, **given}
    )
    return read_spec(spec, names, where, options, values["filter_text"])


def _refuse_outputs(cases: Sequence[Case]) -> None:
    for case in cases:
        if case.outputs:
            raise RequestError(
                f"case '{case.name}' writes {case.outputs[0].path}: nodes send no files back",
                option=case.outputs[0].option,
            )
