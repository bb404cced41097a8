"""Failures as SARIF 2.1.0 (OASIS), which code scanning of GitHub shows at their lines."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from cudarun import __version__
from cudarun.report.annotations import Annotation, of_report
from cudarun.report.github import in_repository
from cudarun.report.renderer import Renderer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cudarun.model.report import Report

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class SarifRenderer(Renderer):
    """One document with a result for each annotation."""

    owns_stdout = True

    def end(self, report: Report) -> None:
        """Write the document."""
        write_sarif(of_report(report))


def write_sarif(annotations: Iterable[Annotation]) -> None:
    """Write a document with a result for each annotation."""
    results = [*map(_result, dict.fromkeys(annotations))]
    rules = [{"id": rule} for rule in sorted({each["ruleId"] for each in results})]
    driver = {"name": "cudarun", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    click.echo(json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2))


def _result(annotation: Annotation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": annotation.rule,
        "level": annotation.level,
        "message": {"text": f"{annotation.title}: {annotation.message}"},
    }
    if annotation.file is not None:
        uri = quote(os.fsencode(in_repository(annotation.file)))
        place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
        if annotation.line is not None:
            place["region"] = {"startLine": annotation.line}
        found["locations"] = [{"physicalLocation": place}]
    return found
