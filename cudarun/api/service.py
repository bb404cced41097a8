"""The service process: it runs the command line for a program that uses the Python API."""

from __future__ import annotations

import io
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from cudarun import cli as command_line
from cudarun.api.messages import ApiAnswer, ApiCall
from cudarun.api.spelling import in_python
from cudarun.api.values import ARRAY_NAME, ArrayFile
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.scanner import SYMBOL
from cudarun.arguments.values import Argument, Buffer, FileBuffer, Member, StructValue, Value
from cudarun.base import errors, machine
from cudarun.base.errors import ExitCode
from cudarun.base.process import EndingSignals
from cudarun.model.documents import document, error_document
from cudarun.report.renderer import Renderer, TableStyle
from cudarun.report.table import TableRenderer
from cudarun.session.launch.step_request import BufferExpectation
from cudarun.session.workers.pool import keep_workers
from cudarun.session.workers.service import end_with, receive, send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cudarun.base.errors import CudarunError
    from cudarun.model.launch import BufferCopy
    from cudarun.model.report import Part, Report

_NOT_OURS = {"COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR_FORCE"}
"""Variables of the terminal of the program, which the report is not printed on."""


_files: list[int] = []
"""The descriptors of the call's files."""


def _close_files() -> None:
    while _files:
        os.close(_files.pop())


os.register_at_fork(after_in_child=_close_files)  # a worker that outlives the call would keep them


def serve(calls: int, life: int) -> NoReturn:
    """Answer calls until the program ends.

    Args:
        calls: The descriptor of the socket.
        life: The descriptor of the pipe that closes when the program ends.
    """
    # What the program ignores or blocks is not for this process to ignore.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signals = EndingSignals([])
    end_with(life)
    output = _redirected()
    connection = socket.socket(fileno=calls)
    try:
        signals.admit()
        while True:
            call, _files[:] = receive(connection)
            answer = _answer(call, output)
            if answer.code == ExitCode.INTERRUPTED:
                break
            send(connection, answer)
    except (EOFError, ConnectionError, KeyboardInterrupt):
        pass
    signals.leave()
    os._exit(0)


def _redirected() -> int:
    """Write stdout and stderr to one file in memory; return its descriptor."""
    output = os.memfd_create("cudarun-report")
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output, stream.fileno())
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # so that stderr's lines come in order
    return output


class _CallRenderer(Renderer):
    """The tables for people, and the report and the document for the program.

    Args:
        copies: The path of the file that buffers are copied to.
    """

    owns_stdout = True

    def __init__(self, copies: str | None) -> None:
        self.copies = copies
        self.found: tuple[BufferCopy, ...] = ()
        self.document: Mapping[str, Any] = {}
        self._tables = TableRenderer(TableStyle(color=False, seed=False))

    def add(self, part: Part) -> None:
        """Write a part of the report."""
        self._tables.add(part)

    def end(self, report: Report) -> None:
        """Write the tables, and keep the document."""
        self._tables.end(report)
        self.document = document(report)
        if report.tag == "launch":
            self.found = tuple(
                copy
                for outcome in report.outcomes
                if outcome.result is not None
                for copy in outcome.result.copies
            )

    def fail(self, command: str, error: CudarunError) -> None:
        """Keep the document of the error."""
        self.document = error_document(command, error)


def _answer(call: ApiCall, output: int) -> ApiAnswer:
    """Run a command."""
    paths = [f"/proc/{os.getpid()}/fd/{file}" for file in _files]  # which workers do not have
    renderer = _CallRenderer(None if call.copies is None else paths[call.copies])
    os.ftruncate(output, 0)
    os.lseek(output, 0, os.SEEK_SET)
    environment = {k: v for k, v in call.environment.items() if k not in _NOT_OURS}
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(call.directory)
    folder = os.stat(".")  # which can be another one than before at the same path
    keep_workers((environment, folder.st_dev, folder.st_ino))
    machine.clear()
    is_of_spec = "spec" in call.keywords  # in the words of its file
    errors.spelling = str if is_of_spec else in_python
    _prefetch(call.keywords.get("device") or os.environ.get("CUDARUN_DEVICE", ""))
    try:
        words = [call.command, *(f"--{each}" for each in call.keywords)]
        code = command_line.call(words, partial(_keywords, call, paths), renderer)
    finally:
        _close_files()
    sys.stdout.flush()
    sys.stderr.flush()
    text = os.pread(output, os.fstat(output).st_size, 0).decode(errors="replace")
    return ApiAnswer(code, text.rstrip(), dict(renderer.document), renderer.found)


def _keywords(call: ApiCall, paths: Sequence[str]) -> dict[str, Any]:
    """Return the values of a command's parameters, by the paths of the files."""
    values = dict(call.keywords)
    for keyword, pairs in call.named.items():
        resolve = expectation if keyword == "expect" else resolved
        values[keyword] = tuple(resolve(name, value, paths) for name, value in pairs)
    return values


def _prefetch(device: str) -> None:
    """Import once what every worker needs, which are forked from this process."""
    import numpy.random  # noqa: F401

    import cudarun.session.launch.verified_runs  # noqa: F401
    from cudarun.session.driver.drivers import import_driver

    import_driver("cpu" if device.startswith("cpu") else "cuda")


def resolved(name: str | None, value: Any, paths: Sequence[str]) -> str | Argument:
    """Return an argument of a launch: a text of the program is yet to be parsed.

    Args:
        value: The result of `ArrayFiles.value`.
        paths: The paths of the files.
    """
    before = "" if name is None else f"{name}="
    found = value if isinstance(value, str) else _value(value, paths)
    text = f"{before}{found}"
    is_name = name is None or SYMBOL.fullmatch(name) is not None
    return text if isinstance(found, str) or not is_name else Argument(name, found, text)


def expectation(name: str | None, value: Any, paths: Sequence[str]) -> str | BufferExpectation:
    """Return what a buffer is compared with; the arguments are those of `resolved`."""
    assert name is not None, "it is that of a buffer"
    if isinstance(value, ArrayFile):
        return BufferExpectation(name, paths[value.number], None, f"@{ARRAY_NAME}")
    return f"{name}={value}"


def _value(value: Any, paths: Sequence[str]) -> Value:
    if isinstance(value, str):
        return parse_argument(value).value
    if isinstance(value, ArrayFile):
        return _buffer(value, paths)
    if isinstance(value, dict):
        return StructValue(tuple(Member(key, _value(each, paths)) for key, each in value.items()))
    if isinstance(value, list):
        return StructValue(tuple(Member(None, _value(each, paths)) for each in value))
    found: Value = value
    return found


def _buffer(array: ArrayFile, paths: Sequence[str]) -> FileBuffer | Buffer:
    file = FileBuffer(paths[array.number], name=ARRAY_NAME)
    if not array.buffer:
        return file
    buffer = parse_argument(array.buffer).value
    assert isinstance(buffer, Buffer), "it has a shape"
    return replace(buffer, initial=file.initial)
