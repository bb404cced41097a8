"""Raw files as recordings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from cudarun import __version__
from cudarun.images.demangler import base_name, demangle
from cudarun.images.kinds import ImageKind, identify
from cudarun.session.record.code import RecordedCode, recorded_code, triton_ptx
from cudarun.session.record.raw_file import RawRange, RawRecording
from cudarun.session.recording.archive import RecordingWriter
from cudarun.session.recording.manifest import Manifest, RecordedOrigin, RecordedRange

_NO_NAME = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST_NAME = 64


def short_name(kernel: str) -> str:
    """Return the name of a kernel for the name of a file."""
    name = _NO_NAME.sub("_", base_name(demangle(kernel))).strip("_")
    return name[:_LONGEST_NAME] or "kernel"


def convert(raw: RawRecording, folder: Path, file: IO[bytes]) -> tuple[Manifest, bool]:
    """Write the recording of a raw file; return its description, and whether it has PTX."""
    with RecordingWriter(file) as writer:
        ranges = (*_ranges(writer, raw.ranges), *_arrays(writer, raw))
        manifest = _manifest(raw, ranges)
        code = _code(raw, folder)
        writer.finish(manifest, code.image, code.ptx)
    return manifest, code.ptx is not None


def _code(raw: RawRecording, folder: Path) -> RecordedCode:
    major, minor = raw.numbers("capability")
    code = recorded_code((folder / raw.texts["image"]).read_bytes(), 10 * major + minor)
    if code.ptx is None and identify(code.image) is ImageKind.CUBIN:
        return RecordedCode(code.image, triton_ptx(code.image, raw.texts.get("triton_cache")))
    return code


def _manifest(raw: RawRecording, ranges: tuple[RecordedRange, ...]) -> Manifest:
    texts = raw.texts
    major, minor = raw.numbers("capability")
    origin = RecordedOrigin(
        device=texts["device"],
        capability=(major, minor),
        driver=int(texts["driver"]),
        version=__version__,
        ordinal=int(texts["ordinal"]),
        stack=tuple(texts.get("stack", "").splitlines()),
    )
    return Manifest(
        kernel=texts["kernel"],
        grid=_extent(raw.numbers("grid")),
        block=_extent(raw.numbers("block")),
        shared_bytes=int(texts["shared"]),
        cluster=_extent(raw.numbers("cluster")) if "cluster" in texts else None,
        cooperative=texts["cooperative"] == "1",
        parameters=raw.parameters,
        layout=raw.layout,
        ranges=ranges,
        tensor_maps=tuple(raw.tensor_maps),
        objects=tuple(raw.objects),
        origin=origin,
        status=raw.status,
    )


def _extent(numbers: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = numbers
    return x, y, z


def _ranges(writer: RecordingWriter, raw: Sequence[RawRange]) -> tuple[RecordedRange, ...]:
    counts = {True: 0, False: 0}
    found = []
    for each in raw:
        is_variable = each.symbol is not None
        found.append(
            RecordedRange(
                name=f"{'v' if is_variable else 'm'}{counts[is_variable]}",
                address=each.address,
                size=len(each.before),
                before=tuple(writer.pieces(each.before, zeros=False)),
                after=tuple(
                    piece
                    for offset, part in sorted(each.after, key=lambda change: change[0])
                    for piece in writer.pieces(part, offset)
                ),
                symbol=each.symbol,
            )
        )
        counts[is_variable] += 1
    return tuple(found)


def _arrays(writer: RecordingWriter, raw: RawRecording) -> Iterator[RecordedRange]:
    for number, each in enumerate(raw.arrays.values()):
        yield RecordedRange(
            name=f"a{number}",
            address=0,
            size=len(each.before),
            before=tuple(writer.pieces(each.before, zeros=False)),
            after=() if each.after is None else tuple(writer.pieces(each.after)),
            array=each.shape,
        )
