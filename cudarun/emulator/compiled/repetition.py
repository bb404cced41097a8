"""The repetition of a faulty launch by the interpreter, so that the report is the interpreter's.

Compiled code runs warp after warp and reports the first fault of the first warp that has one. The
interpreter runs an instruction for many blocks before the next one: the fault that comes first
there may be that of another warp. Where memory is small, it is copied before a launch and restored
after a fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.system import assertfail
from cudarun.emulator.memory import snapshot

_MOST_BYTES = 1 << 18  # copied in some microseconds
_MOST_BYTES_OF_ASSERTIONS = 64 << 20
_MOST_SECONDS = 0.1  # of compiled code; interpreting takes some ten times as long
_MOST_TIMES = 40  # as long, and
_LEAST_SECONDS = 0.5  # until the interpreter gives up: other blocks may never end


class Repetition:
    """A launch that can be repeated.

    Args:
        launch: The launch, before it runs.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._restore = snapshot(launch.memories, launch.config.heap)
        self._began = time.process_time()
        self._seconds: float | None = None

    @classmethod
    def of(cls, launch: Launch, *, has_assertions: bool) -> Repetition | None:
        """Return the repetition of a launch; ``None`` if copying its memory takes long.

        Args:
            launch: The launch, before it runs.
            has_assertions: Whether its kernel has assertions.
        """
        most = _MOST_BYTES_OF_ASSERTIONS if has_assertions else _MOST_BYTES
        used = sum(memory.used for memory in launch.memories)
        return cls(launch) if used <= most else None

    def pays(self) -> bool:
        """Return whether the launch is to be repeated; later calls give the same answer."""
        if self._seconds is None:
            self._seconds = time.process_time() - self._began
        return self._seconds < _MOST_SECONDS

    def run(self, interpret: Callable[[], object]) -> None:
        """Restore the memory, and interpret the launch for a limited time.

        Raises:
            DeviceFault: As the interpreter reports it.
        """
        launch = self._launch
        self._restore()
        launch.begin_again()
        end = time.process_time() + max(_LEAST_SECONDS, _MOST_TIMES * (self._seconds or 0))
        launch.hands_over = lambda _: time.process_time() > end
        interpret()


def has_assertions(function: FunctionCode) -> bool:
    """Return whether threads can report that an assertion failed."""
    return any(
        isinstance(operation, Action) and operation.action is assertfail
        for block in function.blocks
        for operation in block.operations
    )
