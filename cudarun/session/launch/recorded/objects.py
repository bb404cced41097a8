"""Texture and surface objects of a recording, and its tensor maps, created again.

Tensor maps are encoded again because their bytes differ between drivers. Objects get the handles
that the program had: a kernel gets a handle as a number, in a parameter or inside a struct, and
nothing tells which numbers are handles. Drivers count them from 1. CUDA driver API, sections 6.28
(texture objects), 6.29 (surface objects) and 6.30 (tensor maps).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.tensor_maps import encode
from cudarun.session.launch.arrays import array_resource, linear_resource
from cudarun.session.launch.recorded.memory import RecordedInitial
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

    from cudarun.session.driver.protocol import Handle
    from cudarun.session.recording.archive import Recording
    from cudarun.session.recording.manifest import Manifest, RecordedObject, RecordedTensorMap

T = TypeVar("T")

_MOST_OTHERS = 1 << 16  # objects before that with the handle
_DESCRIPTION = struct.Struct("<3iiIIi3f4f48x")
_VIEW = struct.Struct("<i4x3Q4I64x")


def create_objects(
    session: Session, specs: Sequence[BufferSpec], array: Callable[[str], Handle]
) -> None:
    """Create the objects of the recording that buffers are from; the session destroys them.

    Args:
        array: Returns the handle of an array by name.
    """
    recorded = (each.initial for each in specs if isinstance(each.initial, RecordedInitial))
    recording = next((each.recording for each in recorded), None)
    objects = recording.manifest.objects if recording is not None else ()
    others: list[Callable[[], object]] = []
    for each in sorted(objects, key=lambda found: found.handle):
        others += _created(session, each, array)
    for destroy in others:
        destroy()


def _created(
    session: Session, each: RecordedObject, array: Callable[[str], Handle]
) -> list[Callable[[], object]]:
    """Create an object with its handle; return what destroys those that got another one."""
    driver = session.driver
    resource = _resource(driver, each, array)
    others: list[Callable[[], object]] = []
    while len(others) < _MOST_OTHERS:
        handle, destroy = _object(driver, each, resource)
        if driver.traits.alias_object is not None:
            driver.traits.alias_object(handle, each.handle)
        elif handle != each.handle:
            others.append(destroy)
            continue
        session.add_release(destroy)
        return others
    raise RequestError(
        f"the driver does not create an object with the recorded handle {each.handle:#x}",
        hint="on the emulated device every handle is possible: -d cpu",
    )


def _object(
    driver: Driver, each: RecordedObject, resource: cuda.CUDA_RESOURCE_DESC
) -> tuple[int, Callable[[], object]]:
    if each.surface:
        surface = driver.cuSurfObjectCreate(resource)
        return int(surface), lambda: driver.cuSurfObjectDestroy(surface)
    texture = driver.cuTexObjectCreate(resource, _description(driver, each), _view(driver, each))
    return int(texture), lambda: driver.cuTexObjectDestroy(texture)


def _resource(
    driver: Driver, each: RecordedObject, array: Callable[[str], Handle]
) -> cuda.CUDA_RESOURCE_DESC:
    if each.array:
        return array_resource(driver, array(each.array))
    texel_format = _enumerator(driver.CUarray_format, each.format)
    rows = (each.height, each.pitch) if each.pitch else None
    return linear_resource(driver, each.address, texel_format, each.channels, each.width, rows)


def _description(driver: Driver, each: RecordedObject) -> cuda.CUDA_TEXTURE_DESC:
    *modes, point, flags, anisotropy, between, bias, least, most, r, g, b, a = _DESCRIPTION.unpack(
        each.description
    )
    found = driver.CUDA_TEXTURE_DESC()
    found.addressMode = [_enumerator(driver.CUaddress_mode, mode) for mode in modes]
    found.filterMode = _enumerator(driver.CUfilter_mode, point)
    found.mipmapFilterMode = _enumerator(driver.CUfilter_mode, between)
    found.flags, found.maxAnisotropy, found.mipmapLevelBias = flags, anisotropy, bias
    found.minMipmapLevelClamp, found.maxMipmapLevelClamp = least, most
    found.borderColor = [r, g, b, a]
    return found


def _view(driver: Driver, each: RecordedObject) -> cuda.CUDA_RESOURCE_VIEW_DESC | None:
    if not each.view:
        return None
    form, width, height, depth, *levels = _VIEW.unpack(each.view)
    found = driver.CUDA_RESOURCE_VIEW_DESC()
    found.format = _enumerator(driver.CUresourceViewFormat, form)
    found.width, found.height, found.depth = width, height, depth
    found.firstMipmapLevel, found.lastMipmapLevel, found.firstLayer, found.lastLayer = levels
    return found


def _enumerator(enumeration: Callable[[int], T], number: int) -> T:
    try:
        return enumeration(number)
    except ValueError:
        raise RequestError(
            f"the recording is damaged: a texture or surface object has the value {number}"
        ) from None


def with_tensor_maps(
    driver: Driver, recording: Recording | None, parameters: Sequence[Parameter], packed: bytes
) -> bytes:
    """Return the parameters of a launch with the tensor maps of this driver.

    Args:
        recording: The recording; ``None`` for other launches.
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
    settings = (
        _setting(driver, "CUtensorMapInterleave", each.interleave),
        _setting(driver, "CUtensorMapSwizzle", each.swizzle),
        _setting(driver, "CUtensorMapL2promotion", each.promotion),
        _setting(driver, "CUtensorMapFloatOOBfill", each.fill),
    )
    element = _setting(driver, "CUtensorMapDataType", each.type)
    columns = [*each.lower], [*each.upper], each.channels, each.pixels
    return encode(
        driver, element, each.address, each.shape, each.strides, each.steps, each.box, settings,
        None if each.box else columns,
    )  # fmt: skip


def _setting(driver: Driver, enumeration: str, number: int) -> int:
    try:
        found: int = getattr(driver, enumeration)(number)
    except ValueError:
        raise RequestError(
            f"{enumeration}: the installed cuda-bindings have no enumerator {number}",
            hint="install a newer version of cuda-bindings",
        ) from None
    return found
