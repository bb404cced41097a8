"""JUnit XML of a fleet: a suite for each GPU, and one for each host that was not measured."""

from __future__ import annotations

from xml.etree import ElementTree

from cudarun.errors import ExitCode
from cudarun.model.fleet import FleetGpu, FleetReport
from cudarun.report.suites import Suites, add_outcome

CONSENSUS = "consensus"
"""The name of the test case that fails where outputs differ from those of other GPUs."""


def fleet_suites(report: FleetReport) -> ElementTree.Element:
    """Return the document of a fleet."""
    suites = Suites(report.spec)
    for host in report.hosts:
        for gpu in host.gpus:
            _add_gpu(suites, host.host, gpu)
        if not host.gpus:
            suite = suites.add(host.host, host.host)
            case = suites.add_case(suite, "measurement", host.host)
            problem = f"not measured: {host.problem or 'no device'}"
            add_outcome(case, "error", problem, ExitCode.NO_DEVICE.name)
            suites.total(suite)
    return suites.finished()


def _add_gpu(suites: Suites, host: str, gpu: FleetGpu) -> None:
    place = f"{host}/{gpu.identity.label}"
    suite = suites.add(f"{place} ({gpu.identity.uuid})", host)
    group = f"{host}.{gpu.identity.label}"
    for case in gpu.cases:
        element = suites.add_case(suite, case.name, group)
        if case.verdict == "skipped":
            add_outcome(element, "skipped", case.reason or "")
        elif case.verdict == "failed":
            kind = "failure" if case.exit_code is ExitCode.CHECK_FAILED else "error"
            add_outcome(element, kind, case.reason or "", case.exit_code.name)
    element = suites.add_case(suite, CONSENSUS, group)
    if gpu.objections:
        add_outcome(element, "failure", "; ".join(gpu.objections), ExitCode.CHECK_FAILED.name)
    suites.total(suite)
