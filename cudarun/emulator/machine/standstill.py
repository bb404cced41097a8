"""Launches that never end because blocks wait for others that do not fit on the device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.report import describe_full_device
from cudarun.emulator.machine.special_registers import ReadMoment
from cudarun.emulator.numerics.arrays import Array

_MOST_BYTES = 64 << 20  # of memory, which is read in some hundredths of a second


class Standstill:
    """Finds out that the blocks in progress, which fill the device, only repeat what they did.

    A launch whose registers and memory are as they were when the same lanes last had their turn
    goes on like that for ever, unless something else changes: a clock, or memory of the host.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch  # the launch
        self._seen: set[object] = set()

    def check(self, turn: object, batches: Sequence[Batch], state: Iterable[Array]) -> None:
        """Check the launch when some lanes have had their turn.

        Args:
            turn: Identifies the lanes.
            state: What decides how their lanes continue, besides global memory.
        """
        if self._depends_on_others:
            return
        from hashlib import blake2b  # few launches stand still

        digest = blake2b()
        for part in (*state, *self._launch.memories[0].contents()):
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        key = turn, digest.digest()
        if key in self._seen:
            raise describe_full_device(batches)
        self._seen.add(key)

    @cached_property
    def _depends_on_others(self) -> bool:
        """Return whether its threads may see changes by others, or too much memory to compare."""
        launch = self._launch
        device, *others = launch.memories
        kernels = launch.program.kernels.keys() - {launch.kernel.name}
        return (
            any(memory.used for memory in others)
            or device.used > _MOST_BYTES
            or any(
                isinstance(action, ReadMoment)
                for name, function in launch.functions.items()
                if name not in kernels
                for action in function.actions
            )
        )
