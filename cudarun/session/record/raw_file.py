"""The raw files that the library writes: sections of a tag, a size and bytes."""

from __future__ import annotations

import mmap
import os
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import field
from operator import attrgetter
from pathlib import Path

from cudarun.base.records import dataclass
from cudarun.session.recording.manifest import (
    TEXTURE_BYTES,
    VIEW_BYTES,
    RecordedArray,
    RecordedObject,
    RecordedTensorMap,
)

_MAGIC = b"CUDARAW1"
_SECTION = struct.Struct("<4sQ")
_RANGE = struct.Struct("<QQ")
_ADDRESS = struct.Struct("<Q")
_ADDRESS_OF = attrgetter("address")
_TENSOR_MAP = struct.Struct("<12Q16I6i2I")
_ARRAY_SECTION = struct.Struct("<4Q4I")
_OBJECT = struct.Struct(f"<Q2I2IQ2I3Q96x{TEXTURE_BYTES}s{VIEW_BYTES}s")
_RANKS, _CORNERS = 5, 3
_ARRAY, _MIPMAPPED, _LINEAR = 0, 1, 2  # of CUresourcetype


@dataclass(slots=True)
class RawRange:
    """A range of memory, or a variable."""

    address: int
    before: memoryview  # the contents before the launch
    symbol: str | None = None
    # The offsets of changed parts with their contents.
    after: list[tuple[int, memoryview]] = field(default_factory=list)


@dataclass(slots=True)
class RawArray:
    """A CUDA array."""

    shape: RecordedArray
    before: memoryview  # the contents before the launch
    after: memoryview | None = None  # the contents after it; ``None`` if it did not change them


@dataclass(slots=True)
class RawRecording:
    """The contents of a raw file."""

    texts: dict[str, str] = field(default_factory=dict)  # the descriptions by key
    parameters: bytes = b""
    layout: tuple[tuple[int, int], ...] = ()  # the offset and the size of each parameter
    # The memory, by address, and the variables.
    ranges: list[RawRange] = field(default_factory=list)
    tensor_maps: list[RecordedTensorMap] = field(default_factory=list)
    arrays: dict[int, RawArray] = field(default_factory=dict)  # the CUDA arrays by handle
    # The texture and surface objects whose memory is there.
    objects: list[RecordedObject] = field(default_factory=list)
    status: int | None = None  # the result of the launch; ``None`` if it did not end
    has_memory: bool = False  # whether all memory from before the launch is there

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return the numbers of a description."""
        return tuple(map(int, self.texts[key].split()))


def read_raw(path: Path) -> RawRecording:
    """Read a raw file; of one that is not complete, the sections that are."""
    raw = RawRecording()
    changes: list[tuple[int, memoryview]] = []
    objects: list[bytes] = []
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
            handle, *numbers, _ = _ARRAY_SECTION.unpack_from(part)
            raw.arrays[handle] = RawArray(RecordedArray(*numbers), part[_ARRAY_SECTION.size :])
        elif tag == b"AFTA":
            (handle,) = _ADDRESS.unpack_from(part)
            raw.arrays[handle].after = part[_ADDRESS.size :]
        elif tag == b"OBJE":
            objects.append(bytes(part))
        elif tag == b"BEFO":
            raw.has_memory = True
        elif tag == b"STAT":
            raw.status = int.from_bytes(part, "little", signed=True)
    raw.objects = [*_objects(objects, raw.arrays)]
    raw.ranges.sort(key=_ADDRESS_OF)
    for address, data in changes:
        index = bisect_right(raw.ranges, address, key=_ADDRESS_OF) - 1
        if index >= 0:
            raw.ranges[index].after.append((address - raw.ranges[index].address, data))
    raw.ranges.sort(key=lambda each: (each.symbol is not None, each.address))
    return raw


def _objects(parts: Iterable[bytes], arrays: Iterable[int]) -> Iterator[RecordedObject]:
    """Yield the objects whose memory is recorded."""
    names = {handle: f"a{number}" for number, handle in enumerate(arrays)}
    for part in parts:
        handle, surface, has_view, kind, _, memory, *numbers, texture, view = _OBJECT.unpack(part)
        element, channels, width, height, pitch = numbers
        if kind == _MIPMAPPED or (kind == _ARRAY and memory not in names):
            continue
        if kind == _ARRAY:
            element = channels = width = height = pitch = 0
        elif kind == _LINEAR:
            height = pitch = 0
        yield RecordedObject(
            handle=handle,
            surface=bool(surface),
            array=names[memory] if kind == _ARRAY else "",
            address=0 if kind == _ARRAY else memory,
            width=width,
            height=height,
            pitch=pitch,
            format=element,
            channels=channels,
            description=b"" if surface else texture,
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
