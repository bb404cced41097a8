"""Spec files case by case, for the pytest plugin."""

from __future__ import annotations

import os
from typing import Any

from cudarun.api.calls import answer_to
from cudarun.api.failures import failure_of


def list_cases(spec: str | os.PathLike[str], device: str) -> list[dict[str, Any]]:
    """Return the cases of a spec file, as in the document of ``launch --spec --list``.

    Raises:
        Failure: The spec is not valid.
    """
    answer = answer_to("launch", {"spec": os.fspath(spec), "device": device, "list": True})
    if answer.code:
        raise failure_of(answer.code)(answer.report, answer.document)
    cases: list[dict[str, Any]] = answer.document["cases"]
    return cases


def run_case(spec: str | os.PathLike[str], name: str, device: str) -> str | None:
    """Run a case of a spec file on a device.

    Args:
        spec: The file.
        name: The case.
        device: The device, which overrides that of the case.

    Returns:
        The reason for which the case was skipped; ``None`` where it passed.

    Raises:
        Failure: The case failed.
    """
    keywords = {"spec": os.fspath(spec), "device": device, "allow_python": True, "image": name}
    answer = answer_to("launch", keywords)
    if answer.code:
        raise failure_of(answer.code)(answer.report, answer.document)
    skipped = (case for case in answer.document["cases"] if case["verdict"] == "skipped")
    return next((case["reason"] for case in skipped), None)
