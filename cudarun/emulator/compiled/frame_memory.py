"""The memory of the frames of calls, of the warp that runs: ``call_frames.py`` describes them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cudarun.emulator.compiled.kernels import CompiledKernel
from cudarun.emulator.compiled.state.layout import FrameLayout

Path = tuple[int, ...]


class FrameMemory:
    """The frames of a thread that runs blocks; it runs one warp at a time.

    Args:
        stack_bytes: The stack of each lane.
    """

    def __init__(self, kernel: CompiledKernel, stack_bytes: int) -> None:
        self._layout = kernel.code.frames
        self._origins = kernel.origins
        self._calls = kernel.calls
        size = self._layout.size * self._layout.count(stack_bytes) if self._layout else 0
        self._memory = np.zeros(size // 4, dtype=np.uint32)
        self.address = self._memory.ctypes.data  # the first frame

    def path(self, block: int) -> Path:
        """Return the path of lanes that run a block: the calling blocks, and the block."""
        origin = self._origins[block]
        return (*self._callers(self._count()), *origin.path) if origin.is_outlined else origin.path

    def waiting(self) -> Iterator[tuple[Path, int]]:
        """Yield the masks of the lanes that wait in functions, with their paths."""
        frames = self._layout
        if frames is None:
            return
        for number in range(1, self._count() + 1):
            callers = self._callers(number)
            for block in range(frames.first, frames.blocks):
                if mask := self._word(number, frames.pending(block)):
                    yield (*callers, *self._origins[block].path), mask
            if mask := self._word(number, frames.RETURNED):
                after = self._calls[self._word(number, frames.CALL)].after
                yield (*self._callers(number - 1), *self._origins[after].path), mask

    def _count(self) -> int:
        """Return the number of active calls."""
        if self._layout is None:
            return 0
        (top,) = self._memory[: FrameLayout.TOP + 2].view(np.uint64)
        return int(top - self.address) // self._layout.size if top else 0

    def _callers(self, number: int) -> Path:
        """Return the calling blocks of the lanes of an active call."""
        calls = (self._word(each, FrameLayout.CALL) for each in range(1, number + 1))
        return tuple(block for call in calls for block in self._origins[call].path)

    def _word(self, number: int, offset: int) -> int:
        assert self._layout is not None
        return int(self._memory[(number * self._layout.size + offset) // 4])
