"""JUnit XML of the cases of a spec, for CI systems.

There is no standard; Jenkins' schema and the readers of GitHub and GitLab accept this: a
``testsuite`` for each device, a ``testcase`` for each of its cases, ``failure`` for failed checks,
``error`` for a launch that did not come back, ``skipped`` with the reason; ``system-out`` for the
output of the kernel, ``system-err`` for warnings and notes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cudarun import machine
from cudarun.model.spec import CaseReport, SpecReport
from cudarun.report.notes import remarks
from cudarun.report.renderer import BesideRenderer
from cudarun.report.suites import Suites, add_outcome, xml_text
from cudarun.writing import whole_file

if TYPE_CHECKING:
    from cudarun.model.report import Report
    from cudarun.report.renderer import Renderer
    from cudarun.writing import OutputFile


class JUnitRenderer(BesideRenderer):
    """A JUnit XML file beside another output, which is written last.

    Args:
        output: The file.
        beside: The other output.
    """

    def __init__(self, output: OutputFile, beside: Renderer) -> None:
        super().__init__(beside)
        self.owns_stdout = beside.owns_stdout
        self._output = output

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
        self.beside.end(report)


def _write(root: ElementTree.Element, output: OutputFile) -> None:
    ElementTree.indent(root)
    root.tail = "\n"
    with whole_file(output) as file:
        ElementTree.ElementTree(root).write(file, "utf-8", xml_declaration=True)


def _suites(report: SpecReport) -> ElementTree.Element:
    suites = Suites(report.spec)
    for label in dict.fromkeys(case.device for case in report.cases):
        cases = [case for case in report.cases if case.device == label]
        device = machine.device(label)
        uuid = "" if device is None else f" ({device.uuid})"
        host = machine.host()
        suite = suites.add(f"{host}/{label}{uuid}", host)
        for case in cases:
            _add_case(suites.add_case(suite, case.label, label, case.seconds), case)
        suites.total(suite, sum(case.seconds for case in cases))
    return suites.finished(sum(case.seconds for case in report.cases))


def _add_case(element: ElementTree.Element, case: CaseReport) -> None:
    from cudarun.report.spec_tables import failure_text  # rich would delay the start of the work

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
