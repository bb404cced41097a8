"""What holds a GPU's clocks down, where the driver's management library (NVML) tells.

https://docs.nvidia.com/deploy/nvml-api, group nvmlClocksEventReasons. It is called through ctypes:
one question, for which no further package is worth its place.
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
    """Notes why a device runs slower than it could, whenever it is asked to look.

    Idle clocks and clocks that somebody has set are no reasons: only power and heat are.

    Args:
        uuid: The device's, as nvidia-smi writes it.
    """

    def __init__(self, uuid: str) -> None:
        self._seen = 0
        self._device = ctypes.c_void_p()
        self._nvml = _open()
        if self._nvml is not None:
            found = self._nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self._device))
            if found != _SUCCESS:
                self._nvml = None

    def look(self) -> None:
        """Note the reasons of this moment; most is told while the device is busy."""
        if self._nvml is None:
            return
        mask = ctypes.c_ulonglong()
        ask = self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        if ask(self._device, ctypes.byref(mask)) == _SUCCESS:
            self._seen |= mask.value

    @property
    def reasons(self) -> tuple[str, ...] | None:
        """All that were seen; ``None`` where nobody tells."""
        if self._nvml is None:
            return None
        return tuple(words for bit, words in _REASONS.items() if self._seen & bit)


def _open() -> ctypes.CDLL | None:
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return nvml if nvml.nvmlInit_v2() == _SUCCESS else None
