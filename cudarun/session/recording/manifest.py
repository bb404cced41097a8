"""The description of a recording: a TOML text of known keys, without paths and code.

Memory is described by pieces. A piece is a run of bytes at an offset, named by the hash of its
contents; bytes that no piece describes are zero.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias, TypeVar

from cudarun.errors import RequestError
from cudarun.records import dataclass

FORMAT = 1
PIECE_BYTES = 256 << 10
"""The size of the largest piece."""

DIGEST_CHARACTERS = 32
MAX_RANGE = 1 << 40
_MAX_ADDRESS = 1 << 64
_MAX_PARAMETER_BYTES = 1 << 16
_MAX_EXTENT = (1 << 31) - 1
_MAX_ENUMERATOR = 255
_MOST_RANKS = 5
_TENSOR_MAP_BYTES = 128
_MAX_CHANNELS = 4
TEXTURE_BYTES, VIEW_BYTES = 104, 112
"""The sizes of ``CUDA_TEXTURE_DESC`` and of ``CUDA_RESOURCE_VIEW_DESC``."""

_DESCRIPTORS = {True: {(0, 0)}, False: {(TEXTURE_BYTES, 0), (TEXTURE_BYTES, VIEW_BYTES)}}

Extent: TypeAlias = tuple[int, int, int]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class MemoryPiece:
    """A run of bytes of a range.

    Attributes:
        offset: Its offset in the range.
        size: Its size in bytes.
        digest: The hash of its contents, which names them in the file.
    """

    offset: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class RecordedArray:
    """The arguments of ``cuArray3DCreate``.

    Attributes:
        width: The width in elements.
        height: The height; 0 for one dimension.
        depth: The depth, or the number of layers; 0 without.
        format: The number of the ``CUarray_format``.
        channels: The channels of an element.
        flags: The flags ``CUDA_ARRAY3D_*``.
    """

    width: int
    height: int
    depth: int
    format: int
    channels: int
    flags: int


@dataclass(frozen=True, slots=True)
class RecordedRange:
    """A range of device memory, a variable of the image, or a CUDA array.

    Attributes:
        name: The name in expressions.
        address: The address in the program.
        size: The size in bytes.
        before: The contents before the launch.
        after: The parts that the launch changed, with the contents after it.
        symbol: The symbol of a variable; ``None`` for memory.
        type: The type of its elements in the argument grammar.
        array: The shape of a CUDA array, which has no address.
    """

    name: str
    address: int
    size: int
    before: tuple[MemoryPiece, ...] = ()
    after: tuple[MemoryPiece, ...] = ()
    symbol: str | None = None
    type: str = "u8"
    array: RecordedArray | None = None

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.address + self.size


@dataclass(frozen=True, slots=True)
class RecordedTensorMap:
    """A tensor map in the parameters, with the arguments of ``cuTensorMapEncodeTiled``.

    Attributes:
        offset: Its offset in the parameters.
        address: The address of the tensor.
        type: The number of the data type.
        shape: The dimensions, the innermost first.
        strides: The strides in bytes, of all dimensions but the innermost.
        box: The sides of the box.
        steps: The step in each dimension.
        interleave: The number of the interleaved layout.
        swizzle: The number of the swizzle.
        promotion: The number of the promotion to L2.
        fill: The number of the fill of elements out of bounds.
    """

    offset: int
    address: int
    type: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    interleave: int
    swizzle: int
    promotion: int
    fill: int


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """A texture or a surface object.

    Attributes:
        handle: The handle in the program.
        surface: Whether it is a surface.
        array: The name of its array; empty for linear memory.
        address: The address of its linear memory.
        width: The bytes of linear memory, or the width of pitched memory in elements.
        height: The height of pitched memory; 0 for linear memory.
        pitch: The bytes of a row of pitched memory; 0 for linear memory.
        format: The number of the ``CUarray_format`` of linear memory.
        channels: The channels of an element of linear memory.
        description: The ``CUDA_TEXTURE_DESC``; empty for a surface.
        view: The ``CUDA_RESOURCE_VIEW_DESC``; empty without one.
    """

    handle: int
    surface: bool
    array: str
    address: int
    width: int
    height: int
    pitch: int
    format: int
    channels: int
    description: bytes
    view: bytes

    @property
    def memory_bytes(self) -> int:
        """The size of its linear memory; 0 for an array."""
        return self.pitch * self.height or self.width


@dataclass(frozen=True, slots=True)
class RecordedOrigin:
    """The program and the machine that a launch was recorded from.

    Attributes:
        device: The GPU's name.
        capability: Its compute capability.
        driver: The version of the driver API.
        version: The version of cudarun.
        ordinal: The number of the launch among those that matched.
        stack: The stack of the launching thread, innermost frame first.
    """

    device: str = ""
    capability: tuple[int, int] = (0, 0)
    driver: int = 0
    version: str = ""
    ordinal: int = 0
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a recorded launch.

    Attributes:
        kernel: The kernel's symbol.
        grid: The blocks of the grid.
        block: The threads of a block.
        shared_bytes: The dynamic shared memory of a block.
        cluster: The blocks of a cluster; ``None`` for the kernel's own.
        cooperative: Whether the launch was cooperative.
        parameters: The bytes of the parameters.
        layout: The offset and the size of each parameter, which differ between PTX and machine
            code; empty if they are not known.
        ranges: The memory, by address, then the variables of the image and CUDA arrays.
        tensor_maps: The tensor maps in the parameters.
        objects: The texture and surface objects.
        origin: The program and the machine.
        status: The result of the launch as a ``CUresult``; ``None`` if it did not end.
        shrunk: Whether memory that the launch does not access was left out.
    """

    kernel: str
    grid: Extent
    block: Extent
    shared_bytes: int = 0
    cluster: Extent | None = None
    cooperative: bool = False
    parameters: bytes = b""
    layout: tuple[tuple[int, int], ...] = ()
    ranges: tuple[RecordedRange, ...] = ()
    tensor_maps: tuple[RecordedTensorMap, ...] = ()
    objects: tuple[RecordedObject, ...] = ()
    origin: RecordedOrigin = RecordedOrigin()
    status: int | None = 0
    shrunk: bool = False

    @property
    def memory(self) -> tuple[RecordedRange, ...]:
        """The ranges of device memory, by address."""
        return tuple(each for each in self.ranges if each.symbol is None and each.array is None)

    @property
    def variables(self) -> tuple[RecordedRange, ...]:
        """The variables of the image."""
        return tuple(each for each in self.ranges if each.symbol is not None)

    @property
    def arrays(self) -> tuple[RecordedRange, ...]:
        """The CUDA arrays."""
        return tuple(each for each in self.ranges if each.array is not None)

    @property
    def memory_bytes(self) -> int:
        """The size of all ranges of device memory."""
        return sum(each.size for each in self.memory)


