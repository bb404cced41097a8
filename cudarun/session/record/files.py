"""The report of a recording that was written."""

from __future__ import annotations

import os

from cudarun.base.records import derived
from cudarun.images.demangler import demangle
from cudarun.model.record import RecordedFile
from cudarun.session.recording.manifest import Manifest


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
