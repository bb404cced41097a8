"""The arguments of a call in the service: arrays by the paths of their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cudarun.api.values import ArrayFile
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.scanner import SYMBOL
from cudarun.arguments.values import Argument, Buffer, FileBuffer, Member, StructValue, Value
from cudarun.session.launch.step_request import BufferExpectation

NAME = "array"
"""The name of an array in texts."""


def resolved(name: str | None, value: Any, paths: Sequence[str]) -> str | Argument:
    """Return an argument of a launch: a text of the program is yet to be parsed.

    Args:
        name: Its name.
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
        return BufferExpectation(name, paths[value.number], None, f"@{NAME}")
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
    file = FileBuffer(paths[array.number], name=NAME)
    if not array.buffer:
        return file
    buffer = parse_argument(array.buffer).value
    assert isinstance(buffer, Buffer), "it has a shape"
    return replace(buffer, initial=file.initial)