def write_manifest(manifest: Manifest) -> str:
    """Return the TOML text of a description."""
    origin = manifest.origin
    head: dict[str, object] = {
        "format": FORMAT,
        "kernel": manifest.kernel,
        "grid": manifest.grid,
        "block": manifest.block,
        "shared_bytes": manifest.shared_bytes,
        "cooperative": manifest.cooperative,
        "parameters": manifest.parameters.hex(),
        "layout": manifest.layout,
        "shrunk": manifest.shrunk,
    }
    if manifest.cluster is not None:
        head["cluster"] = manifest.cluster
    if manifest.status is not None:
        head["status"] = manifest.status
    lines = [*_lines(head), "", "[origin]"]
    lines += _lines(
        {
            "device": origin.device,
            "capability": origin.capability,
            "driver": origin.driver,
            "version": origin.version,
            "ordinal": origin.ordinal,
            "stack": origin.stack,
        }
    )
    for tensor in manifest.tensor_maps:
        lines += ["", "[[tensor_map]]", *_lines(asdict(tensor))]
    for found in manifest.objects:
        row = asdict(found) | {"description": found.description.hex(), "view": found.view.hex()}
        lines += ["", "[[object]]", *_lines(row)]
    for each in manifest.ranges:
        lines += ["", "[[range]]"]
        row = {"name": each.name, "address": each.address, "size": each.size}
        row["type"] = each.type
        if each.symbol is not None:
            row["symbol"] = each.symbol
        if each.array is not None:
            row["array"] = [*asdict(each.array).values()]
        for key, pieces in (("before", each.before), ("after", each.after)):
            row[key] = [[piece.offset, piece.size, piece.digest] for piece in pieces]
        lines += _lines(row)
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, object]) -> Iterator[str]:
    # A JSON value is a TOML value, except for null and for characters above U+FFFF as escapes.
    for key, value in table.items():
        yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")


