"""Launches that a thread of the program does not wait for.

The client sends one where an equal one has succeeded, and no call since then can make it fail. So
it is checked once.
"""

from __future__ import annotations

import struct

from cudarun.emulator.host.launches import LaunchGeometry, kernel_operation, prepare
from cudarun.emulator.host.modules import LibraryKernel, LoadedFunction
from cudarun.emulator.host.parameters import PackedParameters
from cudarun.emulator.host.process import process
from cudarun.emulator.host.streams import Stream

_WORDS = struct.Struct("=10Q")
_MOST = 8  # different launches of a thread: those of the client


def layout_of(handle: int) -> tuple[int, tuple[int, tuple[tuple[int, int], ...], int]]:
    """Return the result of a request, and for a kernel or function its layout as `kernel_of` does.

    A handle of neither is an error of the launch.
    """
    found = process.handles.find(handle, LibraryKernel) or process.handles.get(
        handle, LoadedFunction
    )
    return 0, (handle, found.code.parameters, found.code.parameter_bytes)


class PostedLaunches:
    """Those of a thread of the program."""

    def __init__(self) -> None:
        # By their words, the last of which changes when a call can make one fail.
        self._prepared: dict[bytes, tuple[Stream, LoadedFunction, LaunchGeometry]] = {}

    def submit(self, message: bytes) -> None:
        """Submit a launch, in the driver's lock; `Refusal` if it has become invalid after all."""
        words = message[: _WORDS.size]
        if words not in self._prepared:
            if len(self._prepared) == _MOST:
                self._prepared.clear()
            kernel, x, y, z, bx, by, bz, shared, stream, _ = _WORDS.unpack(words)
            geometry = LaunchGeometry((x, y, z), (bx, by, bz), shared)
            self._prepared[words] = *prepare(process, kernel, geometry, stream), geometry
        target, function, geometry = self._prepared[words]
        parameters = PackedParameters(message[_WORDS.size :])
        process.submit(target, kernel_operation(process, function, geometry, parameters, None))
