"""The errors that a user can cause, and the exit code of each.

::

    CudarunError
    ├── CheckFailed     1   the kernel ran and the answer is wrong
    ├── RequestError    2   the request is unusable: an option, an argument, a file
    │   └── ArgumentSyntaxError   … with the text and the column where it went wrong
    ├── NoDevice        3   no usable driver or device
    ├── ImageRefused    4   the image does not parse, link or load here
    ├── DeviceFailed    5   the launch was refused, or the kernel faulted
    │   └── AddressOccupied       … an address of a recording, in this process
    ├── OutOfTime       6   --timeout passed
    ├── WorkerDied      7   the worker process ended without an answer
    └── Interrupted   130   Ctrl-C

An error crosses from the worker to its parent by pickle, so it holds plain data only. Nothing but
``cli`` turns one into text on stderr and a process status.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from cudarun.base.terminal import one_line

if TYPE_CHECKING:
    from typing import Self, TypedDict, Unpack

    from cudarun.base.fault_place import FaultPlace

    class ErrorContext(TypedDict, total=False):
        """The location of an error. The keys are fields of the errors in JSON documents."""

        file: str | None
        kernel: str | None
        argument: str | None
        device: str | None
        step: str | None

    class Subjects(TypedDict, total=False):
        """The names of an error's subjects."""

        place: str | None
        case: str | None
        option: str | None
        origin: str | None
        operation: str | None
        argument: str | None

    SubjectKind = Literal["place", "case", "option", "origin", "operation", "argument"]

ErrorKind = Literal[
    "ArgumentSyntaxError", "CheckFailed", "DeviceFailed", "ExpectationFailed", "ImageRefused",
    "InternalError", "Interrupted", "NoDevice", "OutOfTime", "PtxError", "RequestError",
    "WorkerDied",
]  # fmt: skip
"""The names of errors in JSON and JUnit documents, which are independent of class names."""


class ExitCode(IntEnum):
    """The process status of every command; of several results the largest one counts."""

    OK = 0
    CHECK_FAILED = 1
    UNUSABLE_REQUEST = 2
    NO_DEVICE = 3
    IMAGE_REFUSED = 4
    DEVICE_FAILED = 5
    OUT_OF_TIME = 6
    WORKER_DIED = 7
    INTERRUPTED = 130


class Subject(NamedTuple):
    """A subject of an error."""

    kind: SubjectKind  # ``place`` is a file and a line in it, ``origin`` an image file
    name: str  # the name: ``--check``, ``saxpy.ptx``, ``cuMemAlloc``
    shown: str  # the name as a prefix of the message; empty where the description contains it


spelling: Callable[[str], str] = str
"""Spells messages and hints: for the command line unchanged, for the Python API in its words."""

LONGEST_LINE = 500  # characters of a line of a message, of which arguments and names are parts
LONGEST_EXCERPT = 160


def shortened(text: str) -> str:
    """Return a text whose long lines have only their start and their end."""
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(map(_shortened, text.split("\n")))


def _shortened(line: str) -> str:
    start, end = LONGEST_LINE * 3 // 5, LONGEST_LINE // 4
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:start]} … {len(line) - start - end} characters … {line[-end:]}"


