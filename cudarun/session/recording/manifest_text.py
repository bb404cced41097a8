"""The description of a recording as a TOML text of known keys, without paths and code.

It is read as it is written: a line is a table's name, or a key and a JSON value. All of TOML would
take memory that grows with the square of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from cudarun.base.decoding import InvalidDocument, decode, parse, refuse_many_values
from cudarun.base.errors import RequestError
from cudarun.base.toml_text import toml_lines
from cudarun.session.recording.manifest import (
    TEXTURE_BYTES,
    VIEW_BYTES,
    Manifest,
    MemoryPiece,
    RecordedArray,
    RecordedTensorMap,
)

FORMAT = 1
_TABLES = {"range": "ranges", "tensor_map": "tensor_maps", "object": "objects"}
"""The keys of tables, and the fields with their rows."""
_LINE = re.compile(rf"\[(\w+)\]|\[\[({'|'.join(_TABLES)})\]\]|(\w+) *= *(.+)|", re.ASCII)
_TENSOR_MAP_BYTES = 128
_DESCRIPTORS = {True: {(0, 0)}, False: {(TEXTURE_BYTES, 0), (TEXTURE_BYTES, VIEW_BYTES)}}


def write_manifest(manifest: Manifest) -> str:
    """Return the TOML text of a description.

    Raises:
        RequestError: It could not be read again: a name is no symbol, or a value is out of range.
    """
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


def _plain(value: Any) -> Any:
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
    """Return the description in a TOML text.

    Raises:
        RequestError: It is not a description, or a value is out of range.
    """
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


def _checked(table: Mapping[str, Any]) -> Manifest:
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
        if not _has_its_dimensions(tensor):
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


def _has_its_dimensions(tensor: RecordedTensorMap) -> bool:
    rank = len(tensor.shape)
    box, corners = (0, rank - 2) if tensor.channels else (rank, 0)
    lengths = [len(each) for each in (tensor.strides, tensor.steps, tensor.box)]
    corner_lengths = {len(tensor.lower), len(tensor.upper)}
    return lengths == [rank - 1, rank, box] and corner_lengths == {corners}
