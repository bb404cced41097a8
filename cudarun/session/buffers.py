"""The buffers of one launch: allocated, filled, restored between runs, copied back, verified."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from cudarun.arguments.initializers import fill, seeded
from cudarun.arguments.packing import BufferSpec
from cudarun.errors import DeviceFailed
from cudarun.report.types import BufferResult
from cudarun.session.memory import DeviceBuffer, Told, never_written
from cudarun.session.session import Session

Values = dict[str, Any]


class Buffers:
    """All device buffers of a launch, in the order of its arguments.

    Args:
        session: The session, with the context that is to own them current.
        specs: What to allocate.
        guarded: Whether to surround them with guard zones.

    Raises:
        DeviceFailed: Out of device memory.
    """

    def __init__(self, session: Session, specs: Sequence[BufferSpec], *, guarded: bool) -> None:
        self._session = session
        self._specs = {spec.name: spec for spec in specs}
        self._guard_bytes = None if guarded else 0
        self._originals: dict[str, DeviceBuffer] = {}
        self._buffers = {spec.name: self._allocate(spec.name, spec.nbytes) for spec in specs}

    @property
    def addresses(self) -> dict[str, int]:
        """Device addresses by name."""
        return {name: buffer.address for name, buffer in self._buffers.items()}

    @property
    def uninitialised(self) -> set[str]:
        """The names of those without an initialiser."""
        return {spec.name for spec in self._specs.values() if spec.initial is None}

    def fill(self, seed: int, keep: Collection[str]) -> Values:
        """Initialise every buffer; return the arrays of those named in ``keep``.

        Raises:
            RequestError: An initialiser does not fit its buffer.
        """
        kept: Values = {}
        for name, spec in self._specs.items():
            buffer = self._buffers[name]
            if spec.initial is None:
                buffer.poison()
                continue
            self._session.progress.say(f"filling {name}")
            data = fill(spec.initial, spec.type, spec.shape, seeded(seed, name))
            buffer.upload(data, self._telling(f"copying {name} to the device"))
            if name in keep:
                kept[name] = data
        return kept

    def keep_originals(self) -> None:
        """Copy every initialised buffer within the device, so that `restore` is quick.

        Raises:
            DeviceFailed: There is no memory for a second copy of each.
        """
        try:
            for name in self._specs.keys() - self.uninitialised:
                original = self._allocate(name, self._buffers[name].nbytes)
                original.copy_from(self._buffers[name], 0)
                self._originals[name] = original
        except DeviceFailed as error:
            error.message = f"a second copy of every input, to restore it: {error.message}"
            raise

    def restore(self, stream: Any) -> None:
        """Bring every buffer to what it was before the first run, in the order of a stream."""
        for name, buffer in self._buffers.items():
            if name in self._originals:
                buffer.copy_from(self._originals[name], stream)
            else:
                buffer.poison(stream)

    def download(self, names: Collection[str] | None = None) -> Values:
        """Host arrays of the buffers named, or of all."""
        arrays: Values = {}
        for name, spec in self._specs.items():
            if names is None or name in names:
                told = self._telling(f"copying {name} from the device")
                buffer = self._buffers[name]
                arrays[name] = buffer.download(spec.dtype(), spec.array_shape, told)
        return arrays

    def verified(self, after: Values) -> tuple[BufferResult, ...]:
        """What became of each: its guard zones, and what was never written.

        Args:
            after: The arrays after the run, at least those of the `uninitialised`.
        """
        return tuple(
            BufferResult(
                name=name,
                type=str(spec.type),
                shape=spec.shape,
                nbytes=spec.nbytes,
                never_written=never_written(after[name]) if name in self.uninitialised else None,
                guard_damage=self._buffers[name].guard_damage(),
            )
            for name, spec in self._specs.items()
        )

    def _telling(self, what: str) -> Told:
        return lambda done: self._session.progress.say(what, done)

    def _allocate(self, name: str, nbytes: int) -> DeviceBuffer:
        buffer = DeviceBuffer(self._session.driver, name, nbytes, self._guard_bytes)
        self._session.owns(buffer.free)
        return buffer
