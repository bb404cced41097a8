"""JUnit XML of the cases of a spec, for CI systems.

There is no standard; Jenkins' schema and the readers of GitHub and GitLab accept this: a
``testsuite`` for each device, a ``testcase`` for each of its cases, ``failure`` for failed checks,
``error`` for a launch that did not come back, ``skipped`` with the reason; ``system-out`` for the
output of the kernel, ``system-err`` for warnings and notes.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cudarun.base import machine
from cudarun.base.errors import ExitCode
from cudarun.base.files import OutputFile, whole_file
from cudarun.model.exec import ExecReport
from cudarun.model.fleet import FleetReport
from cudarun.model.spec import SpecReport
from cudarun.report.notes import remarks

if TYPE_CHECKING:
    from cudarun.model.report import Report

# XML 1.0, section 2.2: the characters that a document can hold.
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COUNTS = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
CONSENSUS = "consensus"
"""The name of the test case that fails where outputs differ from those of other GPUs."""


def write_junit(report: Report, output: OutputFile) -> None:
    """Write the JUnit XML of a spec, a fleet or a program."""
    if report.tag == "launch-spec":
        root = _spec_suites(report)
    elif report.tag == "fleet":
        root = _fleet_suites(report)
    elif report.tag == "exec":
        root = _exec_suite(report)
    else:
        return
    ElementTree.indent(root)
    root.tail = "\n"
    with whole_file(output) as file:
        ElementTree.ElementTree(root).write(file, "utf-8", xml_declaration=True)


class Suites:
    """The suites of a spec file."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._stem = os.path.splitext(os.path.basename(spec))[0]
        self._root = ElementTree.Element("testsuites", {"name": xml_text(spec)})

    def add(self, place: str, host: str) -> ElementTree.Element:
        """Add a suite for a device or a host."""
        names = {"name": xml_text(f"{self._spec} on {place}"), "hostname": xml_text(host)}
        return ElementTree.SubElement(self._root, "testsuite", names)

    def add_case(
        self, suite: ElementTree.Element, name: str, place: str, seconds: float | None = None
    ) -> ElementTree.Element:
        """Add a case to a suite."""
        names = {"name": xml_text(name), "classname": xml_text(f"{self._stem}.{place}")}
        return ElementTree.SubElement(suite, "testcase", names | _time(seconds))

    def total(self, suite: ElementTree.Element, seconds: float | None = None) -> None:
        """Set the counts of a suite when all its cases are there."""
        suite.set("tests", str(len(suite)))
        for name, tag in _COUNTS:
            suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
        suite.attrib.update(_time(seconds))

    def finished(self, seconds: float | None = None) -> ElementTree.Element:
        """Return the root with its counts; the schema knows skipped cases of a suite alone."""
        for name in ("tests", "failures", "errors"):
            self._root.set(name, str(sum(int(suite.get(name, "0")) for suite in self._root)))
        self._root.attrib.update(_time(seconds))
        return self._root


def add_outcome(
    case: ElementTree.Element, kind: str, message: str, cause: str | None = None
) -> ElementTree.Element:
    """Add to a case that it was skipped, that it failed, or that it had an error."""
    attributes = {"message": xml_text(message)} | ({} if cause is None else {"type": cause})
    return ElementTree.SubElement(case, kind, attributes)


def xml_text(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _time(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"time": f"{seconds:.3f}"}


# --- specs ----------------------------------------------------------------------------------------


def _spec_suites(report: SpecReport) -> ElementTree.Element:
    suites = Suites(report.spec)
    for label in dict.fromkeys(case.device for case in report.cases):
        cases = [case for case in report.cases if case.device == label]
        device = machine.device(label)
        uuid = "" if device is None else f" ({device.uuid})"
        host = machine.host()
        suite = suites.add(f"{host}/{label}{uuid}", host)
        for case in cases:
            element = suites.add_case(suite, case.label, label, case.seconds)
            from cudarun.report.spec_tables import (
                failure_text,  # rich would delay the start of the work
            )

            if case.verdict == "skipped":
                add_outcome(element, "skipped", case.reason or "")
            elif case.verdict == "failed":
                kind = "error" if case.result is None else "failure"
                cause = case.error.kind if case.error is not None else "CheckFailed"
                problem = add_outcome(element, kind, case.reason or "", cause)
                problem.text = xml_text(failure_text(case))
            if case.output:
                ElementTree.SubElement(element, "system-out").text = xml_text(case.output)
            odd = [f"{severity}: {words}" for severity, words in remarks(case)]
            if odd:
                ElementTree.SubElement(element, "system-err").text = xml_text("\n".join(odd))
        suites.total(suite, sum(case.seconds for case in cases))
    return suites.finished(sum(case.seconds for case in report.cases))


# --- programs -------------------------------------------------------------------------------------


def _exec_suite(report: ExecReport) -> ElementTree.Element:
    """Return the document of a program: one case."""
    from cudarun.report.exec_tables import failure_text  # rich would delay the start of the work

    suites = Suites("exec")
    suite = suites.add(report.program, machine.host())
    case = suites.add_case(suite, report.program, "cpu", report.seconds)
    if report.exit_code:
        kind = "failure" if report.exit_code == ExitCode.CHECK_FAILED else "error"
        text = failure_text(report)
        add_outcome(case, kind, text.partition("\n")[0]).text = xml_text(text)
    suites.total(suite, report.seconds)
    return suites.finished(report.seconds)


# --- fleets ---------------------------------------------------------------------------------------


def _fleet_suites(report: FleetReport) -> ElementTree.Element:
    """Return the document of a fleet."""
    suites = Suites(report.spec)
    for host in report.hosts:
        for gpu in host.gpus:
            place = f"{host.host}/{gpu.identity.label}"
            suite = suites.add(f"{place} ({gpu.identity.uuid})", host.host)
            group = f"{host.host}.{gpu.identity.label}"
            for each in gpu.cases:
                element = suites.add_case(suite, each.name, group)
                if each.verdict == "skipped":
                    add_outcome(element, "skipped", each.reason or "")
                elif each.verdict == "failed":
                    kind = "failure" if each.exit_code is ExitCode.CHECK_FAILED else "error"
                    add_outcome(element, kind, each.reason or "", each.exit_code.name)
            element = suites.add_case(suite, CONSENSUS, group)
            if gpu.objections:
                cause = ExitCode.CHECK_FAILED.name
                add_outcome(element, "failure", "; ".join(gpu.objections), cause)
            suites.total(suite)
        if not host.gpus:
            suite = suites.add(host.host, host.host)
            case = suites.add_case(suite, "measurement", host.host)
            problem = f"not measured: {host.problem or 'no device'}"
            add_outcome(case, "error", problem, ExitCode.NO_DEVICE.name)
            suites.total(suite)
    return suites.finished()
