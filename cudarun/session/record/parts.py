"""The accessed parts of a recording, written as a smaller one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

from cudarun.base.records import dataclass
from cudarun.images.parameters import Parameter
from cudarun.session.launch.recorded.memory import recorded_values
from cudarun.session.recording.archive import RecordedContents, Recording, RecordingWriter
from cudarun.session.recording.manifest import Manifest, MemoryPiece, RecordedRange, is_name


@dataclass(frozen=True, slots=True)
class AccessedPart:
    """A part of a recorded range that the launch accesses."""

    of: str  # the name of the range
    offset: int
    size: int  # its size in bytes
    type: str  # the type of its elements in the argument grammar


@dataclass(frozen=True, slots=True)
class ObservedReplay:
    """A replay with all its accesses."""

    parts: tuple[AccessedPart, ...]
    parameters: tuple[Parameter, ...]  # the kernel's parameters, with known names


def write_parts(
    recording: Recording, observed: ObservedReplay, file: IO[bytes], *, whole_ranges: bool = False
) -> Manifest:
    """Write a recording with only the accessed parts; return its description.

    Args:
        file: The smaller recording, open for writing.
        whole_ranges: Keep the ranges as they are, with zeros outside the parts.
    """
    kept = _with_zeros if whole_ranges else _shrunk
    with RecordingWriter(file) as writer:
        ranges = (*kept(recording, observed, writer), *_others(recording, writer))
        manifest = replace(recording.manifest, ranges=ranges, shrunk=True)
        writer.finish(manifest, recording.image, recording.ptx)
    return manifest


def _shrunk(
    recording: Recording, observed: ObservedReplay, writer: RecordingWriter
) -> Iterator[RecordedRange]:
    """Yield the accessed parts as ranges."""
    by_name = {each.name: each for each in recording.manifest.memory}
    with recording.contents() as contents:
        for name, part in zip(_names(recording.manifest, observed), observed.parts, strict=True):
            whole, end = by_name[part.of], part.offset + part.size
            before, after = _copied(contents, whole, part.offset, end, writer)
            address = whole.address + part.offset
            yield RecordedRange(name, address, part.size, before, after, type=part.type)


def _with_zeros(
    recording: Recording, observed: ObservedReplay, writer: RecordingWriter
) -> Iterator[RecordedRange]:
    """Yield the ranges with only the contents of accessed parts."""
    with recording.contents() as contents:
        for whole in recording.manifest.memory:
            copies = [
                _copied(contents, whole, part.offset, part.offset + part.size, writer, part.offset)
                for part in observed.parts
                if part.of == whole.name
            ]
            before, after = (sum(pieces, ()) for pieces in zip(((), ()), *copies, strict=True))
            yield replace(whole, before=before, after=after)


def _others(recording: Recording, writer: RecordingWriter) -> Iterator[RecordedRange]:
    """Yield the variables and the CUDA arrays, which are kept whole."""
    manifest = recording.manifest
    with recording.contents() as contents:
        for each in (*manifest.variables, *manifest.arrays):
            before, after = _copied(contents, each, 0, each.size, writer)
            yield replace(each, before=before, after=after)


def _copied(
    contents: RecordedContents,
    whole: RecordedRange,
    start: int,
    end: int,
    writer: RecordingWriter,
    at: int = 0,
) -> tuple[tuple[MemoryPiece, ...], tuple[MemoryPiece, ...]]:
    """Copy the bytes of a range between two offsets to another offset; return their pieces."""
    before = writer.pieces(contents.read(whole.before, start, end).data, at, zeros=False)
    changes = contents.changes(whole, start, end)
    after = (piece for offset, part in changes for piece in writer.pieces(part, at + offset))
    return tuple(before), tuple(after)


def _names(manifest: Manifest, observed: ObservedReplay) -> list[str]:
    """Return a name for each part: that of the parameter that points to it, or a number."""
    by_name = {each.name: each.address for each in manifest.memory}
    pointers: dict[int, str] = {}
    values = recorded_values(manifest, observed.parameters)
    for parameter, value in zip(observed.parameters, values, strict=True):
        if parameter.name and is_name(parameter.name) and len(value) == 8:
            pointers.setdefault(int.from_bytes(value, "little"), parameter.name)
    found: list[str] = []
    counts: Counter[str] = Counter()
    for number, part in enumerate(observed.parts):
        start = by_name[part.of] + part.offset
        inside = [name for value, name in pointers.items() if start <= value < start + part.size]
        name = inside[0] if inside else f"m{number}"
        counts[name] += 1
        found.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return found
