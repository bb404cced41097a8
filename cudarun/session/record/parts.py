"""The accessed parts of a recording, written as a smaller one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO

from cudarun.errors import CudarunError
from cudarun.parameters import Parameter
from cudarun.records import dataclass
from cudarun.session.launch.recorded import recorded_values
from cudarun.session.recording.archive import Recording, RecordingWriter
from cudarun.session.recording.manifest import Manifest, MemoryPiece, RecordedRange


@dataclass(frozen=True, slots=True)
class AccessedPart:
    """A part of a recorded range that the launch accesses.

    Attributes:
        of: The name of the range.
        offset: Its offset in the range.
        size: Its size in bytes.
        type: The type of its elements in the argument grammar.
    """

    of: str
    offset: int
    size: int
    type: str


@dataclass(frozen=True, slots=True)
class ObservedReplay:
    """A replay with all its accesses.

    Attributes:
        parts: The accessed parts.
        parameters: The kernel's parameters, with known names.
        error: The error that ended the launch.
    """

    parts: tuple[AccessedPart, ...]
    parameters: tuple[Parameter, ...]
    error: CudarunError | None


def write_parts(
    recording: Recording,
    observed: ObservedReplay,
    file: IO[bytes],
    *,
    whole_ranges: bool = False,
) -> Manifest:
    """Write a recording with only the accessed parts; return its description.

    Args:
        recording: The recording.
        observed: The accessed parts.
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
    manifest = recording.manifest
    names = _names(manifest, observed)
    by_name = {each.name: each for each in manifest.memory}
    with recording.contents() as contents:
        for name, part in zip(names, observed.parts, strict=True):
            whole = by_name[part.of]
            end = part.offset + part.size
            yield RecordedRange(
                name=name,
                address=whole.address + part.offset,
                size=part.size,
                before=_cut(
                    contents.read(whole.before, part.offset, end).data, writer, zeros=False
                ),
                after=_changes(contents.changes(whole, part.offset, end), writer),
                type=part.type,
            )


def _with_zeros(
    recording: Recording, observed: ObservedReplay, writer: RecordingWriter
) -> Iterator[RecordedRange]:
    """Yield the ranges with only the contents of accessed parts."""
    with recording.contents() as contents:
        for whole in recording.manifest.memory:
            before: list[MemoryPiece] = []
            after: list[MemoryPiece] = []
            for part in observed.parts:
                if part.of != whole.name:
                    continue
                start, end = part.offset, part.offset + part.size
                data = contents.read(whole.before, start, end).data
                before += writer.pieces(data, start, zeros=False)
                for offset, changed in contents.changes(whole, start, end):
                    after += writer.pieces(changed, start + offset)
            yield replace(whole, before=tuple(before), after=tuple(after))


def _others(recording: Recording, writer: RecordingWriter) -> Iterator[RecordedRange]:
    """Yield the variables and the CUDA arrays, which are kept whole."""
    manifest = recording.manifest
    with recording.contents() as contents:
        for each in (*manifest.variables, *manifest.arrays):
            yield replace(
                each,
                before=_cut(contents.read(each.before, 0, each.size).data, writer, zeros=False),
                after=_changes(contents.changes(each, 0, each.size), writer),
            )


def _cut(data: memoryview, writer: RecordingWriter, *, zeros: bool) -> tuple[MemoryPiece, ...]:
    return tuple(writer.pieces(data, zeros=zeros))


def _changes(
    changes: Sequence[tuple[int, bytes]], writer: RecordingWriter
) -> tuple[MemoryPiece, ...]:
    return tuple(piece for offset, data in changes for piece in writer.pieces(data, offset))


def _names(manifest: Manifest, observed: ObservedReplay) -> list[str]:
    """Return a name for each part: that of the parameter that points to it, or a number."""
    by_name = {each.name: each.address for each in manifest.memory}
    pointers: dict[int, str] = {}
    values = recorded_values(manifest, observed.parameters)
    for parameter, value in zip(observed.parameters, values, strict=True):
        if parameter.name and parameter.name.isidentifier() and len(value) == 8:
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
