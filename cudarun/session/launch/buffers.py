"""The buffers of one launch: allocated, initialized, restored, copied back and verified."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.contents import ArrayContents, Contents, RepeatedContents
from cudarun.arguments.dtypes import Array
from cudarun.arguments.initializers import contents, in_memory, seeded
from cudarun.arguments.packing import ArraySpec, BufferSpec, Handles, write_addresses
from cudarun.base.errors import DeviceFailed, errors_of
from cudarun.model.launch import BufferResult
from cudarun.session.driver.devices import Device
from cudarun.session.driver.fill_pattern import fill_pattern, unwritten_items
from cudarun.session.driver.memory import DeviceBuffer, FixedMemory
from cudarun.session.driver.transfers import LARGE, ChunkSink, ProgressCallback, Transfers
from cudarun.session.launch.arrays import LaunchArrays
from cudarun.session.launch.initialization import BufferInitializer
from cudarun.session.launch.recorded.fixed_addresses import allocate_at
from cudarun.session.launch.recorded.memory import (
    RecordedInitial,
    RecordedMemoryContents,
    memory_ranges,
    moved_variables,
)
from cudarun.session.launch.recorded.objects import create_objects
from cudarun.session.launch.variables import ImageVariable
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cudarun.session.driver.protocol import Handle


class Buffers:
    """All device buffers of a launch, in the order of its arguments, and variables of its image.

    Args:
        session: The session; the context that owns the buffers must be current.
        specs: The buffers to allocate, and the variables to read, with their addresses.
        written: The variables that are written with the buffers, with their addresses.
        writable: The names of the arrays that kernels can write.
        bare: Run only the launch's kernel on the device: without guard zones, kernels of cudarun,
            poison pattern and verification.
    """

    def __init__(
        self,
        session: Session,
        device: Device,
        specs: Sequence[BufferSpec],
        written: Sequence[ImageVariable] = (),
        writable: Collection[str] = (),
        *,
        bare: bool,
    ) -> None:
        self._session = session
        self._specs = {spec.name: spec for spec in specs}
        self._written = written
        # The recorded variables at other addresses than the recorded ones.
        self.moved = moved_variables(written)
        self._bare = bare
        self._never_written: dict[str, int] = {}
        self._copies: dict[str, tuple[Array, range]] = {}  # with the rows that were copied
        self.arrays = LaunchArrays(session, writable)
        recorded = memory_ranges(specs)
        if recorded:
            allocate_at(session, device, recorded)
        self._buffers = {name: self._memory(spec) for name, spec in self._specs.items()}
        create_objects(session, specs, self.arrays.handle)
        self._transfers = Transfers(session.driver)
        session.add_release(self._transfers.free)
        with_kernels = session.driver.traits.quick_kernels and not bare
        self._filler = BufferInitializer(session, self._transfers, with_kernels=with_kernels)

    @property
    def specs(self) -> tuple[BufferSpec, ...]:
        """The buffers, and the variables to read."""
        return tuple(self._specs.values())

    @property
    def addresses(self) -> dict[str, int]:
        """The device addresses by name."""
        return {name: buffer.address for name, buffer in self._buffers.items()}

    def exchange(self, first: str, second: str) -> None:
        """Exchange the memory of two buffers of the same type and shape.

        What is known about the contents goes with it: whether they were initialized.
        """
        one, other = self._specs[first], self._specs[second]
        self._specs[first] = replace(one, initial=other.initial, pointers=other.pointers)
        self._specs[second] = replace(other, initial=one.initial, pointers=one.pointers)
        memory = self._buffers
        memory[first], memory[second] = memory[second], memory[first]

    def staged(
        self,
        variables: Sequence[ImageVariable],
        seed: int,
        addresses: Mapping[str, int],
        handles: Handles,
    ) -> tuple[tuple[FixedMemory, DeviceBuffer], ...]:
        """Return variables with buffers that contain their values, to copy within the device.

        Args:
            addresses: The address behind the name of each buffer.
        """
        staged = []
        for variable in variables:
            value = self._allocate(variable.name, variable.nbytes)
            self._write(variable, value.address, seed, addresses, {variable.name: handles})
            memory = FixedMemory(self._session.driver, variable.address, variable.nbytes)
            staged.append((memory, value))
        return tuple(staged)

    def fill(
        self, seed: int, keep: Collection[str], handles: Mapping[str, Handles]
    ) -> dict[str, Array]:
        """Initialize every buffer, and write variables; return the arrays of those in ``keep``.

        Args:
            handles: Device addresses in variables of the image, and handles of objects, by the
                buffer that contains them.
        """
        kept: dict[str, Array] = {}
        for variable in self._written:
            self._write(variable, variable.address, seed, self.addresses, handles)
        for name, spec in self._specs.items():
            buffer, array = self._buffers[name], None
            if isinstance(spec, ImageVariable):
                pass  # the image initializes it, or the loop above
            elif spec.initial is not None:
                keeps, address = name in keep, buffer.address
                array = self._write(spec, address, seed, self.addresses, handles, keep=keeps)
                buffer.store()
            else:
                if not self._bare:
                    buffer.poison(fill_pattern(spec.dtype()))
                    buffer.store()
                continue
            if name in keep:
                kept[name] = self.array(name) if array is None else array
        return kept

    def _write(
        self,
        spec: BufferSpec,
        address: int,
        seed: int,
        addresses: Mapping[str, int],
        handles: Mapping[str, Handles],
        *,
        keep: bool = False,
    ) -> Array | None:
        """Write the initial contents of a buffer or a variable; return those to keep.

        Recorded contents are not kept: they are as large as memory.
        """
        doing, array = f"filling {spec.name}", None
        self._session.progress.report(doing)
        with in_memory(f"{spec.name}, {spec},"):
            assert spec.initial is not None, "a variable is written with a value"
            if isinstance(spec.initial, RecordedInitial):
                data: Contents = RecordedMemoryContents(spec.initial, self.moved)
                keep = False
            else:
                chance = seeded(seed, spec.seed_name)
                data = contents(spec.initial, spec.type, spec.shape, chance)
            if spec.pointers:
                raw = bytearray(data.array().tobytes())
                write_addresses(raw, spec.pointers, addresses, handles[spec.name])
                data = ArrayContents(np.frombuffer(raw, spec.dtype()))
            if keep:
                check_free_memory(spec.nbytes)
                flat = data.array()
                array = flat.reshape(spec.array_shape)
                data = data if isinstance(data, RepeatedContents) else ArrayContents(flat)
            self._filler.fill(address, data, self._progress(doing))
        return array

    def copy_inputs(self) -> dict[str, DeviceBuffer]:
        """Return copies of all that is initialized, within the device, by name."""
        copies: dict[str, DeviceBuffer] = {}
        with errors_of(DeviceFailed, operation="a second copy of every input, to restore it"):
            for name, spec in self._specs.items():
                if not spec.is_unwritten_at_first:
                    copies[name] = self._allocate(name, self._buffers[name].nbytes)
                    copies[name].copy_from(self._buffers[name], 0)
        return copies

    def restore(self, originals: Mapping[str, DeviceBuffer], stream: Handle) -> None:
        """Write copies of `copy_inputs` to their buffers, in stream order; poison the others."""
        for name, buffer in self._buffers.items():
            if name in originals:
                buffer.copy_from(originals[name], stream)
            else:
                buffer.poison(fill_pattern(self._specs[name].dtype()), stream)
            buffer.store(stream)

    # --- after the run, or after a step ----------------------------------------------------------

    def forget_copies(self) -> None:
        """Forget what was copied and counted, because a further step may write the buffers."""
        self._copies.clear()
        self._never_written.clear()

    def array(self, name: str) -> Array:
        """Return a copy of a buffer in host memory."""
        whole = self._empty(name, self._specs[name].nbytes)
        self.deliver(name, into=whole.reshape(-1))
        self._copies[name] = whole, range(len(whole) if whole.ndim else 1)
        return whole

    def rows(self, name: str, rows: range) -> Array:
        """Return an array of a buffer's shape in which only some rows are copied.

        The other rows are undefined and take no memory, because they are not used.
        """
        self._buffers[name].load()
        row_bytes = self._specs[name].nbytes // max(self._specs[name].array_shape[0], 1)
        whole = self._empty(name, len(rows) * row_bytes)
        part = whole[rows.start : rows.stop].reshape(-1)
        self._transfers.download(
            self._buffers[name].address + rows.start * row_bytes, part.dtype, part.size, into=part
        )
        self._copies[name] = whole, rows
        return whole

    def unwritten(self, name: str) -> Array | None:
        """Return which items of a copied buffer were never written; ``None`` if all have a value.

        Rows that were not copied count as written.
        """
        if name not in self._copies or self._bare or not self._specs[name].is_unwritten_at_first:
            return None
        whole, rows = self._copies[name]
        exact = self._marked(name, 1)
        if exact is not None:
            return exact.reshape(whole.shape)
        mask = np.zeros(whole.shape, np.bool_)
        part = whole[rows.start : rows.stop]
        mask[rows.start : rows.stop] = unwritten_items(part.reshape(-1)).reshape(part.shape)
        return mask

    def _marked(self, name: str, mark: int) -> Array | None:
        """Return which items have a mark of `DeviceBuffer`, as a flat array, if that is known."""
        found = self._buffers[name].unwritten_bytes()
        if found is None:
            return None
        by_item = found.reshape(-1, self._specs[name].dtype().itemsize)
        items: Array = (by_item & mark).min(axis=1).astype(np.bool_)
        return items

    def _empty(self, name: str, nbytes: int) -> Array:
        """Allocate an array for a copy of a buffer, of which ``nbytes`` will be written."""
        spec = self._specs[name]
        with in_memory(f"a copy of {name}, {spec},"):
            check_free_memory(nbytes)
            return np.empty(spec.array_shape, spec.dtype())

    def deliver(self, name: str, *takes: ChunkSink, into: Array | None = None) -> None:
        """Copy a buffer from the device in chunks.

        Args:
            takes: Functions that each receive all chunks.
            into: A flat array for the whole buffer.
        """
        spec = self._specs[name]
        self._buffers[name].load()
        progress = self._progress(f"copying {name} from the device")
        count = math.prod(spec.array_shape)
        found: list[np.intp] = []  # the items of each chunk that still have the poison pattern
        counts = self._counts(name) and not self._buffers[name].knows_unwritten
        if counts:
            takes = *takes, lambda part, _: found.append(np.count_nonzero(unwritten_items(part)))
        self._transfers.download(
            self._buffers[name].address, spec.dtype(), count, takes, into=into, progress=progress
        )
        if counts:
            self._never_written[name] = int(sum(found))

    def verified(self, *, digests: bool = False) -> tuple[BufferResult, ...]:
        """Return the state of each buffer: its guard zones, and the number of unwritten items."""
        if self._bare:
            return ()
        for name in self._specs:
            if self._counts(name):
                exact = self._marked(name, 1)
                if exact is None:
                    self.deliver(name)
                else:
                    self._never_written[name] = int(np.count_nonzero(exact))
        unset = (name for name, spec in self._specs.items() if spec.is_unwritten_at_first)
        # Whether a kernel is known to have read an item before anything wrote it.
        early = {name: bool(np.any(self._marked(name, 2))) for name in unset}
        return tuple(
            BufferResult(
                name=name,
                type=str(spec.type),
                shape=spec.shape,
                nbytes=spec.nbytes,
                never_written=self._elements(name, self._never_written.get(name)),
                guard_damage=self._buffers[name].guard_damage(),
                read_unwritten=early.get(name, False),
                digest=self._digest(name) if digests else None,
            )
            for name, spec in self._specs.items()
            if not isinstance(spec, ImageVariable)
        )

    def _digest(self, name: str) -> str:
        from cudarun.session.launch.digests import BufferDigest  # few launches need one

        digest = BufferDigest(self._specs[name])
        self.deliver(name, digest)
        return digest.text()

    def _elements(self, name: str, items: int | None) -> int | None:
        """Return the number of elements of a number of items: a ``float4`` has four."""
        if not items:
            return items
        spec = self._specs[name]
        return -(-items * math.prod(spec.shape) // math.prod(spec.array_shape))

    def _counts(self, name: str) -> bool:
        """Return whether a buffer's unwritten items must still be counted."""
        without = self._specs[name].is_unwritten_at_first
        return without and not self._bare and name not in self._never_written

    def _progress(self, what: str) -> ProgressCallback:
        return lambda done: self._session.progress.report(what, done)

    def memory(self, name: str) -> DeviceBuffer:
        """Return the memory of a buffer."""
        return self._buffers[name]

    def _memory(self, spec: BufferSpec) -> DeviceBuffer:
        if isinstance(spec, ArraySpec):
            return self.arrays.memory(spec)
        if isinstance(spec, ImageVariable):
            return FixedMemory(self._session.driver, spec.address, spec.nbytes)
        if isinstance(spec.initial, RecordedInitial):
            return FixedMemory(self._session.driver, spec.initial.range.address, spec.nbytes)
        return self._allocate(spec.name, spec.nbytes)

    def _allocate(self, name: str, nbytes: int) -> DeviceBuffer:
        guard_bytes = 0 if self._bare else None
        buffer = DeviceBuffer(self._session.driver, name, nbytes, guard_bytes)
        self._session.add_release(buffer.free)
        return buffer


def check_free_memory(nbytes: int) -> None:
    """Refuse a large array for which the machine has no free memory.

    Linux would allocate it anyway, and kill the process when the memory is used.

    Raises:
        MemoryError: There is not enough free memory.
    """
    if nbytes < LARGE:
        return
    with open("/proc/meminfo") as lines:
        found = next((line for line in lines if line.startswith("MemAvailable:")), None)
    if found is not None and (free := int(found.split()[1]) << 10) < nbytes:
        raise MemoryError(f"{nbytes} bytes are required, {free} are free")
