"""Tensor maps of a recording, encoded again: their bytes differ between drivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter
from cudarun.session.driver.calls import Driver

if TYPE_CHECKING:
    from cudarun.session.recording.archive import Recording
    from cudarun.session.recording.manifest import Manifest, RecordedTensorMap


def with_tensor_maps(
    driver: Driver, recording: Recording | None, parameters: Sequence[Parameter], packed: bytes
) -> bytes:
    """Return the parameters of a launch with the tensor maps of this driver.

    Args:
        driver: The driver; a context must be current.
        recording: The recording; ``None`` for other launches.
        parameters: The kernel's parameters.
        packed: The recorded parameters.

    Raises:
        DeviceFailed: The driver refuses a map.
        RequestError: The bindings are too old for it.
    """
    if recording is None or not recording.manifest.tensor_maps:
        return packed
    data = bytearray(packed)
    for each in recording.manifest.tensor_maps:
        found = _encoded(driver, each)
        start = _offset(each.offset, recording.manifest, parameters)
        data[start : start + len(found)] = found
    return bytes(data)


def _offset(recorded: int, manifest: Manifest, parameters: Sequence[Parameter]) -> int:
    """Return the offset of a recorded place in the parameters of this kernel."""
    if len(parameters) == len(manifest.layout):
        for (offset, size), own in zip(manifest.layout, parameters, strict=True):
            if offset <= recorded < offset + size and size == own.size:
                return own.offset + recorded - offset
    return recorded


def _encoded(driver: Driver, each: RecordedTensorMap) -> bytes:
    word = driver.cuuint32_t
    tensor = (
        _enumerator(driver, "CUtensorMapDataType", each.type),
        len(each.shape),
        each.address,
        [driver.cuuint64_t(number) for number in each.shape],
        [driver.cuuint64_t(number) for number in each.strides or (0,)],
    )
    modes = (
        [word(number) for number in each.steps],
        _enumerator(driver, "CUtensorMapInterleave", each.interleave),
        _enumerator(driver, "CUtensorMapSwizzle", each.swizzle),
        _enumerator(driver, "CUtensorMapL2promotion", each.promotion),
        _enumerator(driver, "CUtensorMapFloatOOBfill", each.fill),
    )
    if each.box:
        found = driver.cuTensorMapEncodeTiled(*tensor, [word(side) for side in each.box], *modes)
    else:
        found = driver.cuTensorMapEncodeIm2col(
            *tensor, [*each.lower], [*each.upper], each.channels, each.pixels, *modes
        )
    return b"".join(int(word).to_bytes(8, "little") for word in found.opaque)


def _enumerator(driver: Driver, enumeration: str, number: int) -> int:
    try:
        found: int = getattr(driver, enumeration)(number)
    except ValueError:
        raise RequestError(
            f"{enumeration}: the installed cuda-bindings have no enumerator {number}",
            hint="install a newer version of cuda-bindings",
        ) from None
    return found
