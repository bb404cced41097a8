"""The runtime's structures as those of the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, SupportsInt, TypeVar

from cuda.bindings import driver as cuda
from cuda.bindings import runtime as cudart

from cudarun.emulator.api.handles import array_of
from cudarun.emulator.host.arrays import FORMATS
from cudarun.emulator.host.refusal import enum_field
from cudarun.emulator.runtime_api.calls import RuntimeRefusal

T = TypeVar("T")

INVALID_VALUE = 1
_ATTRIBUTE_BYTES = 64
_INVALID_CHANNELS = 20  # cudaErrorInvalidChannelDescriptor
_INVALID_PITCH = 12  # cudaErrorInvalidPitchValue
_INVALID_DIRECTION = 21  # cudaErrorInvalidMemcpyDirection

# cudaMemcpyKind
HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT = range(5)
_TO_HOST, _FROM_HOST = (HOST_TO_HOST, DEVICE_TO_HOST), (HOST_TO_HOST, HOST_TO_DEVICE)

_HOST, _DEVICE = cuda.CUmemorytype.CU_MEMORYTYPE_HOST, cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
_ARRAY, _UNIFIED = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY, cuda.CUmemorytype.CU_MEMORYTYPE_UNIFIED
_SOURCES = (_HOST, _HOST, _DEVICE, _DEVICE, _UNIFIED)  # by kind
_TARGETS = (_HOST, _DEVICE, _HOST, _DEVICE, _UNIFIED)

# By the cudaChannelFormatKind and the bits of the channels.
_FORMATS = {("iuf".index(kind), bits): form for (kind, bits), form in FORMATS.items()}
_CHANNELS = {int(form): channel for channel, form in _FORMATS.items()}


def check_given(structure: object) -> None:
    """Raise `RuntimeRefusal` if a structure is missing."""
    if structure is None:
        raise RuntimeRefusal(INVALID_VALUE)


def copy_kind(kind: SupportsInt) -> int:
    """Return the number of a ``cudaMemcpyKind``; raise `RuntimeRefusal` if it is none."""
    number = int(kind)
    if not HOST_TO_HOST <= number <= DEFAULT:
        raise RuntimeRefusal(_INVALID_DIRECTION)
    return number


# --- arrays --------------------------------------------------------------------------------------


def array_format(channels: cudart.cudaChannelFormatDesc) -> tuple[cuda.CUarray_format, int]:
    """Return the format and the number of channels of a ``cudaChannelFormatDesc``.

    Raises:
        RuntimeRefusal: The channels have different sizes, or a size that arrays do not have.
    """
    check_given(channels)
    bits = [channels.x, channels.y, channels.z, channels.w]
    count = len(bits) - bits.count(0)
    form = _FORMATS.get((int(enum_field(channels, "f")), bits[0]))
    if form is None or count == 3 or bits != [bits[0]] * count + [0] * (4 - count):
        raise RuntimeRefusal(_INVALID_CHANNELS)
    return form, count


def channel_description(array: cuda.CUDA_ARRAY3D_DESCRIPTOR) -> cudart.cudaChannelFormatDesc:
    """Return the ``cudaChannelFormatDesc`` of the array that the driver describes."""
    if int(array.Format) not in _CHANNELS:  # of a program that calls the driver, too
        raise RuntimeRefusal(_INVALID_CHANNELS)
    kind, bits = _CHANNELS[int(array.Format)]
    description = cudart.cudaChannelFormatDesc()
    for field in "xyzw"[: array.NumChannels]:
        setattr(description, field, bits)
    description.f = cudart.cudaChannelFormatKind(kind)
    return description


def array_description(
    channels: cudart.cudaChannelFormatDesc, extent: tuple[int, int, int], flags: int
) -> cuda.CUDA_ARRAY3D_DESCRIPTOR:
    """Return the description of an array: width, height and depth in elements."""
    description = cuda.CUDA_ARRAY3D_DESCRIPTOR()
    description.Format, description.NumChannels = array_format(channels)
    description.Width, description.Height, description.Depth = extent
    description.Flags = flags
    return description


def element_bytes(array: SupportsInt) -> int:
    """Return the size of an element of a CUDA array."""
    return array_of(int(array)).texel.bytes


# --- copies --------------------------------------------------------------------------------------


def rectangle(
    target: dict[str, Any], source: dict[str, Any], width: int, height: int, kind: SupportsInt
) -> cuda.CUDA_MEMCPY2D:
    """Return a copy of rows.

    Args:
        target: Fields of the target, without the prefix: ``address`` and ``Pitch``, or
            ``Array``, ``XInBytes``, ``Y``.
        source: The same of the source.
        width: The length of a row, in bytes.
    """
    copy, number = cuda.CUDA_MEMCPY2D(), copy_kind(kind)
    if not _may_be_arrays(target.get("Array"), source.get("Array"), number):
        raise RuntimeRefusal(_INVALID_DIRECTION)
    _check_pitches(height, width, [side["Pitch"] for side in (target, source) if "Pitch" in side])
    _set_side(copy, "src", source, _SOURCES[number])
    _set_side(copy, "dst", target, _TARGETS[number])
    copy.WidthInBytes, copy.Height = width, height
    return copy


def _may_be_arrays(target: object, source: object, kind: int) -> bool:
    """Return whether a kind permits that a side is an array, which no host memory is."""
    return not (target is not None and kind in _TO_HOST) and not (
        source is not None and kind in _FROM_HOST
    )


def _check_pitches(rows: int, width: int, pitches: Sequence[int]) -> None:
    if rows > 1 and any(width > pitch for pitch in pitches):
        raise RuntimeRefusal(_INVALID_PITCH)


def _set_side(copy: object, side: str, fields: dict[str, Any], memory: cuda.CUmemorytype) -> None:
    fields = dict(fields)
    if "Array" in fields:
        fields["Array"], memory = cuda.CUarray(int(fields["Array"])), _ARRAY
    else:
        address = fields.pop("address")
        fields |= {"Host": address} if memory == _HOST else {"Device": cuda.CUdeviceptr(address)}
    for field, value in (fields | {"MemoryType": memory}).items():
        setattr(copy, f"{side}{field}", value)


def box(parameters: cudart.cudaMemcpy3DParms, kind: int | None = None) -> cuda.CUDA_MEMCPY3D:
    """Return the copy that a ``cudaMemcpy3DParms`` describes, or of another kind.

    An extent and a position are in elements for an array, and in bytes otherwise; the width of a
    copy with an array is in elements (runtime API, section 6.11).

    Raises:
        RuntimeRefusal: A side has neither an array nor a pointer or has both, or the elements of
            two arrays have different sizes.
    """
    check_given(parameters)
    kind = copy_kind(enum_field(parameters, "kind") if kind is None else kind)
    copy = cuda.CUDA_MEMCPY3D()
    sides = (
        ("src", parameters.srcArray, parameters.srcPtr, parameters.srcPos, _SOURCES[kind]),
        ("dst", parameters.dstArray, parameters.dstPtr, parameters.dstPos, _TARGETS[kind]),
    )
    target, source = (int(each) or None for each in (parameters.dstArray, parameters.srcArray))
    if not _may_be_arrays(target, source, kind):
        raise RuntimeRefusal(INVALID_VALUE)
    sizes = set()
    for side, array, pointer, position, memory in sides:
        if bool(int(array)) == bool(pointer.ptr):
            raise RuntimeRefusal(INVALID_VALUE)
        size = element_bytes(array) if int(array) else 1
        if int(array):
            sizes.add(size)
            fields: dict[str, Any] = {"Array": array}
        else:
            fields = {"address": pointer.ptr, "Pitch": pointer.pitch, "Height": pointer.ysize}
        fields |= {"XInBytes": position.x * size, "Y": position.y, "Z": position.z}
        _set_side(copy, side, fields, memory)
    if len(sizes) > 1:
        raise RuntimeRefusal(INVALID_VALUE)
    copy.WidthInBytes = parameters.extent.width * (sizes.pop() if sizes else 1)
    copy.Height, copy.Depth = parameters.extent.height, parameters.extent.depth
    for _, array, pointer, *_ in sides:
        if not int(array):
            _check_pitches(copy.Height * copy.Depth, copy.WidthInBytes, [pointer.pitch])
            _check_pitches(copy.Depth, copy.Height, [pointer.ysize])
    return copy


def bytes_in_row(dst: int, src: int, count: int, kind: SupportsInt) -> cuda.CUDA_MEMCPY3D:
    """Return the copy of consecutive bytes."""
    copy, number = cuda.CUDA_MEMCPY3D(), copy_kind(kind)
    _set_side(copy, "src", {"address": src, "Pitch": count, "Height": 1}, _SOURCES[number])
    _set_side(copy, "dst", {"address": dst, "Pitch": count, "Height": 1}, _TARGETS[number])
    copy.WidthInBytes, copy.Height, copy.Depth = count, 1, 1
    return copy


# --- other structures ----------------------------------------------------------------------------


def same_layout(kind: Callable[..., T]) -> Callable[[Any], T]:
    """Return the conversion to a structure of the driver that has the layout of the runtime's."""

    def convert(structure: Any) -> T:
        check_given(structure)
        return kind(_ptr=structure.getPtr())

    return convert


_location = same_layout(cuda.CUmemLocation)
_node_parameters = same_layout(cuda.CUgraphNodeParams)


def node_parameters(parameters: cudart.cudaGraphNodeParams) -> cuda.CUgraphNodeParams:
    """Return the driver's form of a ``cudaGraphNodeParams``: of one layout, but for copies."""
    check_given(parameters)
    if enum_field(parameters, "type") != cudart.cudaGraphNodeType.cudaGraphNodeTypeMemcpy:
        return _node_parameters(parameters)
    made = cuda.CUgraphNodeParams()
    made.type = cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY
    made.memcpy.copyParams = box(parameters.memcpy.copyParams)
    return made


def location(structure: Any) -> object:
    """Return the driver's form of a ``cudaMemLocation``; the device of CUDA 12 as it is."""
    return _location(structure) if hasattr(structure, "type") else structure


def stream_attribute(value: cuda.CUstreamAttrValue) -> cudart.cudaStreamAttrValue:
    """Return the runtime's form of the value of an attribute of a stream."""
    made = cudart.cudaStreamAttrValue()
    ctypes.memmove(made.getPtr(), value.getPtr(), _ATTRIBUTE_BYTES)
    return made
