"""Reports as one JSON document, ``{"schema": "cudarun/<command>/1", "exit_code": …, "error": …}``.

NaN and the infinities, which JSON does not have, are strings.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import click

from cudarun.errors import CudarunError, ExitCode
from cudarun.report.renderer import Renderer

if TYPE_CHECKING:
    from cudarun.report.renderer import Report


_NAMES = {"launch-plan": "launch", "load-offline": "load"}


class JsonRenderer(Renderer):
    """One JSON document on stdout."""

    owns_stdout = True

    def end(self, report: Report) -> None:
        """Write the document."""
        click.echo(document(_NAMES.get(report.tag, report.tag), report, report.exit_code))


def document(command: str, report: Any, exit_code: int = ExitCode.OK) -> str:
    """The report of a command as JSON text.

    ``error`` is the one that the exit code is of, also where it stands again at its device;
    ``null`` where nothing failed but a check.

    Args:
        command: The command's name.
        report: A report dataclass.
        exit_code: What the process will end with.
    """
    return _text(_head(command, exit_code, getattr(report, "error", None)) | plain(report))


def error_document(command: str, error: CudarunError) -> str:
    """The document of a request that came to nothing but an error."""
    return _text(_head(command, error.exit_code, error))


def _head(command: str, exit_code: int, error: CudarunError | None) -> dict[str, Any]:
    return {
        "schema": f"cudarun/{command}/1",
        "exit_code": int(exit_code),
        "error": None if error is None else error.as_dict(),
    }


def _text(record: dict[str, Any]) -> str:
    import json  # not before there is something to write

    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Dataclasses, errors and odd floats as what JSON has."""
    if isinstance(value, CudarunError):
        return value.as_dict()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
