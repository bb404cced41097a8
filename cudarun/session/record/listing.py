"""The rows of ``--list``, which each process writes to a file: ``native/listing.c``."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from cudarun.images.demangler import base_name, demangle
from cudarun.model.record import ListedLaunches

_ROW = struct.Struct("<QQd3I3III4040s")


def read_lists(folder: Path) -> tuple[ListedLaunches, ...]:
    """Return the launches of all processes, those with the most time first."""
    found: dict[tuple[object, ...], ListedLaunches] = {}
    for path in sorted(folder.glob("list-*")):
        for each in _rows(path):
            key = each.kernel, each.grid, each.block, each.shared_bytes
            known = found.get(key)
            found[key] = each if known is None else known.plus(each)
    return tuple(sorted(found.values(), key=lambda each: (-each.milliseconds, -each.launches)))


def _rows(path: Path) -> Iterator[ListedLaunches]:
    with open(path, "rb") as file:
        while len(data := file.read(_ROW.size)) == _ROW.size:
            launches, measured, milliseconds, *numbers, kernel = _ROW.unpack(data)
            if not launches:
                return
            name = kernel.rstrip(b"\0").decode(errors="replace")
            x, y, z, a, b, c, shared, captured = numbers
            yield ListedLaunches(
                kernel=name,
                demangled=demangle(name),
                name=base_name(demangle(name)),
                grid=(x, y, z),
                block=(a, b, c),
                shared_bytes=shared,
                launches=launches,
                measured=measured,
                milliseconds=milliseconds,
                in_graph=bool(captured),
            )
