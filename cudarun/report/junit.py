"""JUnit XML of the cases of a spec, for CI systems.

There is no standard; Jenkins' schema and the readers of GitHub and GitLab accept this: a
``testsuite`` for each device, a ``testcase`` for each of its cases, ``failure`` for failed checks,
``error`` for a launch that did not come back, ``skipped`` with the reason; ``system-out`` for the
output of the kernel, ``system-err`` for warnings and notes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cudarun import machine
from cudarun.model.spec import CaseReport, SpecReport
from cudarun.report.notes import remarks
from cudarun.report.renderer import Renderer
from cudarun.report.xml import xml_text
from cudarun.writing import whole_file

if TYPE_CHECKING:
    from cudarun.model.report import Part, Report
    from cudarun.writing import OutputFile


class JUnitRenderer(Renderer):
    """A JUnit XML file beside another output.

    Args:
        output: The file.
        beside: The other output, which is written last.
    """

    def __init__(self, output: OutputFile, beside: Renderer) -> None:
        self.owns_stdout = beside.owns_stdout
        self._output = output
        self._beside = beside

    def prepare(self) -> None:
        """Prepare the other output."""
        self._beside.prepare()

    def begin(self, labels: Iterable[str]) -> None:
        """Begin the other output."""
        self._beside.begin(labels)

    def progress(self, text: str) -> None:
        """Show progress in the other output."""
        self._beside.progress(text)

    def add(self, part: Part) -> None:
        """Pass a result to the other output: the file is made of the whole report."""
        self._beside.add(part)

    def end(self, report: Report) -> None:
        """Write the file, then the other output.

        Raises:
            RequestError: The file cannot be written.
        """
        if report.tag == "launch-spec":
            _write(_suites(report), self._output)
        elif report.tag == "fleet":
            from cudarun.report.fleet_junit import fleet_suites

            _write(fleet_suites(report), self._output)
        self._beside.end(report)


def _write(root: ElementTree.Element, output: OutputFile) -> None:
    ElementTree.indent(root)
    root.tail = "\n"
    with whole_file(output) as file:
        ElementTree.ElementTree(root).write(file, "utf-8", xml_declaration=True)


def _suites(report: SpecReport) -> ElementTree.Element:
    totals = _totals(report.cases)
    del totals["skipped"]  # which the schema knows of a suite alone
    root = ElementTree.Element("testsuites", {"name": xml_text(report.spec)} | totals)
    for device in dict.fromkeys(case.device for case in report.cases):
        cases = [case for case in report.cases if case.device == device]
        names = {"name": f"{xml_text(report.spec)} on {_place(device)}", "hostname": machine.host()}
        suite = ElementTree.SubElement(root, "testsuite", names | _totals(cases))
        for case in cases:
            _add_case(suite, report.spec, case)
    return root


def _place(label: str) -> str:
    """Return a device with its host and UUID: ``gpu07/3 (GPU-5af…)``."""
    device = machine.device(label)
    uuid = "" if device is None else f" ({device.uuid})"
    return f"{machine.host()}/{label}{uuid}"


def _totals(cases: Sequence[CaseReport]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(_is_failure(case) for case in cases)),
        "errors": str(sum(_is_error(case) for case in cases)),
        "skipped": str(sum(case.verdict == "skipped" for case in cases)),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _is_error(case: CaseReport) -> bool:
    return case.verdict == "failed" and case.result is None


def _is_failure(case: CaseReport) -> bool:
    return case.verdict == "failed" and case.result is not None


def _add_case(suite: ElementTree.Element, spec: str, case: CaseReport) -> None:
    from cudarun.report.spec_tables import failure_text  # rich would delay the start of the work

    element = ElementTree.SubElement(
        suite,
        "testcase",
        name=xml_text(case.label),
        classname=f"{os.path.splitext(os.path.basename(xml_text(spec)))[0]}.{case.device}",
        time=f"{case.seconds:.3f}",
    )
    if case.verdict == "skipped":
        ElementTree.SubElement(element, "skipped", message=xml_text(case.reason or ""))
    elif case.verdict == "failed":
        kind = "error" if _is_error(case) else "failure"
        problem = ElementTree.SubElement(
            element,
            kind,
            message=xml_text(case.reason or ""),
            type=case.error.kind if case.error is not None else "CheckFailed",
        )
        problem.text = xml_text(failure_text(case))
    if case.output:
        ElementTree.SubElement(element, "system-out").text = xml_text(case.output)
    odd = [f"{severity}: {words}" for severity, words in remarks(case)]
    if odd:
        ElementTree.SubElement(element, "system-err").text = xml_text("\n".join(odd))
