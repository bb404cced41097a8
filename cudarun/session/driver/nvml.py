"""The management library (NVML): reasons for reduced GPU clocks, and serial numbers.

https://docs.nvidia.com/deploy/nvml-api. NVML is called through
ctypes: a single query does not justify a further package.
"""

from __future__ import annotations

import ctypes

_SUCCESS = 0
_REASONS = {
    0x04: "software power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


class Throttling:
    """A recorder of the reasons for throttling.

    Idle clocks and clocks set by a user are not reported: only power and temperature are.

    Args:
        uuid: The device's UUID as nvidia-smi writes it.
    """

    def __init__(self, uuid: str) -> None:
        self._reasons = 0
        self._nvml, self._device = _opened(uuid)

    def sample(self) -> None:
        """Record the current reasons; most appear while the device is busy."""
        if self._nvml is None:
            return
        mask = ctypes.c_ulonglong()
        ask = self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        if ask(self._device, ctypes.byref(mask)) == _SUCCESS:
            self._reasons |= mask.value

    @property
    def reasons(self) -> tuple[str, ...] | None:
        """Return all recorded reasons; ``None`` if they are unavailable."""
        if self._nvml is None:
            return None
        return tuple(words for bit, words in _REASONS.items() if self._reasons & bit)


_SERIAL_BYTES = 30  # NVML_DEVICE_SERIAL_BUFFER_SIZE


def serial_of(uuid: str) -> str | None:
    """Return the serial number of a board; ``None`` where NVML does not report one."""
    nvml, device = _opened(uuid)
    if nvml is None:
        return None
    serial = ctypes.create_string_buffer(_SERIAL_BYTES)
    if nvml.nvmlDeviceGetSerial(device, serial, _SERIAL_BYTES) != _SUCCESS:
        return None
    return serial.value.decode(errors="replace")


def _opened(uuid: str) -> tuple[ctypes.CDLL | None, ctypes.c_void_p]:
    """Return the library and the handle of a device; no library where there is either not."""
    device = ctypes.c_void_p()
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None, device
    if (
        nvml.nvmlInit_v2() != _SUCCESS
        or nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(device)) != _SUCCESS
    ):
        return None, device
    return nvml, device
