"""The service process: it runs the command line for a program that uses the Python API.

`cudarun serve` has service processes, too, whose programs are its clients.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NoReturn

from cudarun import cli as command_line
from cudarun.api.messages import ApiAnswer, ApiCall
from cudarun.api.requests import call_of, members_of
from cudarun.api.spelling import in_python
from cudarun.api.streams import CommandStreams
from cudarun.api.values import ARRAY_NAME, ArrayFile
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.scanner import SYMBOL
from cudarun.arguments.values import Argument, Buffer, FileBuffer, Member, StructValue, Value
from cudarun.base import errors, machine
from cudarun.base.errors import CudarunError, RequestError, of_system
from cudarun.base.process import EndingSignals
from cudarun.model.documents import document, error_document
from cudarun.report import progress
from cudarun.report.renderer import Renderer, TableStyle
from cudarun.report.table import TableRenderer
from cudarun.session.launch.step_request import BufferExpectation
from cudarun.session.serve.messages import ServerRequest, members_of_error
from cudarun.session.workers import prefork
from cudarun.session.workers.pool import keep_workers, replace_lost_workers
from cudarun.session.workers.service import end_with
from cudarun.session.workers.service_messages import SERVER_VARIABLE, receive, send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cudarun.model.launch import BufferCopy
    from cudarun.model.report import Part, Report

_DEVICE = "CUDARUN_DEVICE"
_NOT_OURS = {"COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR_FORCE"}
"""Variables of the terminal of the program, which the report is not printed on."""
_OF_NO_WORKER = {"_", "PWD", "OLDPWD", "SHLVL", "TERM", "PYTEST_CURRENT_TEST", *_NOT_OURS}
"""Variables that a worker does not depend on."""


_files: list[int] = []
"""The descriptors of the call's files."""


def _close_files() -> None:
    while _files:
        os.close(_files.pop())


os.register_at_fork(after_in_child=_close_files)  # a worker that outlives the call would keep them


def serve(calls: int, life: int, *, keeps_gpus: bool, spares: int) -> NoReturn:
    """Answer calls until the program ends, or a command was interrupted.

    Args:
        calls: The descriptor of the socket.
        life: The descriptor of the pipe that closes when the program ends.
        keeps_gpus: Keep the workers of GPUs, too.
        spares: See `keep_workers`.
    """
    # What the program ignores or blocks is not for this process to ignore.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    received: list[int] = []
    signals = EndingSignals(received)
    end_with(life)
    connection = socket.socket(fileno=calls)
    service = _Service(partial(send, connection), keeps_gpus=keeps_gpus, spares=spares)
    try:
        signals.admit()
        while not received:  # which the exit code does not show: it can be that of a program
            message, _files[:] = receive(connection)
            try:
                if isinstance(message, ServerRequest):
                    send(connection, service.served(message))
                else:
                    send(connection, service.answer(message))
            finally:
                _close_files()
            replace_lost_workers()
    except (EOFError, ConnectionError, KeyboardInterrupt):
        pass
    signals.leave()
    os._exit(0)


