"""The description of a recording, in types with their limits (`cudarun.base.decoding`).

Memory is described by pieces. A piece is a run of bytes at an offset, named by the hash of its
contents; bytes that no piece describes are zero.

Its file is a TOML text of known keys, without paths and code. It is read as it is written: a line
is a table's name, or a key and a JSON value. All of TOML would take memory that grows with the
square of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Annotated, Any, TypeAlias

from cudarun.base.decoding import InvalidDocument, decode, parse, refuse_many_values
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.base.toml_text import toml_lines

TEXTURE_BYTES, VIEW_BYTES = 104, 112
"""The sizes of ``CUDA_TEXTURE_DESC`` and of ``CUDA_RESOURCE_VIEW_DESC``."""
PIECE_BYTES = 256 << 10  # the size of the largest piece
DIGEST_CHARACTERS = 32
MAX_RANGE = 1 << 40

is_digest = re.compile(rf"[0-9a-f]{{{DIGEST_CHARACTERS}}}").fullmatch
"""Return a match if a text is the name of a piece."""
is_name = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII).fullmatch
"""Return a match if a text is the name of a range."""

Address: TypeAlias = Annotated[int, range(1 << 63)]
Size: TypeAlias = Annotated[int, range(MAX_RANGE + 1)]
Count: TypeAlias = Annotated[int, range(1 << 31)]
Side: TypeAlias = Annotated[int, range(1, 1 << 31)]
Enumerator: TypeAlias = Annotated[int, range(256)]
Channels: TypeAlias = Annotated[int, range(5)]
Corner: TypeAlias = Annotated[int, range(-(1 << 15), 1 << 15)]
Name: TypeAlias = Annotated[str, is_name]
Symbol: TypeAlias = Annotated[str, re.compile(r"[\w.$%]{1,4096}", re.ASCII).fullmatch]
"""A symbol, which is part of expressions, specs and messages."""
Printable: TypeAlias = Annotated[str, str.isprintable]
Extent: TypeAlias = tuple[Side, Side, Side]
FORMAT = 1
_TABLES = {"range": "ranges", "tensor_map": "tensor_maps", "object": "objects"}
"""The keys of tables, and the fields with their rows."""
_LINE = re.compile(rf"\[(\w+)\]|\[\[({'|'.join(_TABLES)})\]\]|(\w+) *= *(.+)|", re.ASCII)
_TENSOR_MAP_BYTES = 128
_DESCRIPTORS = {True: {(0, 0)}, False: {(TEXTURE_BYTES, 0), (TEXTURE_BYTES, VIEW_BYTES)}}


@dataclass(frozen=True, slots=True)
class MemoryPiece:
    """A run of bytes of a range."""

    offset: Size  # its offset in the range
    size: Annotated[int, range(1, PIECE_BYTES + 1)]
    digest: Annotated[str, is_digest]  # the hash of its contents, which names them in the file


@dataclass(frozen=True, slots=True)
class RecordedArray:
    """The arguments of ``cuArray3DCreate``."""

    width: Size  # the width in elements
    height: Size  # the height; 0 for one dimension
    depth: Size  # the depth, or the number of layers; 0 without
    format: Size  # the number of the ``CUarray_format``
    channels: Size  # the channels of an element
    flags: Size  # the flags ``CUDA_ARRAY3D_*``


@dataclass(frozen=True, slots=True)
class RecordedRange:
    """A range of device memory, a variable of the image, or a CUDA array."""

    name: Name  # the name in expressions
    address: Address  # the address in the program
    size: Annotated[int, range(1, MAX_RANGE + 1)]  # the size in bytes
    before: tuple[MemoryPiece, ...] = ()  # the contents before the launch
    # The parts that the launch changed, with the contents after it.
    after: tuple[MemoryPiece, ...] = ()
    symbol: Symbol | None = None  # the symbol of a variable; ``None`` for memory
    type: Name = "u8"  # the type of its elements in the argument grammar
    array: RecordedArray | None = None  # the shape of a CUDA array, which has no address

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.address + self.size


@dataclass(frozen=True, slots=True)
class RecordedTensorMap:
    """A tensor map in the parameters, with the arguments that encoded it.

    ``cuTensorMapEncodeTiled``, or ``cuTensorMapEncodeIm2col`` if it has no box.
    """

    offset: Count
    address: Address
    type: Enumerator  # the number of the data type
    shape: Annotated[tuple[Size, ...], range(1, 6)]  # the dimensions, the innermost first
    strides: tuple[Size, ...]  # the strides in bytes, of all dimensions but the innermost
    box: tuple[Size, ...]
    steps: tuple[Size, ...]
    interleave: Enumerator  # the number of the interleaved layout
    swizzle: Enumerator
    promotion: Enumerator  # the number of the promotion to L2
    fill: Enumerator  # the number of the fill of elements out of bounds
    lower: tuple[Corner, ...] = ()  # the lower corner of the box of pixels of im2col
    upper: tuple[Corner, ...] = ()
    channels: Count = 0  # the channels of a pixel of im2col
    pixels: Count = 0  # the pixels of a column of im2col


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """A texture or a surface object."""

    handle: Annotated[int, range(1, 1 << 63)]
    surface: bool
    array: Printable  # the name of its array; empty for linear memory
    address: Address  # the address of its linear memory
    width: Size  # the bytes of linear memory, or the width of pitched memory in elements
    height: Count  # the height of pitched memory; 0 for linear memory
    pitch: Count  # the bytes of a row of pitched memory; 0 for linear memory
    format: Enumerator  # the number of the ``CUarray_format`` of linear memory
    channels: Channels  # the channels of an element of linear memory
    description: bytes  # the ``CUDA_TEXTURE_DESC``; empty for a surface
    view: bytes  # the ``CUDA_RESOURCE_VIEW_DESC``; empty without one

    @property
    def memory_bytes(self) -> int:
        """The size of its linear memory; 0 for an array."""
        return self.pitch * self.height or self.width


@dataclass(frozen=True, slots=True)
class RecordedOrigin:
    """The program and the machine that a launch was recorded from."""

    device: Printable = ""  # the GPU's name
    capability: tuple[Count, Count] = (0, 0)  # its compute capability
    driver: Count = 0  # the version of the driver API
    version: Printable = ""  # the version of cudarun
    ordinal: Address = 0  # the number of the launch among those that matched
    stack: tuple[str, ...] = ()  # the stack of the launching thread, innermost frame first


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a recorded launch."""

    kernel: Symbol
    grid: Extent  # the blocks of the grid
    block: Extent  # the threads of a block
    shared_bytes: Count = 0  # the dynamic shared memory of a block
    cluster: Extent | None = None  # the blocks of a cluster; ``None`` for the kernel's own
    cooperative: bool = False  # whether the launch was cooperative
    programmatic: bool = False  # whether it could overlap with the kernel before it
    parameters: Annotated[bytes, range((1 << 16) + 1)] = b""
    # The offset and the size of each parameter, which differ between PTX and machine code; empty if
    # they are not known.
    layout: tuple[tuple[Count, Count], ...] = ()
    # The memory, by address, then the variables of the image and CUDA arrays.
    ranges: tuple[RecordedRange, ...] = ()
    tensor_maps: tuple[RecordedTensorMap, ...] = ()
    objects: tuple[RecordedObject, ...] = ()  # the texture and surface objects
    origin: RecordedOrigin = RecordedOrigin()  # the program and the machine
    # The result of the launch as a ``CUresult``; ``None`` if it did not end.
    status: Count | None = 0
    shrunk: bool = False  # whether memory that the launch does not access was left out

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


