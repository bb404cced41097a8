"""The messages between a program that uses the Python API and a service process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudarun.base.records import dataclass

if TYPE_CHECKING:
    from cudarun.model.launch import BufferCopy


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A command to run. The message has descriptors of files in memory.

    Attributes:
        keywords: The values of its parameters; see `cudarun.commands.keywords`.
        named: Values of parameters that are arguments with names, or expected arrays, in order.
        directory: The working directory.
        copies: The number of the file that a launch copies its buffers to; ``None`` without.
    """

    command: str
    keywords: dict[str, Any]
    named: dict[str, list[tuple[str | None, Any]]]
    directory: str
    environment: dict[str, str]
    copies: int | None = None


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """The result of a command.

    Attributes:
        code: The exit code.
        report: All that was printed.
        document: The JSON document; empty if the command was interrupted.
        copies: The buffers in the file of the call.
        annotations: In GitHub Actions, the workflow commands about places in the repository.
    """

    code: int
    report: str
    document: dict[str, Any]
    copies: tuple[BufferCopy, ...]
    annotations: tuple[str, ...] = ()


def printed_text(document: dict[str, Any]) -> str:
    """Return the output of ``printf`` in the document of a launch."""
    return "".join(outcome.get("output") or "" for outcome in document.get("outcomes", ()))
