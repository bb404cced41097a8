"""``record --shrink``: a recording with only the memory that its launch accesses.

The launch is replayed once on the emulated device, which sees every access.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cudarun.errors import CudarunError, DeviceFailed, RequestError
from cudarun.parameters import Parameter
from cudarun.records import dataclass
from cudarun.session.driver.selection import parse_devices
from cudarun.session.driver.target import Target
from cudarun.session.launch.parent import KernelJob, prefetch
from cudarun.session.launch.recorded import recorded_values
from cudarun.session.record.files import recorded_file
from cudarun.session.recording.archive import Recording, RecordingWriter
from cudarun.session.recording.manifest import Manifest, MemoryPiece, RecordedRange
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.pool import WorkerPool
from cudarun.writing import OutputFile, whole_file

if TYPE_CHECKING:
    from cudarun.report.record_types import RecordedFile
    from cudarun.session.driver.devices import Device
    from cudarun.session.launch.request import LaunchRequest
    from cudarun.session.launch.steps import Libraries

_GAP = 32  # bytes between accesses that do not separate ranges, at first
_MOST_RANGES = 256
_TYPES = {
    "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip


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


class ObservedJob(KernelJob[ObservedReplay]):
    """A replay that notes accesses."""

    def _launch(self, libraries: Libraries, device: Device) -> ObservedReplay:
        from cudarun.session.launch.worker import run_on

        touched = self.session.driver.traits.touched
        recording = self.request.image.recording
        assert touched is not None, "the emulated device notes accesses"
        assert recording is not None, "only recordings are shrunk"
        error = None
        kernel = libraries[0].kernel(self.request.kernel)
        with touched() as memory:
            try:
                run_on(self.session, libraries, self.request, device)
            except DeviceFailed as failed:
                error = failed
        gap, parts = _GAP, list[AccessedPart]()
        while True:
            parts = [
                AccessedPart(each.name, part.offset, part.size, _type(part.dtype, part.size))
                for each in recording.manifest.memory
                for part in memory.parts(each.address, gap)
            ]
            if len(parts) <= _MOST_RANGES:
                return ObservedReplay(tuple(parts), kernel.parameters, error)
            gap *= 4


def _type(dtype: object, size: int) -> str:
    """Return the type of a part; bytes where accesses differ or do not divide it."""
    name = _TYPES.get(str(dtype), "u8")
    width = int("".join(filter(str.isdigit, name))) // 8
    return name if size % width == 0 else "u8"


def shrink(request: LaunchRequest, output: OutputFile, timeout: float | None) -> RecordedFile:
    """Write a recording with only the accessed memory.

    Args:
        request: The launch of the recording.
        output: The file to write.
        timeout: The time limit of the replay in seconds.

    Raises:
        RequestError: The recording has no PTX.
        CudarunError: The replay failed in another way than a fault.
    """
    recording = request.image.recording
    assert recording is not None, "only recordings are shrunk"
    if recording.ptx is None:
        raise RequestError(
            "the recording has no PTX, so the emulated device cannot observe its accesses",
            origin=request.image.origin,
        )
    target = Target(devices=parse_devices("cpu"), timeout=timeout, capture=True)
    with WorkerPool() as pool:
        workers = DeviceWorkers(pool, target, prefetch)
        [answer] = workers.run(ObservedJob(request), last=True)
    observed = answer.unwrap()
    with whole_file(output) as file:
        writer = RecordingWriter(file)
        ranges = tuple(_shrunk(recording, observed, writer))
        manifest = replace(recording.manifest, ranges=ranges, shrunk=True)
        writer.finish(manifest, recording.image, recording.ptx)
    return recorded_file(output.path, manifest, has_ptx=True)


def _shrunk(
    recording: Recording, observed: ObservedReplay, writer: RecordingWriter
) -> Iterator[RecordedRange]:
    """Yield the accessed parts as ranges, then the variables."""
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
                before=_cut(contents.part(whole.before, part.offset, end), writer, zeros=False),
                after=_changes(contents.changes(whole, part.offset, end), writer),
                type=part.type,
            )
        for variable in manifest.variables:
            yield replace(
                variable,
                before=_cut(contents.part(variable.before, 0, variable.size), writer, zeros=False),
                after=_changes(contents.changes(variable, 0, variable.size), writer),
            )


def _cut(data: bytes, writer: RecordingWriter, *, zeros: bool) -> tuple[MemoryPiece, ...]:
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
