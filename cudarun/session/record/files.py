"""The report of a recording that was written."""

from __future__ import annotations

import os

from cudarun.images.demangler import demangle
from cudarun.model.record import RecordedFile
from cudarun.session.recording.manifest import Manifest


def recorded_file(path: str, manifest: Manifest, *, has_ptx: bool) -> RecordedFile:
    """Return the facts of a recording."""
    return RecordedFile(
        path=path,
        kernel=manifest.kernel,
        demangled=demangle(manifest.kernel),
        ordinal=manifest.origin.ordinal,
        grid=manifest.grid,
        block=manifest.block,
        ranges=len(manifest.memory),
        memory_bytes=manifest.memory_bytes,
        file_bytes=os.path.getsize(path),
        has_ptx=has_ptx,
        status=manifest.status,
    )
