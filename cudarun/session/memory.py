"""Device memory between guard zones: filled or poisoned, copied, verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.errors import DeviceFailed
from cudarun.session.calls import Driver

POISON = 0xA5  # what memory that nobody initialised holds
_GUARD = 0x5A  # what the guard zones hold
_CHUNK = 256 << 20  # bytes copied at a time, so that there is something to tell

Told = Callable[[float], object]
"""Is called with the part of a copy that is done, from 0 to 1."""


class DeviceBuffer:
    """Device memory of ``nbytes`` between two guard zones.

    Args:
        driver: The driver; the context that is to own the memory must be current.
        name: What messages call it.
        nbytes: Size; zero is allowed and still has an address of its own.
        guard_bytes: How wide each guard zone is; by default as the driver needs it.

    Raises:
        DeviceFailed: Out of device memory.
    """

    def __init__(
        self, driver: Driver, name: str, nbytes: int, guard_bytes: int | None = None
    ) -> None:
        self.driver = driver
        self.nbytes = nbytes
        self._guard = driver.guard_bytes if guard_bytes is None else guard_bytes
        try:
            self._start = int(driver.cuMemAlloc(max(1, nbytes + 2 * self._guard)))
        except DeviceFailed as error:
            free, total = driver.cuMemGetInfo()
            error.hint = f"the device has {free} of {total} bytes free"
            error.message = f"buffer '{name}' of {nbytes} bytes: {error.message}"
            raise
        self.address = self._start + self._guard
        if self._guard:
            driver.cuMemsetD8(self._start, _GUARD, self._guard)
            driver.cuMemsetD8(self.address + nbytes, _GUARD, self._guard)

    def free(self) -> None:
        """Give the memory back."""
        self.driver.cuMemFree(self._start)

    def poison(self, stream: Any = 0) -> None:
        """Fill with a pattern that shows which elements were never written."""
        if self.nbytes:
            self.driver.cuMemsetD8Async(self.address, POISON, self.nbytes, stream)

    def copy_from(self, other: DeviceBuffer, stream: Any) -> None:
        """Take the contents of a buffer of the same size, in the order of a stream."""
        if self.nbytes:
            self.driver.cuMemcpyDtoDAsync(self.address, other.address, self.nbytes, stream)

    def upload(self, data: npt.NDArray[Any], told: Told = lambda done: None) -> None:
        """Copy a C-contiguous array of exactly ``nbytes`` to the device."""
        for start, size in self._chunks(told):
            self.driver.cuMemcpyHtoD(self.address + start, data.ctypes.data + start, size)

    def download(
        self, dtype: np.dtype[Any], shape: tuple[int, ...], told: Told = lambda done: None
    ) -> npt.NDArray[Any]:
        """Copy the buffer into a new host array."""
        data = np.empty(shape, dtype)
        for start, size in self._chunks(told):
            self.driver.cuMemcpyDtoH(data.ctypes.data + start, self.address + start, size)
        return data

    def _chunks(self, told: Told) -> Iterator[tuple[int, int]]:
        """Where each part of a copy begins, and its size."""
        for start in range(0, self.nbytes, _CHUNK):
            told(start / self.nbytes)
            yield start, min(_CHUNK, self.nbytes - start)

    def guard_damage(self) -> int | None:
        """Where a guard zone was written: bytes from the buffer's start; ``None`` when intact."""
        guard = self._guard
        zone = np.empty(guard, np.uint8)
        for start in (-guard, self.nbytes) if guard else ():
            self.driver.cuMemcpyDtoH(zone.ctypes.data, self.address + start, guard)
            damaged = np.flatnonzero(zone != _GUARD)
            if damaged.size:
                # The byte nearest to the buffer tells most about how far the kernel strayed.
                return start + int(damaged[-1] if start < 0 else damaged[0])
        return None


def never_written(data: npt.NDArray[Any]) -> int:
    """How many elements still hold the poison pattern in every byte."""
    if not data.size:
        return 0
    rows = data.reshape(-1).view(np.uint8).reshape(data.size, data.itemsize)
    return int(np.count_nonzero((rows == POISON).all(axis=1)))