def read_manifest(data: bytes, origin: str) -> Manifest:
    """Return the description in a TOML text.

    Args:
        data: The text.
        origin: The file, for messages.

    Raises:
        RequestError: It is not a description, or a value is out of range.
    """
    try:
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise _damaged(origin, f"its description is not TOML: {error}") from None
    reader = _TableReader(table, origin)
    found = reader.number("format", 1, 1 << 31)
    if found != FORMAT:
        raise RequestError(
            f"the recording has format {found}, this version of cudarun reads format {FORMAT}",
            origin=origin,
        )
    ranges = tuple(_range(_TableReader(each, origin)) for each in reader.tables("range"))
    parameters = reader.hexadecimal("parameters", _MAX_PARAMETER_BYTES)
    maps = tuple(_tensor_map(_TableReader(each, origin)) for each in reader.tables("tensor_map"))
    objects = tuple(_object(_TableReader(each, origin)) for each in reader.tables("object"))
    of = _TableReader(reader.table("origin"), origin)
    cluster = reader.extent("cluster") if "cluster" in table else None
    manifest = Manifest(
        kernel=reader.text("kernel"),
        grid=reader.extent("grid"),
        block=reader.extent("block"),
        shared_bytes=reader.number("shared_bytes", 0, _MAX_EXTENT),
        cluster=cluster,
        cooperative=reader.value("cooperative", bool),
        parameters=parameters,
        layout=reader.places("layout", len(parameters)) if "layout" in table else (),
        ranges=ranges,
        tensor_maps=maps,
        objects=objects,
        origin=RecordedOrigin(
            device=of.text("device"),
            capability=of.pair("capability"),
            driver=of.number("driver", 0, _MAX_EXTENT),
            version=of.text("version"),
            ordinal=of.number("ordinal", 0, _MAX_ADDRESS),
            stack=tuple(of.texts("stack")),
        ),
        status=reader.number("status", 0, _MAX_EXTENT) if "status" in table else None,
        shrunk=reader.value("shrunk", bool),
    )
    for each in (reader, of):
        each.refuse_others()
    _check_ranges(manifest, origin)
    return manifest


def _range(reader: _TableReader) -> RecordedRange:
    size = reader.number("size", 1, MAX_RANGE)
    found = RecordedRange(
        name=reader.name("name"),
        address=reader.number("address", 0, _MAX_ADDRESS - size),
        size=size,
        before=tuple(reader.pieces("before", size)),
        after=tuple(reader.pieces("after", size)),
        symbol=reader.text("symbol") if "symbol" in reader.table_of else None,
        type=reader.name("type"),
        array=RecordedArray(*reader.sizes("array", range(6, 7)))
        if "array" in reader.table_of
        else None,
    )
    reader.refuse_others()
    return found


def _object(reader: _TableReader) -> RecordedObject:
    found = RecordedObject(
        handle=reader.number("handle", 1, _MAX_ADDRESS - 1),
        surface=reader.value("surface", bool),
        array=reader.text("array"),
        address=reader.number("address", 0, _MAX_ADDRESS - 1),
        width=reader.number("width", 0, MAX_RANGE),
        height=reader.number("height", 0, _MAX_EXTENT),
        pitch=reader.number("pitch", 0, _MAX_EXTENT),
        format=reader.number("format", 0, _MAX_ENUMERATOR),
        channels=reader.number("channels", 0, _MAX_CHANNELS),
        description=reader.hexadecimal("description", TEXTURE_BYTES),
        view=reader.hexadecimal("view", VIEW_BYTES),
    )
    sizes = len(found.description), len(found.view)
    if sizes not in _DESCRIPTORS[found.surface]:
        raise _damaged(reader.origin, "an object has descriptors of other sizes")
    reader.refuse_others()
    return found


def _tensor_map(reader: _TableReader) -> RecordedTensorMap:
    shape = reader.sizes("shape", range(1, _MOST_RANKS + 1))
    rank = len(shape)
    found = RecordedTensorMap(
        offset=reader.number("offset", 0, _MAX_PARAMETER_BYTES - _TENSOR_MAP_BYTES),
        address=reader.number("address", 0, _MAX_ADDRESS - 1),
        type=reader.number("type", 0, _MAX_ENUMERATOR),
        shape=shape,
        strides=reader.sizes("strides", range(rank - 1, rank)),
        box=reader.sizes("box", range(rank, rank + 1)),
        steps=reader.sizes("steps", range(rank, rank + 1)),
        interleave=reader.number("interleave", 0, _MAX_ENUMERATOR),
        swizzle=reader.number("swizzle", 0, _MAX_ENUMERATOR),
        promotion=reader.number("promotion", 0, _MAX_ENUMERATOR),
        fill=reader.number("fill", 0, _MAX_ENUMERATOR),
    )
    reader.refuse_others()
    return found


def _check_ranges(manifest: Manifest, origin: str) -> None:
    """Refuse two ranges of one name or at one address, and objects without their array."""
    names = [each.name for each in manifest.ranges]
    if len({*names}) < len(names):
        raise _damaged(origin, "two ranges have the same name")
    for tensor in manifest.tensor_maps:
        if tensor.offset + _TENSOR_MAP_BYTES > len(manifest.parameters):
            raise _damaged(origin, "a tensor map is not inside the parameters")
    arrays = {each.name for each in manifest.arrays}
    for found in manifest.objects:
        if found.array and found.array not in arrays:
            raise _damaged(origin, f"the array '{found.array}' of an object is missing")
    end = 0
    for each in manifest.memory:
        if each.address < end:
            raise _damaged(origin, f"the range '{each.name}' is not after the one before it")
        end = each.end


