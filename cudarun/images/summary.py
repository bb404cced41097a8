"""A summary of a file for explanations; the file may be damaged."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cudarun.base.errors import ImageRefused
from cudarun.base.records import dataclass
from cudarun.images.contents import Data
from cudarun.images.kinds import CONTAINERS, ImageKind, identify
from cudarun.images.reader import image_entries, read_image
from cudarun.images.versions import Architecture, Version, parse_target

_VERSION = re.compile(rb"^[ \t]*\.version[ \t]+(\d{1,9})\.(\d{1,9})\b", re.MULTILINE)
_TARGET = re.compile(rb"^[ \t]*\.target[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileSummary:
    """A summary of a file."""

    kind: ImageKind  # the kind of file
    targets: tuple[Architecture, ...] = ()  # the architectures of its code; a fatbin has several
    ptx_version: Version | None = None  # the ``.version`` of PTX
    damage: str | None = None  # the damage to its structure, in one line
    lines: int | None = None  # the number of lines of a text
    externs: tuple[str, ...] = ()  # the undefined symbols of a cubin


def summarize(data: Data, origin: str) -> FileSummary:
    """Summarize a file, which may be damaged in any way."""
    kind = identify(data)
    if kind is ImageKind.PTX:
        found, target = _VERSION.search(data), _TARGET.search(data)
        version = (int(found[1]), int(found[2])) if found else None
        names = [target[1].decode().replace("sm_", "compute_")] if target else []
        return FileSummary(kind, _targets(names), version, lines=_line_count(bytes(data)))
    if kind is ImageKind.CUDA_SOURCE:
        return FileSummary(kind, lines=_line_count(bytes(data)))
    try:
        if kind is ImageKind.CUBIN:
            facts = read_image(data, origin)
            return FileSummary(kind, _targets(facts.targets), externs=facts.externs)
        if kind in CONTAINERS:
            return FileSummary(kind, _targets(e.target for e in image_entries(data, origin)))
    except ImageRefused as error:
        return FileSummary(kind, damage=error.cause or error.what)
    return FileSummary(kind)


def _line_count(data: bytes) -> int:
    return data.rstrip(b"\0 \t\r\n").count(b"\n") + 1


def _targets(names: Iterable[str]) -> tuple[Architecture, ...]:
    return tuple(target for target in map(parse_target, names) if target is not None)
