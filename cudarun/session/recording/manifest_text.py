"""The description of a recording as a TOML text of known keys, without paths and code."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from cudarun.errors import RequestError
from cudarun.session.recording.manifest import (
    TEXTURE_BYTES,
    VIEW_BYTES,
    Extent,
    Manifest,
    MemoryPiece,
    RecordedArray,
    RecordedObject,
    RecordedOrigin,
    RecordedRange,
    RecordedTensorMap,
)

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
_MAX_CORNER = 1 << 15
_MAX_NAME = 64
_SYMBOL = re.compile(r"[\w.$%]{1,4096}", re.ASCII)
_DESCRIPTORS = {True: {(0, 0)}, False: {(TEXTURE_BYTES, 0), (TEXTURE_BYTES, VIEW_BYTES)}}

_T = TypeVar("_T")


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
    lines = [*toml_lines(head), "", "[origin]"]
    lines += toml_lines(
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
        lines += ["", "[[tensor_map]]", *toml_lines(asdict(tensor))]
    for found in manifest.objects:
        row = asdict(found) | {"description": found.description.hex(), "view": found.view.hex()}
        lines += ["", "[[object]]", *toml_lines(row)]
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
        lines += toml_lines(row)
    return "\n".join(lines) + "\n"


def toml_lines(table: Mapping[str, object]) -> Iterator[str]:
    """Yield a TOML line for each value."""
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
        kernel=reader.symbol("kernel"),
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
        symbol=reader.symbol("symbol") if "symbol" in reader.table_of else None,
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
    is_tiled = not reader.table_of.get("channels")
    corners = range(1) if is_tiled else range(rank - 2, rank - 1)
    found = RecordedTensorMap(
        offset=reader.number("offset", 0, _MAX_PARAMETER_BYTES - _TENSOR_MAP_BYTES),
        address=reader.number("address", 0, _MAX_ADDRESS - 1),
        type=reader.number("type", 0, _MAX_ENUMERATOR),
        shape=shape,
        strides=reader.sizes("strides", range(rank - 1, rank)),
        box=reader.sizes("box", range(rank, rank + 1) if is_tiled else range(1)),
        steps=reader.sizes("steps", range(rank, rank + 1)),
        interleave=reader.number("interleave", 0, _MAX_ENUMERATOR),
        swizzle=reader.number("swizzle", 0, _MAX_ENUMERATOR),
        promotion=reader.number("promotion", 0, _MAX_ENUMERATOR),
        fill=reader.number("fill", 0, _MAX_ENUMERATOR),
        **_im2col(reader, corners),
    )
    reader.refuse_others()
    return found


def _im2col(reader: _TableReader, corners: range) -> dict[str, Any]:
    """Return the further arguments of im2col, which older recordings do not have."""
    if "channels" not in reader.table_of:
        return {}
    return {
        "lower": reader.sizes("lower", corners, -_MAX_CORNER),
        "upper": reader.sizes("upper", corners, -_MAX_CORNER),
        "channels": reader.number("channels", 0, _MAX_EXTENT),
        "pixels": reader.number("pixels", 0, _MAX_EXTENT),
    }


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
        found = self.value(key, str)
        if not found.isprintable():
            raise _damaged(self.origin, f"'{key}' is not printable text")
        return found

    def name(self, key: str) -> str:
        found = self.text(key)
        if not found.isidentifier() or not found.isascii() or len(found) > _MAX_NAME:
            raise _damaged(self.origin, f"'{key}' is not a name")
        return found

    def symbol(self, key: str) -> str:
        """Return a symbol: it is part of expressions, specs and messages."""
        found = self.text(key)
        if not _SYMBOL.fullmatch(found):
            raise _damaged(self.origin, f"'{key}' is not a symbol")
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

    def sizes(self, key: str, counts: range, least: int = 0) -> tuple[int, ...]:
        found = self.value(key, list)
        if len(found) not in counts:
            raise _damaged(self.origin, f"'{key}' has {len(found)} numbers")
        return tuple(self._in_range(key, each, least, MAX_RANGE) for each in found)

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
                raise _damaged(self.origin, f"unknown key {key!r}")


def is_digest(text: str) -> bool:
    """Return whether a text is the name of a piece."""
    return len(text) == DIGEST_CHARACTERS and not {*text} - {*"0123456789abcdef"}


def _damaged(origin: str, cause: str) -> RequestError:
    return RequestError(f"the recording is damaged: {cause}", origin=origin)