class _Service:
    """The commands of a service process.

    Args:
        send: Sends a message before the answer.
        keeps_gpus: Keep the workers of GPUs, too.
        spares: See `keep_workers`.
    """

    def __init__(
        self, send: Callable[[object], None], *, keeps_gpus: bool, spares: int = 0
    ) -> None:
        self._send = send
        self._keep = partial(keep_workers, gpus=keeps_gpus, spares=spares)
        self._streams = CommandStreams()
        self._environment = dict(os.environ)
        self._directory = os.getcwd()
        self._umask = os.umask(0)
        os.umask(self._umask)
        # The environment and the mask of the last command.
        self._entered: tuple[Mapping[str, str], int] | None = None

    def served(self, request: ServerRequest) -> dict[str, Any]:
        """Run a command for a client of ``cudarun serve``, and return the members of the answer."""
        if request.progress:
            progress.listener = lambda text: self._send({"progress": text})
        try:
            if request.parameters is not None or request.call is not None:
                call = call_of(request, self._directory, self._environment)
                return members_of(self.answer(call), request)
            streams = (
                self._streams.passed(_files, request.encoding)
                if request.streams
                else self._streams.separate(request.stdin)
            )
            with streams as texts:
                directory = request.directory or self._directory
                environment = request.environment or self._environment
                self._enter(environment, directory, request.umask)
                _prefetch_for((*request.words,), os.environ.get(_DEVICE, ""))
                errors.spelling = str
                code = command_line.main(request.words)
            return {"exit_code": code, **texts}
        except CudarunError as error:
            return members_of_error(error)
        except OSError as error:
            return members_of_error(of_system(error))
        except ValueError as error:  # a text that no file, variable or folder can have
            return members_of_error(RequestError(f"invalid request: {error}"))
        finally:
            progress.listener = None

    def answer(self, call: ApiCall) -> ApiAnswer:
        """Run a command for a program that uses the Python API."""
        paths = [f"/proc/{os.getpid()}/fd/{file}" for file in _files]  # which workers do not have
        renderer = _CallRenderer(None if call.copies is None else paths[call.copies])
        environment = {k: v for k, v in call.environment.items() if k not in _NOT_OURS}

        def keywords() -> dict[str, Any]:
            values = dict(call.keywords)
            for keyword, pairs in call.named.items():
                resolve = expectation if keyword == "expect" else resolved
                values[keyword] = tuple(resolve(name, value, paths) for name, value in pairs)
            return values

        with self._streams.merged() as texts:
            self._enter(environment, call.directory)
            is_of_spec = "spec" in call.keywords  # in the words of its file
            errors.spelling = str if is_of_spec else in_python
            _prefetch(call.keywords.get("device") or os.environ.get(_DEVICE, ""))
            words = [call.command, *(f"--{each}" for each in call.keywords)]
            code = command_line.call(words, keywords, renderer)
        report = texts["stdout"].rstrip()
        return ApiAnswer(
            code, report, dict(renderer.document), renderer.found, renderer.annotations
        )

    def _enter(
        self, environment: Mapping[str, str], directory: str, umask: int | None = None
    ) -> None:
        """Run the next command with an environment, in a working directory."""
        umask = self._umask if umask is None else umask
        os.umask(umask)
        os.chdir(directory)
        machine.clear()
        if (environment, umask) == self._entered:  # no command changes that of its parent process
            return
        self._entered = None  # a variable can be invalid
        own = {k: v for k, v in environment.items() if k != SERVER_VARIABLE}
        os.environ.clear()
        os.environ.update(own)
        of_workers = {k: v for k, v in own.items() if k not in _OF_NO_WORKER}
        self._keep((of_workers, umask), self._streams.log)
        self._entered = environment, umask


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
        self.annotations: tuple[str, ...] = ()
        self._tables = TableRenderer(TableStyle(color=False, seed=False))

    def add(self, part: Part) -> None:
        """Write a part of the report."""
        self._tables.add(part)

    def end(self, report: Report) -> None:
        """Write the tables, and keep the document."""
        self._tables.end(report)
        self.document = document(report)
        if report.exit_code and os.environ.get("GITHUB_ACTIONS") == "true":
            from cudarun.report.github import commands_at_places

            self.annotations = commands_at_places(report)
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


@lru_cache(64)
def _prefetch_for(words: Sequence[str], device: str) -> None:
    """Import what the worker of a command line needs, if it has one."""
    if start := prefork.read(words, {_DEVICE: device}):
        _prefetch(start[0])


@lru_cache(64)
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


def expectation(name: str | None, value: object, paths: Sequence[str]) -> str | BufferExpectation:
    """Return what a buffer is compared with; the arguments are those of `resolved`."""
    assert name is not None, "it is that of a buffer"
    if isinstance(value, ArrayFile):
        return BufferExpectation(name, paths[value.number], None, f"@{ARRAY_NAME}")
    return f"{name}={value}"


def _value(value: Any, paths: Sequence[str]) -> Value:
    if isinstance(value, str):
        return parse_argument(value).value
    if isinstance(value, ArrayFile):
        file = FileBuffer(paths[value.number], name=ARRAY_NAME)
        if not value.buffer:
            return file
        buffer = parse_argument(value.buffer).value
        assert isinstance(buffer, Buffer), "it has a shape"
        return replace(buffer, initial=file.initial)
    if isinstance(value, dict):
        return StructValue(tuple(Member(key, _value(each, paths)) for key, each in value.items()))
    if isinstance(value, list):
        return StructValue(tuple(Member(None, _value(each, paths)) for each in value))
    found: Value = value
    return found
