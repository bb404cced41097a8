"""The contexts of a script: their names, and whether they are alive."""

from __future__ import annotations

from collections.abc import Sequence

from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device


class ScriptContexts:
    """The contexts of a script: their names, and whether they are alive.

    Args:
        driver: A driver whose calls are not traced, because they are not the script's.
        devices: The devices ``dev=0``, ``dev=1``, ….
    """

    def __init__(self, driver: Driver, devices: Sequence[Device]) -> None:
        self.driver = driver
        self.devices = devices
        self._names: dict[int, str] = {}
        self._primary: dict[int, Device] = {}
        self._ended: set[int] = set()
        self._reset: set[int] = set()  # indices of devices

    def add(self, handle: int, name: str, primary_of: Device | None = None) -> None:
        """Record a context that was created or retained; a primary one keeps its first name."""
        self._ended.discard(handle)
        if primary_of is not None:
            self._reset.discard(primary_of.index)
            self._primary[handle] = primary_of
            self._names.setdefault(handle, name)
        else:
            self._names[handle] = name

    def mark_destroyed(self, handle: int) -> None:
        """Record the destruction of a context."""
        self._ended.add(handle)

    def name(self, handle: int) -> str:
        """Return the script's name of a context; a primary one without a name is ``primary``."""
        if handle not in self._names:
            self._find_primary(handle)
        return self._names.get(handle, f"{handle:#x}")

    def mark_reset(self, device: Device) -> None:
        """Record a reset of the primary context, which must be retained before it is pushed."""
        self._reset.add(device.index)

    def can_be_pushed(self, handle: int) -> bool:
        """Return whether a context that was popped can be pushed back."""
        device = self._primary.get(handle)
        return self.is_alive(handle) and (device is None or device.index not in self._reset)

    def is_alive(self, handle: int) -> bool:
        """Return whether a context is usable; the driver reports this for primary ones."""
        device = self._primary.get(handle)
        return handle not in self._ended if device is None else self._is_active(device)

    def alive_handles(self) -> list[int]:
        """The contexts that are alive, in the order of their creation."""
        return [handle for handle in self._names if self.is_alive(handle)]

    def _is_active(self, device: Device) -> bool:
        result, *state = self.driver.attempt("cuDevicePrimaryCtxGetState", device.handle)
        return bool(int(result) == 0 and state[1])

    def _find_primary(self, handle: int) -> None:
        """Find a primary context that was activated by something else than the script."""
        for index, device in enumerate(self.devices):
            if not self._is_active(device):  # then it is another one
                continue
            result, *primary = self.driver.attempt("cuDevicePrimaryCtxRetain", device.handle)
            if int(result) == 0:
                self.driver.attempt("cuDevicePrimaryCtxRelease", device.handle)
                if int(primary[0]) == handle:
                    name = "primary" if len(self.devices) == 1 else f"primary:{index}"
                    self.add(handle, name, device)
