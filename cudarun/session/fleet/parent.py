"""The parent's half of a fleet: the same command for every host, and the comparison of all GPUs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from cudarun.base.decoding import InvalidDocument
from cudarun.base.files import OutputFile, whole_file
from cudarun.base.records import dataclass
from cudarun.model.fleet import FleetGpu, FleetHost, FleetReport
from cudarun.session.fleet.consensus import compare
from cudarun.session.fleet.node_document import read_node_document
from cudarun.session.fleet.transport import Transport
from cudarun.session.workers.programs import ProgramResult


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """The request of a fleet.

    Attributes:
        spec: The spec file.
        archive: What every node gets.
        seed: The seed of all cases; ``None`` for their own.
        transport: The hosts, and the way to them.
        keep: The file for the archive, if outputs differ.
    """

    spec: str
    archive: bytes
    seed: int | None
    transport: Transport
    keep: OutputFile | None = None


def run_fleet(
    request: FleetRequest,
    on_host: Callable[[FleetHost], object] = lambda host: None,
    on_progress: Callable[[int], object] = lambda done: None,
) -> FleetReport:
    """Run a spec on all hosts, and compare their GPUs.

    Raises:
        RequestError: The archive cannot be written.
    """
    started = time.monotonic()
    found: dict[str, FleetHost] = {}
    for host, result in request.transport.run(request.archive):
        found[host] = host_report(host, result)
        on_host(found[host])
        on_progress(len(found))
    comparison = compare([found[host] for host in request.transport.hosts])
    seconds = time.monotonic() - started
    report = FleetReport(request.spec, request.seed, seconds, *comparison)
    if request.keep is None or not any(each.dissenting for each in report.consensus):
        return report
    with whole_file(request.keep) as file:
        file.write(request.archive)
    return replace(report, kept=request.keep.path)


def host_report(host: str, result: ProgramResult) -> FleetHost:
    """Return the report of a host from the end of its command."""
    try:
        gpus = read_node_document(result.stdout)
    except InvalidDocument as error:
        return FleetHost(host, result.seconds, problem=_problem(result, str(error)))
    return FleetHost(host, result.seconds, tuple(FleetGpu(gpu.identity, gpu.cases) for gpu in gpus))


def _problem(result: ProgramResult, unreadable: str) -> str:
    """Return why a host was not measured."""
    if result.killed is not None:
        return result.killed
    if result.status == 0 or result.stdout.strip():
        return unreadable
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    return f"exit status {result.status}" + (f": {lines[-1].strip()}" if lines else "")
