"""The contexts that a script has met: what they are called, and which of them are alive."""

from __future__ import annotations

from collections.abc import Sequence

from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device


class ScriptContexts:
    """The contexts that a script has met: what they are called and which are alive.

    Args:
        driver: A driver whose calls nobody traces: they are not the script's.
        devices: What ``dev=0``, ``dev=1``, … are.
    """

    def __init__(self, driver: Driver, devices: Sequence[Device]) -> None:
        self.driver = driver
        self.devices = devices
        self._names: dict[int, str] = {}
        self._primary: dict[int, Device] = {}
        self._ended: set[int] = set()
        self._shaken: set[int] = set()  # indices of devices

    def met(self, handle: int, name: str, primary_of: Device | None = None) -> None:
        """A context was made or retained; a primary one keeps the first name it was given."""
        self._ended.discard(handle)
        if primary_of is not None:
            self._shaken.discard(primary_of.index)
            self._primary[handle] = primary_of
            self._names.setdefault(handle, name)
        else:
            self._names[handle] = name

    def ended(self, handle: int) -> None:
        """A context was destroyed."""
        self._ended.add(handle)

    def name(self, handle: int) -> str:
        """What the script calls a context; the primary one that it never named is ``primary``."""
        if handle not in self._names:
            self._find_primary(handle)
        return self._names.get(handle, f"{handle:#x}")

    def shaken(self, device: Device) -> None:
        """The primary context was reset: until it is retained again it may not be pushed."""
        self._shaken.add(device.index)

    def can_be_pushed(self, handle: int) -> bool:
        """Whether a context that was popped could be put back."""
        device = self._primary.get(handle)
        return self.alive(handle) and (device is None or device.index not in self._shaken)

    def alive(self, handle: int) -> bool:
        """Whether a context can still be used, as the driver tells of primary ones."""
        device = self._primary.get(handle)
        return handle not in self._ended if device is None else self._is_active(device)

    def living(self) -> list[int]:
        """The contexts that are alive, in the order in which they were met."""
        return [handle for handle in self._names if self.alive(handle)]

    def _is_active(self, device: Device) -> bool:
        result, *state = self.driver.attempt("cuDevicePrimaryCtxGetState", device.handle)
        return bool(int(result) == 0 and state[1])

    def _find_primary(self, handle: int) -> None:
        """Recognise a primary context that something else than the script made active."""
        for index, device in enumerate(self.devices):
            if not self._is_active(device):  # then it is not this one, and must not be made so
                continue
            result, *primary = self.driver.attempt("cuDevicePrimaryCtxRetain", device.handle)
            if int(result) == 0:
                self.driver.attempt("cuDevicePrimaryCtxRelease", device.handle)
                if int(primary[0]) == handle:
                    name = "primary" if len(self.devices) == 1 else f"primary:{index}"
                    self.met(handle, name, device)
