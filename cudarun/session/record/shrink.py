"""``record --shrink``: a recording with only the memory that its launch accesses.

The launch is replayed once on the emulated device, which sees every access; or often on a GPU.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.arguments.types import NAMED, SCALARS
from cudarun.base.errors import DeviceFailed, RequestError
from cudarun.base.files import OutputFile, whole_file
from cudarun.session.driver.calls import is_fault
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.launch.parent import KernelJob, prefetch
from cudarun.session.record.conversion import recorded_file
from cudarun.session.record.parts import AccessedPart, ObservedReplay, write_parts
from cudarun.session.recording.archive import read_recording
from cudarun.session.recording.manifest import Manifest, RecordedRange, is_of_object
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.pool import WorkerPool

if TYPE_CHECKING:
    from cudarun.model.record import RecordedFile
    from cudarun.session.driver.devices import Device
    from cudarun.session.driver.drivers import TouchedMemory
    from cudarun.session.launch.request import Program
    from cudarun.session.launch.steps import Libraries
    from cudarun.session.workers.progress import ProgressDisplay

_GAP = 32  # bytes between accesses that do not separate ranges, at first
_MOST_RANGES = 256


class ObservedJob(KernelJob[ObservedReplay]):
    """A replay that notes accesses."""

    def _launch(self, libraries: Libraries, device: Device) -> ObservedReplay:
        from cudarun.session.launch.worker import run_on

        touched = self.session.driver.traits.touched
        recording = self.program.last.image.recording
        assert touched is not None, "the emulated device notes accesses"
        assert recording is not None, "only recordings are shrunk"
        kernel = libraries[0].kernel(self.program.last.kernel)
        with touched() as memory:
            try:
                run_on(self.session, libraries, self.program, device)
            except DeviceFailed as failed:
                if not is_fault(failed) or recording.manifest.status == 0:
                    raise  # the launch was refused, or faults where it did not
        gap, parts = _GAP, list[AccessedPart]()
        while True:
            parts = [
                part
                for each in recording.manifest.memory
                for part in _parts(each, recording.manifest, memory, gap)
            ]
            if len(parts) <= _MOST_RANGES:
                return ObservedReplay(tuple(parts), kernel.parameters)
            gap *= 4


def _parts(
    each: RecordedRange, manifest: Manifest, memory: TouchedMemory, gap: int
) -> Iterator[AccessedPart]:
    """Yield the accessed parts of a range; one that a texture object shows is kept whole."""
    if is_of_object(each, manifest):
        yield AccessedPart(each.name, 0, each.size, each.type)
        return
    for part in memory.parts(each.address, gap):
        # Bytes where accesses have several types, or one that does not divide the part.
        scalar = NAMED.get(str(part.dtype), SCALARS["u8"])
        name = str(scalar) if part.size % scalar.size == 0 else "u8"
        yield AccessedPart(each.name, part.offset, part.size, name)


def shrink(
    request: Program, output: OutputFile, where: Target, display: ProgressDisplay | None = None
) -> RecordedFile:
    """Write a recording with only the accessed memory.

    Args:
        where: The device, and the time limit of a replay. Without a device, it is the emulated one
            for PTX, and else the first GPU.
    """
    recording = request.last.image.recording
    assert recording is not None, "only recordings are shrunk"
    chosen = where.devices or parse_devices("0" if recording.ptx is None else "cpu")
    where = replace(where, devices=chosen)
    if any(each.driver == "cuda" for each in chosen):
        from cudarun.session.record.bisection import bisect  # most recordings have PTX

        with tempfile.TemporaryDirectory(prefix="cudarun-") as folder:
            path = bisect(request, where, Path(folder), display)
            manifest = read_recording(os.fspath(path), request.last.image.limit).manifest
            with whole_file(output) as file, open(path, "rb") as shrunk:
                shutil.copyfileobj(shrunk, file)
    else:
        if recording.ptx is None:
            raise RequestError(
                "the recording has no PTX, so the emulated device cannot observe its accesses",
                hint="select a GPU: -d 0",
                origin=request.last.image.origin,
            )
        with WorkerPool() as pool:
            workers = DeviceWorkers(pool, where, prefetch, display)
            [answer] = workers.run(ObservedJob(request), last=True)
        observed = answer.unwrap()
        with whole_file(output) as file:
            manifest = write_parts(recording, observed, file)
    return recorded_file(output.path, manifest, has_ptx=recording.ptx is not None)
