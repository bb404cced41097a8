"""``cudarun`` on a machine whose device ``cpu:2`` silently corrupts what the host reads from it.

The lowest bit of the first byte of every copy from that device is wrong, which no check with a
tolerance notices.
"""

from __future__ import annotations

import sys
from typing import Any

from cudarun.__main__ import main
from cudarun.emulator.api import copies
from cudarun.emulator.host.process import process

SICK = 2

_device_bytes = copies.device_bytes


def _corrupted(pointer: Any, size: int, *, to_write: bool = False) -> Any:
    data = _device_bytes(pointer, size, to_write=to_write)
    buffer = process.allocations.find(int(pointer))
    if to_write or buffer is None or buffer.context.device.ordinal != SICK or not size:
        return data
    wrong = data.copy()
    wrong[0] ^= 1
    return wrong


if __name__ == "__main__":
    copies.MEMORY["device"] = _corrupted
    sys.exit(main())
