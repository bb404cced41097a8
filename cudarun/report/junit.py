"""JUnit XML of the cases of a spec, for CI systems.

There is no standard; Jenkins' schema and the readers of GitHub and GitLab accept this: a
``testsuite`` for each device, a ``testcase`` for each of its cases, ``failure`` for failed checks,
``error`` for a launch that did not come back, ``skipped`` with the reason; ``system-out`` for the
output of the kernel, ``system-err`` for warnings and notes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from cudarun.base import machine
from cudarun.base.errors import ExitCode
from cudarun.base.files import OutputFile, whole_file
from cudarun.report.notes import remarks

if TYPE_CHECKING:
    from cudarun.model.exec import ExecReport
    from cudarun.model.fleet import FleetReport
    from cudarun.model.report import Report
    from cudarun.model.spec import CaseReport, SpecReport

# XML 1.0, section 2.2: the characters that a document can hold.
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KINDS = {"passed": "", "skipped": "skipped"}
_COUNTS = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
CONSENSUS = "consensus"
"""The name of the test case that fails where outputs differ from those of other GPUs."""


class _Case(NamedTuple):
    """A test case; ``kind`` is the element that says how it did not pass."""

    name: str
    place: str  # the device
    kind: str = ""
    message: str | None = None
    cause: str | None = None
    text: str = ""
    seconds: float | None = None
    out: str = ""
    err: str = ""


_Suite = tuple[str, str, float | None, Iterable[_Case]]  # the place, the host, the time, the cases


def write_junit(report: Report, output: OutputFile) -> None:
    """Write the JUnit XML of a spec, a fleet or a program."""
    if report.tag == "launch-spec":
        seconds = sum(case.seconds for case in report.cases)
        root = _document(report.spec, seconds, _spec_suites(report))
    elif report.tag == "fleet":
        root = _document(report.spec, None, _fleet_suites(report))
    elif report.tag == "exec":
        suite = report.program, machine.host(), report.seconds, [_program(report)]
        root = _document("exec", report.seconds, [suite])
    else:
        return
    ElementTree.indent(root)
    root.tail = "\n"
    with whole_file(output) as file:
        ElementTree.ElementTree(root).write(file, "utf-8", xml_declaration=True)


def _document(spec: str, seconds: float | None, suites: Iterable[_Suite]) -> ElementTree.Element:
    stem = os.path.splitext(os.path.basename(spec))[0]
    root = ElementTree.Element("testsuites", {"name": _xml_text(spec)})
    for place, host, of_suite, cases in suites:
        names = {"name": _xml_text(f"{spec} on {place}"), "hostname": _xml_text(host)}
        suite = ElementTree.SubElement(root, "testsuite", names)
        for case in cases:
            names = {"name": _xml_text(case.name), "classname": _xml_text(f"{stem}.{case.place}")}
            element = ElementTree.SubElement(suite, "testcase", names | _time(case.seconds))
            if case.kind:
                about = {"message": _xml_text(case.message or "")}
                about |= {} if case.cause is None else {"type": case.cause}
                problem = ElementTree.SubElement(element, case.kind, about)
                problem.text = _xml_text(case.text) or None
            for tag, text in (("system-out", case.out), ("system-err", case.err)):
                if text:
                    ElementTree.SubElement(element, tag).text = _xml_text(text)
        suite.set("tests", str(len(suite)))
        for name, tag in _COUNTS:
            suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
        suite.attrib.update(_time(of_suite))
    for name in ("tests", "failures", "errors"):  # the schema knows skipped cases of a suite alone
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.attrib.update(_time(seconds))
    return root


def _xml_text(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _time(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"time": f"{seconds:.3f}"}


def _spec_suites(report: SpecReport) -> Iterator[_Suite]:
    host = machine.host()
    for label in dict.fromkeys(case.device for case in report.cases):
        cases = [case for case in report.cases if case.device == label]
        device = machine.device(label)
        uuid = "" if device is None else f" ({device.uuid})"
        seconds = sum(case.seconds for case in cases)
        yield f"{host}/{label}{uuid}", host, seconds, map(_case, cases)


def _case(case: CaseReport) -> _Case:
    from cudarun.report.spec_tables import failure_text  # rich would delay the start of the work

    has_failed = case.verdict == "failed"
    cause = case.error.kind if case.error is not None else "CheckFailed"
    return _Case(
        case.label,
        case.device,
        _KINDS.get(case.verdict, "error" if case.result is None else "failure"),
        case.reason,
        cause if has_failed else None,
        failure_text(case) if has_failed else "",
        case.seconds,
        case.output,
        "\n".join(f"{severity}: {words}" for severity, words in remarks(case)),
    )


def _program(report: ExecReport) -> _Case:
    from cudarun.report.exec_tables import failure_text  # rich would delay the start of the work

    text = failure_text(report) if report.exit_code else ""
    kind = _kind(report.exit_code) if report.exit_code else ""
    about = kind, text.partition("\n")[0], None, text
    return _Case(report.program, "cpu", *about, seconds=report.seconds)


def _fleet_suites(report: FleetReport) -> Iterator[_Suite]:
    for host in report.hosts:
        for gpu in host.gpus:
            group = f"{host.host}.{gpu.identity.label}"
            cases = []
            for each in gpu.cases:
                kind = _KINDS.get(each.verdict, _kind(each.exit_code))
                cause = each.exit_code.name if each.verdict == "failed" else None
                cases.append(_Case(each.name, group, kind, each.reason, cause))
            kind = "failure" if gpu.objections else ""
            about = kind, "; ".join(gpu.objections), ExitCode.CHECK_FAILED.name
            place = f"{host.host}/{gpu.identity.label} ({gpu.identity.uuid})"
            yield place, host.host, None, [*cases, _Case(CONSENSUS, group, *about)]
        if not host.gpus:
            problem = f"not measured: {host.problem or 'no device'}"
            about = "error", problem, ExitCode.NO_DEVICE.name
            yield host.host, host.host, None, [_Case("measurement", host.host, *about)]


def _kind(code: int) -> str:
    return "failure" if code == ExitCode.CHECK_FAILED else "error"