class _TableReader:
    """A reader of the known keys of a table; it refuses values of other types."""

    def __init__(self, table: Mapping[str, Any], origin: str) -> None:
        self.table_of = table
        self.origin = origin
        self._known: set[str] = set()

    def value(self, key: str, kind: type[_T]) -> _T:
        self._known.add(key)
        found = self.table_of.get(key)
        if type(found) is not kind:  # a bool is no number
            raise _damaged(self.origin, f"'{key}' is missing or has another type")
        return found

    def number(self, key: str, least: int, limit: int) -> int:
        return self._in_range(key, self.value(key, int), least, limit)

    def _in_range(self, key: str, found: object, least: int, limit: int) -> int:
        if type(found) is not int or not least <= found <= limit:
            raise _damaged(self.origin, f"'{key}' is out of range")
        return found

    def text(self, key: str) -> str:
        return self.value(key, str)

    def name(self, key: str) -> str:
        found = self.text(key)
        if not found.isidentifier() or not found.isascii():
            raise _damaged(self.origin, f"'{key}' is not a name")
        return found

    def texts(self, key: str) -> Iterator[str]:
        for each in self.value(key, list):
            if not isinstance(each, str):
                raise _damaged(self.origin, f"'{key}' is not a list of texts")
            yield each

    def hexadecimal(self, key: str, most: int) -> bytes:
        try:
            found = bytes.fromhex(self.text(key))
        except ValueError:
            raise _damaged(self.origin, f"'{key}' is not hexadecimal") from None
        if len(found) > most:
            raise _damaged(self.origin, f"'{key}' is too long")
        return found

    def extent(self, key: str) -> Extent:
        x, y, z = self._numbers(key, 3, 1)
        return x, y, z

    def pair(self, key: str) -> tuple[int, int]:
        first, second = self._numbers(key, 2, 0)
        return first, second

    def _numbers(self, key: str, count: int, least: int) -> list[int]:
        found = self.value(key, list)
        if len(found) != count:
            raise _damaged(self.origin, f"'{key}' requires {count} numbers")
        return [self._in_range(key, each, least, _MAX_EXTENT) for each in found]

    def sizes(self, key: str, counts: range) -> tuple[int, ...]:
        found = self.value(key, list)
        if len(found) not in counts:
            raise _damaged(self.origin, f"'{key}' has {len(found)} numbers")
        return tuple(self._in_range(key, each, 0, MAX_RANGE) for each in found)

    def places(self, key: str, end: int) -> tuple[tuple[int, int], ...]:
        found = []
        for each in self.value(key, list):
            if type(each) is not list or len(each) != 2:
                raise _damaged(self.origin, f"'{key}' is not a list of pairs")
            offset = self._in_range(key, each[0], 0, end)
            found.append((offset, self._in_range(key, each[1], 0, end - offset)))
        return tuple(found)

    def table(self, key: str) -> dict[str, Any]:
        return self.value(key, dict)

    def tables(self, key: str) -> Iterable[dict[str, Any]]:
        found = self.value(key, list) if key in self.table_of else []
        if not all(isinstance(each, dict) for each in found):
            raise _damaged(self.origin, f"'{key}' is not a list of tables")
        return found

    def pieces(self, key: str, size: int) -> Iterator[MemoryPiece]:
        end = 0
        for each in self.value(key, list):
            if type(each) is not list or len(each) != 3 or type(each[2]) is not str:
                raise _damaged(self.origin, f"'{key}' is not a list of pieces")
            offset = self._in_range(key, each[0], end, size - 1)
            length = self._in_range(key, each[1], 1, min(PIECE_BYTES, size - offset))
            if not is_digest(each[2]):
                raise _damaged(self.origin, f"'{key}' contains an invalid hash")
            yield MemoryPiece(offset, length, each[2])
            end = offset + length

    def refuse_others(self) -> None:
        """Refuse keys that are not known: they could be meant for a later version."""
        for key in self.table_of:
            if key not in self._known:
                raise _damaged(self.origin, f"unknown key '{key}'")


def is_digest(text: str) -> bool:
    """Return whether a text is the name of a piece."""
    return len(text) == DIGEST_CHARACTERS and not {*text} - {*"0123456789abcdef"}


def is_of_object(each: RecordedRange, manifest: Manifest) -> bool:
    """Return whether a range contains linear memory of a texture or surface object."""
    return any(
        not found.array
        and each.address < found.address + found.memory_bytes
        and found.address < each.end
        for found in manifest.objects
    )


def thread_count(manifest: Manifest) -> int:
    """Return the number of threads of the launch."""
    return math.prod(manifest.grid) * math.prod(manifest.block)


def _damaged(origin: str, cause: str) -> RequestError:
    return RequestError(f"the recording is damaged: {cause}", origin=origin)
