"""Device memory between guard zones: poisoned, restored and verified."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.errors import DeviceFailed
from cudarun.session.driver.calls import Driver

if TYPE_CHECKING:
    from cudarun.arguments.dtypes import Array
    from cudarun.session.driver.protocol import Handle

_GUARD = 0x5A  # the contents of guard zones
_SHORT = 1 << 14  # bytes of a buffer up to which both zones are set and read with it, in one call


class DeviceBuffer:
    """Device memory of ``nbytes`` between two guard zones.

    Args:
        driver: The driver; the context that owns the memory must be current.
        name: The name in messages.
        nbytes: The size in bytes; zero is allowed and has a distinct address.
        guard_bytes: The width of each guard zone; by default the driver's.

    Raises:
        DeviceFailed: Out of device memory.
    """

    def __init__(
        self, driver: Driver, name: str, nbytes: int, guard_bytes: int | None = None
    ) -> None:
        self.driver = driver
        self.nbytes = nbytes
        self._guard = driver.traits.guard_bytes if guard_bytes is None else guard_bytes
        try:
            self._start = int(driver.cuMemAlloc(max(1, nbytes + 2 * self._guard)))
        except DeviceFailed as error:
            free, total = driver.cuMemGetInfo()
            error.hint = f"{free} of {total} bytes are free on the device"
            shown = f"buffer '{name}' of {nbytes} bytes"
            raise error.of(argument=name, shown=shown) from None
        self.address = self._start + self._guard
        for start, size in self._zones():
            driver.cuMemsetD8(self.address + start, _GUARD, size)

    def _zones(self) -> list[tuple[int, int]]:
        """Return the guard zones: where they start, from the buffer, and their sizes.

        Those of a short buffer are one, with the buffer between them.
        """
        guard = self._guard
        if guard and self.nbytes <= _SHORT:
            return [(-guard, self.nbytes + 2 * guard)]
        return [(-guard, guard), (self.nbytes, guard)] if guard else []

    def free(self) -> None:
        """Free the memory."""
        self.driver.cuMemFree(self._start)

    def poison(self, item: bytes, stream: Handle = 0) -> None:
        """Fill with an item of the fill pattern, which identifies those that are never written."""
        if not self.nbytes:
            return
        size, driver = len(item), self.driver
        fills = {1: driver.cuMemsetD8Async, 2: driver.cuMemsetD16Async, 4: driver.cuMemsetD32Async}
        width = next((w for w in fills if item == item[:w] * (size // w)), None)
        if width is not None:
            word = int.from_bytes(item[:width], "little")
            fills[width](self.address, word, self.nbytes // width, stream)
        else:  # of structs a run of equal words in all of them at a time
            width = next(w for w in (4, 2, 1) if size % w == 0)
            fill = {
                4: driver.cuMemsetD2D32Async, 2: driver.cuMemsetD2D16Async,
                1: driver.cuMemsetD2D8Async,
            }[width]  # fmt: skip
            place = self.address
            for word, run in groupby(np.frombuffer(item, f"<u{width}").tolist()):
                count = len([*run])
                fill(place, size, word, count, self.nbytes // size, stream)
                place += count * width
        driver.traits.never_written(self.address, self.nbytes)

    def copy_from(self, other: DeviceBuffer, stream: Handle) -> None:
        """Copy the contents of a buffer of the same size, in stream order."""
        if self.nbytes:
            self.driver.cuMemcpyDtoDAsync(self.address, other.address, self.nbytes, stream)

    def store(self, stream: Handle = 0) -> None:
        """Bring the contents to where kernels read them: of plain memory they are there."""

    def load(self) -> None:
        """Bring the contents back from where kernels write them."""

    def content(self) -> Array:
        """Return the bytes."""
        data = np.empty(self.nbytes, np.uint8)
        if self.nbytes:
            self.driver.cuMemcpyDtoH(data.ctypes.data, self.address, self.nbytes)
        return data

    @property
    def knows_unwritten(self) -> bool:
        """True if the driver knows which bytes nothing has written."""
        return self.driver.traits.unwritten_bytes is not None

    def unwritten_bytes(self) -> Array | None:
        """Return marks of the bytes, if the driver knows.

        The mark is 1 for a byte that nothing has written since `poison`, plus 2 if a kernel has
        read it before.
        """
        known = self.driver.traits.unwritten_bytes
        if known is None:
            return None
        return known(self.address, self.nbytes) if self.nbytes else np.zeros(0, np.uint8)

    def guard_damage(self) -> int | None:
        """Return a modified guard byte's offset from the buffer's start; ``None`` when intact."""
        for start, size in self._zones():
            zone = np.empty(size, np.uint8)
            self.driver.cuMemcpyDtoH(zone.ctypes.data, self.address + start, size)
            if size > self._guard:
                zone[self._guard : -self._guard] = _GUARD
            damaged = start + np.flatnonzero(zone != _GUARD)
            if damaged.size:
                # The byte nearest to the buffer best shows how far out of bounds the kernel wrote.
                before = damaged[damaged < 0]
                return int(before[-1] if before.size else damaged[0])
        return None


class FixedMemory(DeviceBuffer):
    """Device memory that exists already, without guard zones: a variable of an image."""

    def __init__(self, driver: Driver, address: int, nbytes: int) -> None:
        self.driver = driver  # the driver; the context that owns the memory must be current
        self.nbytes = nbytes  # the size in bytes
        self.address = self._start = address
        self._guard = 0

    def free(self) -> None:
        """Do nothing: the image has the memory."""
