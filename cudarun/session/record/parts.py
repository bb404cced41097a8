"""The accessed parts of a recording, written as a smaller one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import IO

from cudarun.base.records import dataclass
from cudarun.images.parameters import Parameter
from cudarun.session.launch.recorded.memory import recorded_values
from cudarun.session.recording.archive import Recording, RecordingWriter
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
    manifest = recording.manifest
    with RecordingWriter(file) as writer, recording.contents() as contents:

        def copied(
            whole: RecordedRange, start: int, size: int, at: int = 0
        ) -> tuple[tuple[MemoryPiece, ...], tuple[MemoryPiece, ...]]:
            """Copy bytes of a range to another offset; return their pieces before and after."""
            data = contents.read(whole, start, start + size).data
            before = tuple(writer.pieces(data, at, zeros=False))
            changes = contents.changes(whole, start, start + size)
            after = (each for offset, part in changes for each in writer.pieces(part, at + offset))
            return before, tuple(after)

        ranges: list[RecordedRange] = []
        for whole in manifest.memory if whole_ranges else ():
            own = (part for part in observed.parts if part.of == whole.name)
            copies = [copied(whole, part.offset, part.size, part.offset) for part in own]
            before, after = (sum(pieces, ()) for pieces in zip(((), ()), *copies, strict=True))
            ranges.append(replace(whole, before=before, after=after))
        if not whole_ranges:
            by_name = {each.name: each for each in manifest.memory}
            for name, part in zip(_names(manifest, observed), observed.parts, strict=True):
                pieces = copied(by_name[part.of], part.offset, part.size)
                address = by_name[part.of].address + part.offset
                ranges.append(RecordedRange(name, address, part.size, *pieces, type=part.type))
        for each in (*manifest.variables, *manifest.arrays):  # which are kept whole
            before, after = copied(each, 0, each.size)
            ranges.append(replace(each, before=before, after=after))
        manifest = replace(manifest, ranges=tuple(ranges), shrunk=True)
        writer.finish(manifest, recording.image, recording.ptx)
    return manifest


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