def is_of_object(each: RecordedRange, manifest: Manifest) -> bool:
    """Return whether a range contains linear memory of a texture or surface object."""
    return any(
        not found.array
        and each.address < found.address + found.memory_bytes
        and found.address < each.end
        for found in manifest.objects
    )


def write_manifest(manifest: Manifest) -> str:
    """Return the TOML text of a description; `RequestError` if it could not be read again."""
    table = _plain(manifest)
    try:
        _checked(table)
    except InvalidDocument as error:
        raise RequestError(f"the launch cannot be recorded: {error}") from None
    origin = table.pop("origin")
    rows = {key: table.pop(name) for key, name in _TABLES.items()}
    lines = [f"format = {FORMAT}", *toml_lines(table.items())]
    lines += ["", "[origin]", *toml_lines(origin.items())]
    for key in ("tensor_map", "object", "range"):
        for row in rows[key]:
            lines += ["", f"[[{key}]]", *toml_lines(row.items())]
    return "\n".join(lines) + "\n"


def _plain(value: object) -> Any:
    """Return a value as TOML: a table of the fields that are set, or a row of all fields."""
    if isinstance(value, MemoryPiece | RecordedArray):
        return [*asdict(value).values()]
    if is_dataclass(value):
        found = {each.name: getattr(value, each.name) for each in fields(value)}
        return {key: _plain(each) for key, each in found.items() if each is not None}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.hex() if isinstance(value, bytes) else value


