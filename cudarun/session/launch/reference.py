"""Buffers in a file that another process reads, and ``--reference``: their comparison.

The same launch is made on another device. Buffers are passed from one worker to the other in a
shared file, so that gigabytes need not go through a pipe.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.types import PointerType, StructType, Type, innermost
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.model.checks import CheckResult, ReferenceResult
from cudarun.model.launch import BufferCopy
from cudarun.session.driver.fill_pattern import without_common_pattern
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.variables import ImageVariable

_ALIGNMENT = 64  # bytes; of numpy's own arrays at least 16
_GOT, _EXPECTED = "got", "expected"
"""The names in the expression of a comparison, each with the members of structs."""


@dataclass(frozen=True, slots=True)
class ReferenceBuffers:
    """The buffers of the reference device, in a shared file."""

    path: str
    uuid: str
    offsets: dict[str, int]  # the offset of each buffer in bytes


def write_copies(path: str, buffers: Buffers) -> tuple[BufferCopy, ...]:
    """Write all buffers of a launch to a file.

    Args:
        path: The file, which exists already.
        buffers: The buffers, after the launch.
    """
    copies: list[BufferCopy] = []
    with open(path, "r+b", buffering=0) as file:

        def write(part: Array, first: int) -> None:
            data = part.view(np.uint8).data.cast("B")
            while data:  # a raw file may write only a part
                data = data[file.write(data) or 0 :]

        for spec in buffers.specs:
            offset = -(-file.tell() // _ALIGNMENT) * _ALIGNMENT
            file.seek(offset)
            buffers.deliver(spec.name, write)
            copies.append(BufferCopy(spec.name, offset, spec.dtype(), spec.array_shape))
    return tuple(copies)


def write_reference(path: str, uuid: str, buffers: Buffers) -> ReferenceBuffers:
    """Write the buffers of the reference device, after the launch, to an existing file."""
    try:
        copies = write_copies(path, buffers)
    except OSError as error:
        from tempfile import gettempdir

        raise RequestError(
            f"the buffers cannot be stored in {gettempdir()}: {error.strerror or error}",
            hint="set TMPDIR to another directory",
            option="--reference",
        ) from error
    return ReferenceBuffers(path, uuid, {each.name: each.offset for each in copies})


def compare(
    device: str,
    uuid: str,
    reference: ReferenceBuffers,
    specs: tuple[BufferSpec, ...],
    arrays: Mapping[str, Array],
    tolerance: Tolerance,
) -> ReferenceResult:
    """Compare every buffer with the reference's; structs are compared member by member.

    Args:
        device: The name of the reference device.
        uuid: The UUID of this device.
        arrays: Their contents on this device.
        tolerance: The tolerance for floats; integers must be equal.
    """
    results: list[CheckResult] = []
    for spec in specs:
        if isinstance(innermost(spec.type), PointerType):  # addresses differ between devices
            continue
        if spec.name not in reference.offsets:
            if isinstance(spec, ImageVariable):  # a baseline has variables of its own
                continue
            raise RequestError(
                f"the launch to compare with has no buffer '{spec.name}'",
                hint="name the arguments: NAME=VALUE",
            )
        there = np.fromfile(
            reference.path,
            spec.dtype(),
            math.prod(spec.array_shape),
            offset=reference.offsets[spec.name],
        ).reshape(spec.array_shape)
        here, there = without_common_pattern(arrays[spec.name], there)
        results += compare_members(spec, here, there, tolerance)
    return ReferenceResult(device, tuple(results), reference.uuid == uuid)


def compare_members(
    spec: BufferSpec, got: Array, expected: Array, tolerance: Tolerance, mask: Array | None = None
) -> Iterator[CheckResult]:
    """Compare arrays of a buffer; yield a result, or for structs one for each member.

    Args:
        tolerance: The tolerance for floats; integers must be equal.
        mask: The elements that were never written.
    """
    values = {_GOT: got, _EXPECTED: expected}
    for member in struct_members(spec.type):
        expression = parse_expression(f"{_GOT}{member} == {_EXPECTED}{member}")
        found = run_check(expression, values, {}, tolerance, unwritten={_GOT: mask}.get)
        yield replace(found, expression=f"{spec.name}{member}")


def struct_members(element: Type) -> Iterator[str]:
    """Yield the suffix of a buffer's name for each of its numbers: empty, or ``["f0"]``."""
    inner = innermost(element)
    if isinstance(inner, PointerType):  # addresses differ between devices
        return
    if not isinstance(inner, StructType):
        yield ""
        return
    for name, member in zip(inner.member_names, inner.members, strict=True):
        if not isinstance(member.type, PointerType):
            yield from (f'["{name}"]{rest}' for rest in struct_members(member.type))
