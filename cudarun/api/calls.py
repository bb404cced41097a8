"""Calls of the command line in a service process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from cudarun.api.failures import InvalidRequest, WorkerFailed
from cudarun.api.messages import ApiAnswer, ApiCall
from cudarun.session.workers.service import ServiceEnded, service_process


def answer_to(
    command: str,
    keywords: dict[str, Any],
    named: dict[str, list[tuple[str | None, Any]]] | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    files: Sequence[int] = (),
    copies: int | None = None,
) -> ApiAnswer:
    """Run a command.

    Args:
        command: The command.
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
    try:
        with service_process() as service:
            answer: ApiAnswer = service.call(call, files)
    except ServiceEnded as error:
        raise WorkerFailed(f"error: {error}", {}) from None
    return answer
