"""Calls of the command line in a service process; cases of specs, for the pytest plugin."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from cudarun.api.failures import InvalidRequest, WorkerFailed, failure_of
from cudarun.api.messages import ApiAnswer, ApiCall
from cudarun.api.server import call_in_server
from cudarun.session.workers.service import service_process
from cudarun.session.workers.service_messages import SERVER_VARIABLE, ServiceEnded


def answer_to(
    command: str,
    keywords: dict[str, object],
    named: dict[str, list[tuple[str | None, object]]] | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    files: Sequence[int] = (),
    copies: int | None = None,
) -> ApiAnswer:
    """Run a command.

    Args:
        keywords: The values of its parameters.
        named: Arguments and expected arrays, by the parameter.
        directory: The base of relative paths; by default the working directory.
        files: The descriptors of the files with arrays.
        copies: The number of the file that a launch copies its buffers to.

    Raises:
        InvalidRequest: The directory does not exist.
        WorkerFailed: The service process ended.
    """
    __tracebackhide__ = True  # pytest shows the call
    try:
        folder = os.getcwd() if directory is None else os.path.abspath(directory)
        os.stat(folder)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise InvalidRequest(f"error: working directory: {error.strerror}{where}", {}) from None
    call = ApiCall(command, keywords, named or {}, folder, dict(os.environ), copies)
    answer: ApiAnswer
    try:
        if server := os.environ.get(SERVER_VARIABLE):
            return call_in_server(server, call, files)  # type: ignore[no-any-return]
        with service_process() as service:
            answer = service.call(call, files)
    except ServiceEnded as error:
        raise WorkerFailed(f"error: {error}", {}) from None
    return answer


def list_cases(spec: str | os.PathLike[str], device: str) -> list[dict[str, Any]]:
    """Return the cases of a spec file, as in the document of ``launch --spec --list``.

    Raises:
        Failure: The spec is not valid.
    """
    answer = answer_to("launch", {"spec": os.fspath(spec), "device": device, "list": True})
    if answer.code:
        raise failure_of(answer)
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
        raise failure_of(answer)
    skipped = (case for case in answer.document["cases"] if case["verdict"] == "skipped")
    return next((case["reason"] for case in skipped), None)
