"""Raw files as recordings, with the code that the GPU ran, and PTX if there is any."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO

from cudarun import __version__
from cudarun.base.errors import CudarunError, ImageRefused, RequestError
from cudarun.base.records import dataclass, derived
from cudarun.images.demangler import base_name, demangle
from cudarun.images.facts import ImageFacts
from cudarun.images.fatbin import best_entry, read_entries
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.reader import read_image
from cudarun.model.record import RecordedFile
from cudarun.session.record.raw_file import RawRange, RawRecording
from cudarun.session.recording.archive import RecordingWriter
from cudarun.session.recording.manifest import Manifest, RecordedOrigin, RecordedRange

_TRITON_CACHE = "~/.triton/cache"
_NO_NAME = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class RecordedCode:
    """The code of a kernel."""

    image: bytes  # the code that the GPU ran: a cubin, or the PTX that the driver compiled
    ptx: bytes | None  # the PTX, if the program has it


def recorded_code(data: bytes, architecture: int) -> RecordedCode:
    """Return the code in an image that a program loaded.

    Args:
        architecture: 90 for sm_90.

    Raises:
        RequestError: The image itself contains no code.
    """
    kind = identify(data)
    if kind is ImageKind.PTX:
        return RecordedCode(data, data)
    if kind is not ImageKind.FATBIN:
        return RecordedCode(data, None)
    with suppress(ImageRefused):  # a compression that is not installed: the driver reads it
        entries = read_entries(data, "image")
        if not entries:
            raise RequestError(
                "the kernel's code is PTX that the driver links when the program starts "
                "(nvcc -rdc=true); it cannot be recorded",
                hint="compile it for this GPU: nvcc -arch=native",
            )
        used = best_entry(architecture, entries)
        text = best_entry(architecture, entries, machine_code=False)
        if used is not None:
            ptx = None if text is None else text.content("image").rstrip(b"\0")
            image = ptx if used is text and ptx is not None else used.content("image")
            return RecordedCode(image, ptx)
    return RecordedCode(data, None)


def code_facts(code: RecordedCode) -> ImageFacts | None:
    """Return the kernels and variables of the code; ``None`` if it cannot be read."""
    with suppress(CudarunError):
        return read_image(code.image, "image", whole=False)
    return None


def triton_ptx(cubin: bytes, folder: str | None) -> bytes | None:
    """Return the PTX beside a cubin in a cache of Triton, by default the user's; or ``None``."""
    folder = folder or os.path.expanduser(_TRITON_CACHE)
    changed = os.stat(folder).st_mtime_ns if os.path.isdir(folder) else 0
    for path, size in _listed(folder, changed):
        with suppress(OSError):
            if size == len(cubin) and path.read_bytes() == cubin:
                return path.with_suffix(".ptx").read_bytes()
    return None


@lru_cache(maxsize=8)
def _listed(folder: str, _changed: int) -> tuple[tuple[Path, int], ...]:
    """List the cubins of a cache, which has a folder for each; it is called after the program."""
    return tuple((path, path.stat().st_size) for path in sorted(Path(folder).glob("*/*.cubin")))


def short_name(kernel: str) -> str:
    """Return the name of a kernel for the name of a file."""
    return _NO_NAME.sub("_", base_name(demangle(kernel))).strip("_")[:_LONGEST_NAME] or "kernel"


def convert(raw: RawRecording, folder: Path, file: IO[bytes]) -> tuple[Manifest, bool]:
    """Write the recording of a raw file; return its description, and whether it has PTX."""
    with RecordingWriter(file) as writer:
        ranges = (*_ranges(writer, raw.ranges), *_arrays(writer, raw))
        manifest = _manifest(raw, ranges)
        major, minor = manifest.origin.capability
        code = recorded_code((folder / raw.texts["image"]).read_bytes(), 10 * major + minor)
        ptx = code.ptx
        if ptx is None and identify(code.image) is ImageKind.CUBIN:
            ptx = triton_ptx(code.image, raw.texts.get("triton_cache"))
        writer.finish(manifest, code.image, ptx)
    return manifest, ptx is not None


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
    return derived(
        Manifest,
        raw,
        kernel=texts["kernel"],
        grid=_extent(raw.numbers("grid")),
        block=_extent(raw.numbers("block")),
        shared_bytes=int(texts["shared"]),
        cluster=_extent(raw.numbers("cluster")) if "cluster" in texts else None,
        cooperative=texts["cooperative"] == "1",
        programmatic=texts.get("programmatic") == "1",
        ranges=ranges,
        tensor_maps=tuple(raw.tensor_maps),
        objects=tuple(raw.objects),
        origin=origin,
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


def recorded_file(path: str, manifest: Manifest, *, has_ptx: bool) -> RecordedFile:
    """Return the facts of a recording."""
    return derived(
        RecordedFile,
        manifest,
        manifest.origin,
        path=path,
        demangled=demangle(manifest.kernel),
        ranges=len(manifest.memory),
        file_bytes=os.path.getsize(path),
        has_ptx=has_ptx,
    )