def excerpt(line: str, column: int, room: int = LONGEST_EXCERPT) -> tuple[str, int]:
    """Return the part of a line around a column, and the column in it, both from 0.

    It has at most ``room`` characters, and never more than `LONGEST_EXCERPT`.
    """
    longest = max(1, min(room, LONGEST_EXCERPT))
    if len(line) <= longest:
        return line, column
    start = max(0, min(column + 1 - longest // 2, len(line) - longest))
    before, after = "…" if start else "", "…" if start + longest < len(line) else ""
    return before + line[start + len(before) : start + longest - len(after)] + after, column - start


class CudarunError(Exception):
    """The base of all errors that are shown to the user as one message.

    `message` is the only place that composes the text. Code that needs to know what an error is
    about calls `subject` and never reads the text.

    Args:
        what: The description of what happened, without the subjects.
        hint: What the user can do about it.
        cuda: The driver's result, as ``(name, number)``.
        log: A JIT log, a fault report or a driver log, in full.
        cause: The reason, in a few words.
        option: An option as subject: ``--save``.
        origin: An image file as subject.
        operation: An operation as subject, for instance a driver call.
        context: Where it happened, see `ErrorContext`.
    """

    kind: ClassVar[ErrorKind] = "WorkerDied"  # the error's name in documents
    exit_code: ClassVar[ExitCode] = ExitCode.WORKER_DIED  # the process status

    def __init__(
        self,
        what: str,
        *,
        hint: str | None = None,
        cuda: tuple[str, int] | None = None,
        log: str | None = None,
        cause: str | None = None,
        option: str | None = None,
        origin: str | None = None,
        operation: str | None = None,
        **context: Unpack[ErrorContext],
    ) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.cuda = cuda
        self.log = log
        self.cause = cause
        self.subjects: tuple[Subject, ...] = ()  # all subjects, the outermost first
        self.of(option=option, origin=origin, operation=operation)
        self.context: dict[str, str] = {}
        self.at(**context)
        # The places of a fault or a hang of the emulated device.
        self.places: tuple[FaultPlace, ...] = ()
        # A compiler's, from before, and notes on the arguments: each is a
        # `cudarun.diagnostics.entries.Diagnostic`.
        self.warnings: tuple[Any, ...] = ()
        # What detectors found before: each is a `cudarun.model.detectors.LaunchFinding`.
        self.findings: tuple[Any, ...] = ()
        # What was counted before: a `cudarun.model.detectors.LaunchStatistics`.
        self.statistics: Any = None
        # The engines that ran the kernels: each is a `cudarun.model.launch.KernelEngine`.
        self.engines: tuple[Any, ...] = ()

    @property
    def message(self) -> str:
        """The subjects and the description: ``--check: y == x: there is no buffer 'x'``."""
        parts = [*(one_line(subject.shown) for subject in self.subjects), self.what, self.cause]
        return spelling(shortened(": ".join(filter(None, parts))))

    @property
    def hint(self) -> str | None:
        """The remedy, as far as it is known."""
        return None if self._hint is None else spelling(self._hint)

    @hint.setter
    def hint(self, hint: str | None) -> None:
        self._hint = None if hint is None else shortened(hint)

    def __str__(self) -> str:
        if self.cuda is None:
            return self.message
        name, number = self.cuda
        return f"{self.message} ({name}, {number})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.__dict__.copy()))

    def of(self, *, shown: str | None = None, **subjects: Unpack[Subjects]) -> Self:
        """Prepend subjects, except those that the error has already.

        Args:
            shown: The prefix of the message, where it is not the name; empty where the
                description contains the name.
            subjects: Their names by kind, the outermost first.
        """
        present = {(subject.kind, subject.name) for subject in self.subjects}
        added = (
            Subject(kind, name, name if shown is None else shown)  # type: ignore[arg-type]
            for kind, name in subjects.items()
            if isinstance(name, str) and (kind, name) not in present
        )
        self.subjects = (*added, *self.subjects)
        return self

    def naming(self, *options: str) -> Self:
        """Add as subjects the options that the description names."""
        for option in options:
            self.of(option=option, shown="")
        return self

    def like(self, error: CudarunError) -> Self:
        """Copy the subjects and the cause of the error that this one replaces."""
        self.subjects, self.cause = (*self.subjects, *error.subjects), error.cause
        return self

    def subject(self, kind: SubjectKind) -> tuple[str, ...]:
        """Return the names of all subjects of a kind, the outermost first."""
        return tuple(subject.name for subject in self.subjects if subject.kind == kind)

    def at(self, **context: Unpack[ErrorContext]) -> Self:
        """Add where it happened, unless a place nearer to the cause already said so."""
        for key, value in context.items():
            if value is not None:
                self.context.setdefault(key, shortened(str(value)))
        return self


@contextmanager
def errors_of(
    *kinds: type[CudarunError], shown: str | None = None, **subjects: Unpack[Subjects]
) -> Iterator[None]:
    """Prepend subjects to the errors of a block, as `CudarunError.of`."""
    kinds = kinds or (CudarunError,)
    try:
        yield
    except kinds as error:
        raise error.of(shown=shown, **subjects) from None


def _rebuild(cls: type[CudarunError], state: dict[str, object]) -> CudarunError:
    error = cls.__new__(cls)
    error.__dict__.update(state)
    error.args = (state["what"],)
    return error


_REFUSALS = {
    errno.EMFILE: "raise the limit of open files: ulimit -n 1024",
    errno.ENFILE: "close other programs",
    errno.EAGAIN: "raise the limit of processes: ulimit -u",
    errno.ENOMEM: "free memory, or raise its limit: ulimit -v",
    errno.ENOSPC: "free space on the disk of the temporary files",
}


def of_system(error: OSError | MemoryError) -> RequestError:
    """Return the error for what the operating system refused to cudarun itself.

    Files that the user names have errors of their own; this is a limit, or a missing folder.
    """
    if isinstance(error, MemoryError):
        what = f"out of host memory: {error}".removesuffix(": ")
        return RequestError(what, hint=_REFUSALS[errno.ENOMEM])
    try:
        os.getcwd()
    except FileNotFoundError:
        return RequestError(
            "the working directory was deleted", hint="change to an existing one: cd DIR"
        )
    file = "" if error.filename is None else f": {os.fsdecode(error.filename)}"
    what = f"{error.strerror or error}{file}"
    hint = _REFUSALS.get(error.errno or 0)
    return RequestError(what, hint=hint, operation="operating system")


def exhaustion(error: BaseException) -> RequestError | None:
    """Return the error for a resource of this machine that is used up; ``None`` for other causes.

    Args:
        error: Any exception; also those that it followed are examined.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return of_system(cause)
        if isinstance(cause, OSError) and cause.errno in _REFUSALS:
            return of_system(cause)
        cause = cause.__cause__ or cause.__context__
    return None


class CheckFailed(CudarunError):
    """A check failed: the kernel ran and the answer is wrong."""

    kind = "CheckFailed"
    exit_code = ExitCode.CHECK_FAILED


class RequestError(CudarunError):
    """The request is invalid: a syntax error, an unreadable file, a mismatched argument."""

    kind: ClassVar[ErrorKind] = "RequestError"
    exit_code = ExitCode.UNUSABLE_REQUEST


class ExpectationFailed(RequestError):
    """The Python function of ``--expect`` failed or timed out: no result can be judged by it."""

    kind = "ExpectationFailed"


class ArgumentSyntaxError(RequestError):
    """A text in one of cudarun's languages does not parse.

    Args:
        column: The 0-based index of the error in ``text``.
    """

    kind = "ArgumentSyntaxError"

    def __init__(self, what: str, text: str, column: int, *, hint: str | None = None) -> None:
        super().__init__(what, hint=hint)
        self.text = text
        self.column = column

    def __str__(self) -> str:
        if not self.text.strip():
            return self.message
        text, column = excerpt(self.text, self.column)
        return f"{self.message}\n  {text}\n  {' ' * column}^"


class NoDevice(CudarunError):
    """There is no usable driver, or no such device."""

    kind = "NoDevice"
    exit_code = ExitCode.NO_DEVICE


class ImageRefused(CudarunError):
    """The image has no known format, or does not parse, link or load on this device."""

    kind: ClassVar[ErrorKind] = "ImageRefused"
    exit_code = ExitCode.IMAGE_REFUSED


class DeviceFailed(CudarunError):
    """The device refused the launch or failed in it."""

    kind = "DeviceFailed"
    exit_code = ExitCode.DEVICE_FAILED


class AddressOccupied(DeviceFailed):
    """Memory of a recording cannot be at its address in this process; another one may have it."""


class OutOfTime(CudarunError):
    """The time limit passed and the worker was killed."""

    kind = "OutOfTime"
    exit_code = ExitCode.OUT_OF_TIME


class WorkerDied(CudarunError):
    """The worker process ended without an answer."""

    kind: ClassVar[ErrorKind] = "WorkerDied"
    exit_code = ExitCode.WORKER_DIED


class InternalError(WorkerDied):
    """A bug in cudarun: an exception that is none of these, with its traceback.

    Args:
        error: The exception, which is being handled.
    """

    kind = "InternalError"

    def __init__(self, error: Exception) -> None:
        import traceback  # only a bug needs it

        super().__init__(
            f"internal error: {type(error).__name__}: {error}",
            hint="this is an error in cudarun, not in the kernel: report it with its log",
            log=traceback.format_exc(),
        )
        # Whether the log of a service has it: it is not an error of the command that meets it.
        self.is_logged = False


class Interrupted(CudarunError):
    """The user pressed Ctrl-C."""

    kind = "Interrupted"
    exit_code = ExitCode.INTERRUPTED


def worst(errors: Iterable[CudarunError | None]) -> CudarunError | None:
    """Return the error that determines the exit code: the first with the largest code."""
    return max((e for e in errors if e is not None), key=lambda e: e.exit_code, default=None)
