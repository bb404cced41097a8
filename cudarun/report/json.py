"""Reports as one JSON document, ``{"schema": "cudarun/<command>/1", …}``.

NaN and the infinities, which JSON does not have, are strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from math import isfinite, isnan
from typing import Any

from cudarun.errors import CudarunError, ExitCode


def document(command: str, report: Any, exit_code: int = ExitCode.OK) -> str:
    """The report of a command as JSON text.

    Args:
        command: The command's name.
        report: A report dataclass.
        exit_code: What the process will end with.
    """
    import json  # not before there is something to write

    head = {"schema": f"cudarun/{command}/1", "exit_code": int(exit_code)}
    return json.dumps(head | plain(report), indent=2, ensure_ascii=False, allow_nan=False)


@contextmanager
def errors_as_json(command: str, *, wanted: bool) -> Iterator[None]:
    """Print the document of a request that comes to nothing, and let the error go on its way."""
    try:
        yield
    except CudarunError as error:
        if wanted:
            import json

            head = {"schema": f"cudarun/{command}/1", "exit_code": int(error.exit_code)}
            print(json.dumps(head | {"error": error.as_dict()}, indent=2, ensure_ascii=False))
        raise


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
