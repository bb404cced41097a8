"""The exceptions of the Python API, one for each exit code of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cudarun.api.messages import printed_text

if TYPE_CHECKING:
    from cudarun.api.messages import ApiAnswer
    from cudarun.api.results import LaunchOutputs


class Failure(Exception):
    """A launch or a load that did not pass; the base of all exceptions of the Python API.

    ::

        Failure
        ├── WrongResult       1   a check failed, or a detector found a race
        ├── InvalidRequest    2   an argument, an option or a file is unusable
        ├── DeviceNotFound    3   no usable driver or device
        ├── InvalidImage      4   the image does not parse, compile, link or load
        ├── ExecutionFailed   5   the launch was refused, or the kernel faulted
        ├── TimedOut          6   the time limit passed
        └── WorkerFailed      7   the worker process died, or an internal error

    ``str()`` is the report, and the output of the kernel's ``printf``.

    Attributes:
        exit_code: The exit code of the command line.
        document: The JSON document of ``--json``.
        outputs: The buffers of a kernel that ran; ``None`` if it did not come back.
        printed: The output of the kernel's ``printf``.
    """

    exit_code: ClassVar[int] = 7
    annotations: tuple[str, ...] = ()  # for GitHub, see `ApiAnswer`

    def __init__(
        self, report: str, document: dict[str, Any], outputs: LaunchOutputs | None = None
    ) -> None:
        super().__init__(report, document, outputs)  # by which an exception pickles
        self.document = document
        self.outputs = outputs
        self.printed = printed_text(document)

    def __str__(self) -> str:
        report: str = self.args[0]
        return f"{report}\nprinted:\n{self.printed}" if self.printed else report

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class WrongResult(Failure):
    """A check or a comparison failed, a guard zone is damaged, or a detector found something."""

    exit_code = 1


class InvalidRequest(Failure):
    """An argument does not match its parameter, or an option or a file is unusable."""

    exit_code = 2


class DeviceNotFound(Failure):
    """There is no usable driver, or no such device."""

    exit_code = 3


class InvalidImage(Failure):
    """The image does not parse, compile, link or load on this device."""

    exit_code = 4


class ExecutionFailed(Failure):
    """The device refused the launch, or the kernel faulted."""

    exit_code = 5


class TimedOut(Failure):
    """The time limit passed, and the worker was killed."""

    exit_code = 6


class WorkerFailed(Failure):
    """The worker process died, or an internal error occurred."""

    exit_code = 7


_BY_CODE = {each.exit_code: each for each in Failure.__subclasses__()}
for _each in (Failure, *_BY_CODE.values()):
    _each.__module__ = "cudarun"  # where programs find them


def failure_of(answer: ApiAnswer, outputs: LaunchOutputs | None = None) -> Failure:
    """Return the exception of an answer, by its exit code."""
    kind = _BY_CODE.get(answer.code, WorkerFailed)
    error = kind(answer.report, answer.document, outputs)
    error.annotations = answer.annotations
    return error
