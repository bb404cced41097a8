"""JUnit XML of a fleet: a suite for each GPU, and one for each host that was not measured."""

from __future__ import annotations

import os
from xml.etree import ElementTree

from cudarun.errors import ExitCode
from cudarun.model.fleet import FleetGpu, FleetHost, FleetReport
from cudarun.report.xml import xml_text

CONSENSUS = "consensus"
"""The name of the test case that fails where outputs differ from those of other GPUs."""


def fleet_suites(report: FleetReport) -> ElementTree.Element:
    """Return the document of a fleet."""
    root = ElementTree.Element("testsuites", {"name": xml_text(report.spec)})
    stem = os.path.splitext(os.path.basename(xml_text(report.spec)))[0]
    for host in report.hosts:
        if not host.gpus:
            _not_measured(root, report.spec, stem, host)
        for gpu in host.gpus:
            _add_gpu(root, report.spec, stem, host.host, gpu)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    return root


def _add_gpu(root: ElementTree.Element, spec: str, stem: str, host: str, gpu: FleetGpu) -> None:
    place = f"{host}/{gpu.identity.label} ({gpu.identity.uuid})"
    suite = _suite(root, f"{spec} on {place}", host)
    for case in gpu.cases:
        element = _case(suite, case.name, f"{stem}.{host}.{gpu.identity.label}")
        reason = xml_text(case.reason or "")
        if case.verdict == "skipped":
            ElementTree.SubElement(element, "skipped", message=reason)
        elif case.verdict == "failed":
            is_check = case.exit_code is ExitCode.CHECK_FAILED
            kind = "failure" if is_check else "error"
            ElementTree.SubElement(element, kind, message=reason, type=case.exit_code.name)
    element = _case(suite, CONSENSUS, f"{stem}.{host}.{gpu.identity.label}")
    if gpu.objections:
        message = xml_text("; ".join(gpu.objections))
        ElementTree.SubElement(element, "failure", message=message, type="CHECK_FAILED")
    _total(suite)


def _not_measured(root: ElementTree.Element, spec: str, stem: str, host: FleetHost) -> None:
    suite = _suite(root, f"{spec} on {host.host}", host.host)
    element = _case(suite, "measurement", f"{stem}.{host.host}")
    message = xml_text(f"not measured: {host.problem or 'no device'}")
    ElementTree.SubElement(element, "error", message=message, type="NO_DEVICE")
    _total(suite)


def _suite(root: ElementTree.Element, name: str, host: str) -> ElementTree.Element:
    names = {"name": xml_text(name), "hostname": xml_text(host)}
    return ElementTree.SubElement(root, "testsuite", names)


def _case(suite: ElementTree.Element, name: str, group: str) -> ElementTree.Element:
    names = {"name": xml_text(name), "classname": xml_text(group)}
    return ElementTree.SubElement(suite, "testcase", names)


def _total(suite: ElementTree.Element) -> None:
    suite.set("tests", str(len(suite)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
