"""The parent's half of a fleet: the same command for every host, and the comparison of all GPUs.

The output of a remote command is not trusted: a node's document is read strictly.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from cudarun import __version__
from cudarun.base.decoding import InvalidDocument, decode, parse
from cudarun.base.errors import RequestError
from cudarun.base.files import OutputFile, whole_file
from cudarun.base.records import dataclass
from cudarun.model.fleet import VERDICTS, FleetGpu, FleetHost, FleetReport, NodeGpu
from cudarun.session.fleet.consensus import compare
from cudarun.session.workers.programs import ProgramResult, run_programs

MAX_DOCUMENT = 64 << 20  # the most bytes of a node's document
MAX_GPUS = 1024  # the most GPUs of a node

_SCHEMA = "cudarun/fleet-node/1"
HOST = "{host}"  # the place of the host in the words of a prefix
NODE = ("fleet", "--node", "--json")  # the words after the program on a node


def read_node_document(data: bytes) -> tuple[NodeGpu, ...]:
    """Return the GPUs of a node's document.

    Raises:
        InvalidDocument: It is no document, an error, of another version, or invalid, or it names a
            GPU twice.
    """
    if not data.strip():
        raise InvalidDocument("no output")
    try:
        document = parse(data)
    except InvalidDocument:
        raise InvalidDocument(f"the output is not a JSON document: {_start(data)}") from None
    if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
        raise InvalidDocument(f"the output is not a document {_SCHEMA}: {_start(data)}")
    if isinstance(error := document.get("error"), dict):
        raise InvalidDocument(decode(str, error.get("message"), "error.message"))
    version = decode(str, document.get("version"), "version")
    if version != __version__:
        raise InvalidDocument(f"cudarun {version} on the node, {__version__} here")
    value = document.get("gpus")
    if isinstance(value, list) and len(value) > MAX_GPUS:
        raise InvalidDocument(f"the document has more than {MAX_GPUS} GPUs")
    gpus = decode(tuple[NodeGpu, ...], value, "gpus")
    for what in ("uuid", "label"):
        _refuse_twice((getattr(gpu.identity, what) for gpu in gpus), f"the {what} of two GPUs")
    for gpu in gpus:
        _refuse_twice((case.name for case in gpu.cases), "the name of two cases")
        for case in gpu.cases:
            if case.exit_code not in VERDICTS or (case.milliseconds or 0.0) < 0.0 or case.runs < 0:
                raise InvalidDocument(f"the result of case {case.name!r} is impossible")
            _refuse_twice((each.buffer for each in case.changes), "the buffer of two changes")
    return gpus


def _refuse_twice(values: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise InvalidDocument(f"{value!r} is {what}")
        seen.add(value)


def _start(data: bytes) -> str:
    """Return the first line of an output, for a message."""
    line = data.strip().split(b"\n", 1)[0][:80]
    return repr(line.decode(errors="replace"))


@dataclass(frozen=True, slots=True)
class Transport:
    """A command prefix, such as ``ssh {host}``."""

    hosts: tuple[str, ...]
    # The words before the command; ``{host}`` in them is replaced by the host.
    prefix: Sequence[str]
    program: Sequence[str]  # the words that run `NODE` of cudarun on a node
    at_once: int  # the number of hosts at the same time
    host_timeout: float  # the time limit of a host in seconds

    def __post_init__(self) -> None:
        if len(self.hosts) > 1 and not any(HOST in word for word in self.prefix):
            what = f"'{shlex.join(self.prefix)}' does not contain {HOST}: all hosts would be one"
            raise RequestError(what, option="--via")


def run_fleet(
    spec: str,
    archive: bytes,
    seed: int | None,
    transport: Transport,
    keep: OutputFile | None,
    on_host: Callable[[FleetHost, int], object],
) -> FleetReport:
    """Run a spec on all hosts, and compare their GPUs.

    Args:
        archive: What every node gets.
        seed: The seed of all cases; ``None`` for their own.
        keep: The file for the archive, if outputs differ.
        on_host: Called with each host that has ended, and the number of those.
    """
    started = time.monotonic()
    reports: dict[str, FleetHost] = {}
    # The command of a host is a process of this machine, without a shell.
    commands = (
        (host, [*(word.replace(HOST, host) for word in transport.prefix), *transport.program])
        for host in transport.hosts
    )
    for host, result in run_programs(
        commands,
        archive,
        at_once=transport.at_once,
        timeout=transport.host_timeout,
        most_output=MAX_DOCUMENT,
    ):
        reports[host] = host_report(host, result)
        on_host(reports[host], len(reports))
    comparison = compare([reports[host] for host in transport.hosts])
    report = FleetReport(spec, seed, time.monotonic() - started, *comparison)
    if keep is None or not any(each.dissenting for each in report.consensus):
        return report
    with whole_file(keep) as file:
        file.write(archive)
    return replace(report, kept=keep.path)


def host_report(host: str, result: ProgramResult) -> FleetHost:
    """Return the report of a host from the end of its command."""
    try:
        gpus = read_node_document(result.stdout)
    except InvalidDocument as error:
        problem = result.killed
        if problem is None and (result.status == 0 or result.stdout.strip()):
            problem = str(error)
        if problem is None:
            lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
            problem = ": ".join([f"exit status {result.status}", *lines[-1:]])
        return FleetHost(host, result.seconds, problem=problem)
    return FleetHost(host, result.seconds, tuple(FleetGpu(gpu.identity, gpu.cases) for gpu in gpus))
