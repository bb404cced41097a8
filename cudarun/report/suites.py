"""The elements of JUnit XML: suites, their cases, and the outcome of a case."""

from __future__ import annotations

import os
import re
from xml.etree import ElementTree

# XML 1.0, section 2.2: the characters that a document can hold.
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COUNTS = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


class Suites:
    """The suites of a spec file.

    Args:
        spec: The file.
    """

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