def read_manifest(data: bytes, origin: str) -> Manifest:
    """Return the description in a TOML text; `RequestError` if it is damaged."""
    try:
        table = _parsed(data)
        found = decode(int, table.pop("format", None), "format")
        if found != FORMAT:
            raise RequestError(
                f"the recording has format {found}, this version of cudarun reads format {FORMAT}",
                origin=origin,
            )
        return _checked({_TABLES.get(key, key): value for key, value in table.items()})
    except InvalidDocument as error:
        raise RequestError(f"the recording is damaged: {error}", origin=origin) from None


def _parsed(data: bytes) -> dict[str, Any]:
    """Return the tables of a text.

    Raises:
        InvalidDocument: It is not a description, or has too many values.
    """
    refuse_many_values(data)
    table: dict[str, Any] = {}
    inside = table
    for number, line in enumerate(data.decode(errors="replace").split("\n"), 1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise InvalidDocument(f"its description is not TOML of cudarun: line {number}")
        header, rows, key, value = found.groups()
        if rows is not None:
            inside = {}
            table.setdefault(rows, []).append(inside)
        elif line:
            place, name, new = (inside, key, parse(value)) if key else (table, header, {})
            if name in place or name in _TABLES:
                raise InvalidDocument(f"its description has a key twice: line {number}")
            place[name] = new
            inside = inside if key else new
    return table


def _checked(table: Mapping[str, object]) -> Manifest:
    """Return the description in a table.

    Raises:
        InvalidDocument: It is none, or its parts do not match.
    """
    manifest = decode(Manifest, {"status": None, **table}, others=False)
    for problem in _problems(manifest):
        raise InvalidDocument(problem)
    return manifest


def _problems(manifest: Manifest) -> Iterator[str]:
    """Yield what is impossible in a description, beyond the limits of single values."""
    size = len(manifest.parameters)
    if any(start + length > size for start, length in manifest.layout):
        yield "a parameter is not inside the parameters"
    for tensor in manifest.tensor_maps:
        if tensor.offset + _TENSOR_MAP_BYTES > size:
            yield "a tensor map is not inside the parameters"
        rank = len(tensor.shape)
        box, corners = (0, rank - 2) if tensor.channels else (rank, 0)
        named = (tensor.strides, tensor.steps, tensor.box, tensor.lower, tensor.upper)
        if [*map(len, named)] != [rank - 1, rank, box, corners, corners]:
            yield "a tensor map has other numbers of dimensions"
    names = {each.name for each in manifest.ranges}
    if len(names) < len(manifest.ranges):
        yield "two ranges have the same name"
    arrays = {each.name for each in manifest.arrays}
    for found in manifest.objects:
        if found.array and found.array not in arrays:
            yield f"the array '{found.array}' of an object is missing"
        if (len(found.description), len(found.view)) not in _DESCRIPTORS[found.surface]:
            yield "an object has descriptors of other sizes"
    for each in manifest.ranges:
        for pieces in (each.before, each.after):
            end = 0
            for piece in pieces:
                if piece.offset < end or piece.offset + piece.size > each.size:
                    yield f"the pieces of '{each.name}' are not in order, or not inside it"
                end = piece.offset + piece.size
    end = 0
    for each in manifest.memory:
        if each.address < end:
            yield f"the range '{each.name}' is not after the one before it"
        end = each.end
