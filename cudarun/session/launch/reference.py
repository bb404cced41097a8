"""``--reference``: the same launch on another device, and every buffer compared with its own.

The buffers go from the one worker to the other through a shared file, so that neither sends
gigabytes through a pipe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from io import RawIOBase
from tempfile import gettempdir

import numpy as np

from cudarun.arguments.checks import run_check
from cudarun.arguments.expressions import parse_expression
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.tolerance import Tolerance
from cudarun.arguments.types import PointerType, StructType, Type, innermost
from cudarun.errors import RequestError
from cudarun.records import dataclass
from cudarun.report.types import CheckResult, ReferenceResult
from cudarun.session.driver.transfers import Array, Take

# A comparison reads "HERE == THERE", each of them with the members of structs spelt out.
_HERE, _THERE = "here", "there"


@dataclass(frozen=True, slots=True)
class ReferenceBuffers:
    """The buffers of the reference device, in a shared file.

    Attributes:
        path: The file.
        uuid: The device's.
        offsets: Where each buffer begins, in bytes.
    """

    path: str
    uuid: str
    offsets: dict[str, int]


def keep(
    path: str, uuid: str, names: Iterable[str], give: Callable[[str, Take], object]
) -> ReferenceBuffers:
    """Write the buffers of the reference, each of which ``give`` delivers part by part.

    Args:
        path: The file, which is there already.
        uuid: Of the device that they are from.
        names: Of the buffers.
        give: Passes all parts of the named buffer to what it is given.

    Raises:
        RequestError: There is no room for them.
    """
    offsets: dict[str, int] = {}
    try:
        with open(path, "r+b", buffering=0) as file:
            for name in names:
                offsets[name] = file.tell()
                give(name, partial(_write, file))
    except OSError as error:
        raise RequestError(
            f"the buffers cannot be kept in {gettempdir()}: {error.strerror or error}",
            hint="TMPDIR says where buffers are kept meanwhile",
            option="--reference",
        ) from error
    return ReferenceBuffers(path, uuid, offsets)


def _write(file: RawIOBase, part: Array, first: int) -> None:
    data = part.view(np.uint8).data.cast("B")
    while data:  # a raw file may take less than it is given
        data = data[file.write(data) or 0 :]


def compare(
    device: str,
    uuid: str,
    reference: ReferenceBuffers,
    specs: tuple[BufferSpec, ...],
    arrays: Mapping[str, Array],
    tolerance: Tolerance,
) -> ReferenceResult:
    """Compare every buffer with that of the reference, member by member where it holds structs.

    Args:
        device: The name of the reference device.
        uuid: Of the device here.
        reference: The buffers there.
        specs: All buffers.
        arrays: Their contents here.
        tolerance: For floats; integers must be the same.
    """
    results: list[CheckResult] = []
    for spec in specs:
        there = np.fromfile(
            reference.path,
            spec.dtype(),
            math.prod(spec.array_shape),
            offset=reference.offsets[spec.name],
        ).reshape(spec.array_shape)
        values = {_HERE: arrays[spec.name], _THERE: there}
        for member in _members(spec.type):
            expression = parse_expression(f"{_HERE}{member} == {_THERE}{member}")
            found = run_check(expression, values, {}, tolerance)
            results.append(replace(found, expression=f"{spec.name}{member}"))
    return ReferenceResult(device, tuple(results), reference.uuid == uuid)


def _members(element: Type) -> Iterator[str]:
    """What to append to a buffer's name to reach each of its numbers: nothing, or ``["f0"]``."""
    inner = innermost(element)
    if not isinstance(inner, StructType):
        yield ""
        return
    for name, member in zip(inner.member_names, inner.members, strict=True):
        if not isinstance(member.type, PointerType):  # addresses differ from device to device
            yield from (f'["{name}"]{rest}' for rest in _members(member.type))
