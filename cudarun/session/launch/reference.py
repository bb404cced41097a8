"""``--reference``: the same launch on another device, and every buffer compared with its own.

The buffers go from the one worker to the other as raw files in a folder of the parent's, so that
neither sends gigabytes through a pipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from cudarun.arguments.checks import run_check
from cudarun.arguments.expressions import parse_expression
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.tolerance import Tolerance
from cudarun.arguments.types import PointerType, StructType, Type, innermost
from cudarun.errors import RequestError
from cudarun.report.types import CheckResult, ReferenceResult
from cudarun.session.driver.transfers import Take

# A comparison reads "HERE == THERE", each of them with the members of structs spelt out.
_HERE, _THERE = "here", "there"

_UUID = ".uuid"  # no buffer has such a name


def keep(
    folder: Path, uuid: str, names: Iterable[str], give: Callable[[str, Take], object]
) -> None:
    """Write the buffers of the reference, each of which ``give`` delivers part by part.

    Args:
        folder: Where.
        uuid: Of the device that they are from.
        names: Of the buffers.
        give: Passes all parts of the named buffer to what it is given.

    Raises:
        RequestError: There is no room for them.
    """
    (folder / _UUID).write_text(uuid)
    for name in names:
        path = folder / name
        try:
            with path.open("wb") as file:
                give(name, partial(_write, file))
        except OSError as error:
            raise RequestError(
                f"--reference: {path} cannot be written: {error.strerror or error}",
                hint="TMPDIR says where buffers are kept meanwhile",
            ) from error


def _write(file: IO[bytes], part: Any, first: int) -> None:
    file.write(part.view(np.uint8).data)


def compare(
    device: str,
    uuid: str,
    folder: Path,
    specs: tuple[BufferSpec, ...],
    arrays: dict[str, Any],
    tolerance: Tolerance,
) -> ReferenceResult:
    """Compare every buffer with that of the reference, member by member where it holds structs.

    Args:
        device: What the reference is called.
        uuid: Of the device here.
        folder: Where `keep` wrote.
        specs: All buffers.
        arrays: Their contents here.
        tolerance: For floats; integers must be the same.
    """
    results: list[CheckResult] = []
    for spec in specs:
        there = np.fromfile(folder / spec.name, spec.dtype()).reshape(spec.array_shape)
        values = {_HERE: arrays[spec.name], _THERE: there}
        for member in _members(spec.type):
            expression = parse_expression(f"{_HERE}{member} == {_THERE}{member}")
            found = run_check(expression, values, {}, tolerance)
            results.append(replace(found, expression=f"{spec.name}{member}"))
    return ReferenceResult(device, tuple(results), (folder / _UUID).read_text() == uuid)


def _members(element: Type) -> Iterator[str]:
    """What to append to a buffer's name to reach each of its numbers: nothing, or ``["f0"]``."""
    inner = innermost(element)
    if not isinstance(inner, StructType):
        yield ""
        return
    for name, member in zip(inner.member_names, inner.members, strict=True):
        if not isinstance(member.type, PointerType):  # addresses differ from device to device
            yield from (f'["{name}"]{rest}' for rest in _members(member.type))
