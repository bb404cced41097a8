"""The raw files that the library writes: sections of a tag, a size and bytes."""

from __future__ import annotations

import mmap
import os
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field
from operator import attrgetter
from pathlib import Path

from cudarun.records import dataclass
from cudarun.session.recording.manifest import (
    TEXTURE_BYTES,
    VIEW_BYTES,
    RecordedArray,
    RecordedTensorMap,
)

_MAGIC = b"CUDARAW1"
_SECTION = struct.Struct("<4sQ")
_RANGE = struct.Struct("<QQ")
_ADDRESS = struct.Struct("<Q")
_ADDRESS_OF = attrgetter("address")
_TENSOR_MAP = struct.Struct("<12Q16I6i2I")
_ARRAY = struct.Struct("<4Q4I")
_OBJECT = struct.Struct(f"<Q2I2IQ2I3Q96x{TEXTURE_BYTES}s{VIEW_BYTES}s")
_RANKS, _CORNERS = 5, 3


@dataclass(slots=True)
class RawRange:
    """A range of memory, or a variable.

    Attributes:
        address: The address.
        before: The contents before the launch.
        symbol: The symbol of a variable.
        after: The offsets of changed parts with their contents.
    """

    address: int
    before: memoryview
    symbol: str | None = None
    after: list[tuple[int, memoryview]] = field(default_factory=list)


@dataclass(slots=True)
class RawArray:
    """A CUDA array.

    Attributes:
        shape: Its shape.
        before: The contents before the launch.
        after: The contents after it; ``None`` if it did not change them.
    """

    shape: RecordedArray
    before: memoryview
    after: memoryview | None = None


@dataclass(frozen=True, slots=True)
class RawObject:
    """A texture or a surface object.

    Attributes:
        handle: The handle.
        is_surface: Whether it is a surface.
        kind: The number of its ``CUresourcetype``.
        memory: The handle of its array, or the address of its memory.
        numbers: The rest of the description of linear or pitched memory.
        description: The ``CUDA_TEXTURE_DESC``; empty for a surface.
        view: The ``CUDA_RESOURCE_VIEW_DESC``; empty without one.
    """

    handle: int
    is_surface: bool
    kind: int
    memory: int
    numbers: tuple[int, ...]
    description: bytes
    view: bytes


@dataclass(slots=True)
class RawRecording:
    """The contents of a raw file.

    Attributes:
        texts: The descriptions by key.
        parameters: The bytes of the parameters.
        layout: The offset and the size of each parameter.
        ranges: The memory, by address, and the variables.
        tensor_maps: The tensor maps in the parameters.
        arrays: The CUDA arrays by handle.
        objects: The texture and surface objects.
        status: The result of the launch; ``None`` if it did not end.
        has_memory: Whether all memory from before the launch is there.
    """

    texts: dict[str, str] = field(default_factory=dict)
    parameters: bytes = b""
    layout: tuple[tuple[int, int], ...] = ()
    ranges: list[RawRange] = field(default_factory=list)
    tensor_maps: list[RecordedTensorMap] = field(default_factory=list)
    arrays: dict[int, RawArray] = field(default_factory=dict)
    objects: list[RawObject] = field(default_factory=list)
    status: int | None = None
    has_memory: bool = False

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return the numbers of a description."""
        return tuple(map(int, self.texts[key].split()))


def read_raw(path: Path) -> RawRecording:
    """Read a raw file; of one that is not complete, the sections that are."""
    raw = RawRecording()
    changes: list[tuple[int, memoryview]] = []
    for tag, part in _sections(path):
        if tag == b"TEXT":
            key, _, value = bytes(part).partition(b"\0")
            raw.texts[key.decode()] = value.decode(errors="replace")
        elif tag == b"PARA":
            raw.parameters = bytes(part)
        elif tag == b"LAYO":
            raw.layout = tuple((offset, size) for offset, size in _RANGE.iter_unpack(part))
        elif tag == b"TMAP":
            raw.tensor_maps.append(_tensor_map(part))
        elif tag == b"MEMO":
            address, _ = _RANGE.unpack_from(part)
            raw.ranges.append(RawRange(address, part[_RANGE.size :]))
        elif tag == b"VARI":
            address, size = _RANGE.unpack_from(part)
            name = bytes(part[_RANGE.size : len(part) - size - 1])
            raw.ranges.append(RawRange(address, part[len(part) - size :], name.decode()))
        elif tag == b"AFTR":
            (address,) = _ADDRESS.unpack_from(part)
            changes.append((address, part[_ADDRESS.size :]))
        elif tag == b"ARRA":
            handle, *numbers, _ = _ARRAY.unpack_from(part)
            raw.arrays[handle] = RawArray(RecordedArray(*numbers), part[_ARRAY.size :])
        elif tag == b"AFTA":
            (handle,) = _ADDRESS.unpack_from(part)
            raw.arrays[handle].after = part[_ADDRESS.size :]
        elif tag == b"OBJE":
            raw.objects.append(_object(bytes(part)))
        elif tag == b"BEFO":
            raw.has_memory = True
        elif tag == b"STAT":
            raw.status = int.from_bytes(part, "little", signed=True)
    _add_changes(raw.ranges, changes)
    raw.ranges.sort(key=lambda each: (each.symbol is not None, each.address))
    return raw


def _object(part: bytes) -> RawObject:
    handle, is_surface, has_view, kind, _, memory, *numbers, texture, view = _OBJECT.unpack(part)
    return RawObject(
        handle=handle,
        is_surface=bool(is_surface),
        kind=kind,
        memory=memory,
        numbers=tuple(numbers),
        description=b"" if is_surface else texture,
        view=view if has_view else b"",
    )


def _tensor_map(part: memoryview) -> RecordedTensorMap:
    numbers = _TENSOR_MAP.unpack(part)
    offset, address, *sizes = numbers[: 2 + 2 * _RANKS]
    element, rank, *words = numbers[2 + 2 * _RANKS :]
    interleave, swizzle, promotion, fill, *corners, channels, pixels = words[2 * _RANKS :]
    is_tiled = channels == 0
    return RecordedTensorMap(
        offset=offset,
        address=address,
        type=element,
        shape=tuple(sizes[:rank]),
        strides=tuple(sizes[_RANKS : _RANKS + rank - 1]),
        box=tuple(words[:rank]) if is_tiled else (),
        steps=tuple(words[_RANKS : _RANKS + rank]),
        interleave=interleave,
        swizzle=swizzle,
        promotion=promotion,
        fill=fill,
        lower=() if is_tiled else tuple(corners[: rank - 2]),
        upper=() if is_tiled else tuple(corners[_CORNERS : _CORNERS + rank - 2]),
        channels=channels,
        pixels=pixels,
    )


def _add_changes(ranges: list[RawRange], changes: Sequence[tuple[int, memoryview]]) -> None:
    """Add changed parts, by their addresses, to their ranges."""
    ranges.sort(key=_ADDRESS_OF)
    for address, data in changes:
        index = bisect_right(ranges, address, key=_ADDRESS_OF) - 1
        if index >= 0:
            ranges[index].after.append((address - ranges[index].address, data))


def _sections(path: Path) -> Iterator[tuple[bytes, memoryview]]:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < len(_MAGIC):
            return
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if bytes(data[: len(_MAGIC)]) != _MAGIC:
        return
    at = len(_MAGIC)
    while at + _SECTION.size <= size:
        tag, length = _SECTION.unpack_from(data, at)
        at += _SECTION.size
        if at + length > size:
            return
        yield tag, data[at : at + length]
        at += length
