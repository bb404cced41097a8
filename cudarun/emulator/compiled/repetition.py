"""The repetition of a faulty launch by the interpreter, so that the report is the interpreter's.

Compiled code runs warp after warp and reports the first fault of the first warp that has one. The
interpreter runs an instruction for many blocks before the next one: the fault that comes first
there may be that of another warp. Where memory is small, it is copied before a launch and restored
after a fault. The interpreter's work is limited, since other blocks may never end: not its time, so
that the report is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.system import assertfail
from cudarun.emulator.memory import snapshot

_MOST_BYTES = 1 << 18  # copied in some microseconds
_MOST_BYTES_OF_ASSERTIONS = 64 << 20
_MOST_WORK = 1 << 30  # of the interpreter: about two seconds


class Repetition:
    """A launch that can be repeated.

    Args:
        launch: The launch, before it runs.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._restore = snapshot(launch.memories, launch.config.heap)
        self._withheld = ""

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

    def withhold(self, text: str) -> None:
        """Keep what the launch would print on stderr before its fault."""
        self._withheld += text

    def run(self, interpret: Callable[[], object]) -> str:
        """Restore the memory, and interpret the launch.

        Returns:
            What the launch has to print, if the interpreter did not get as far as the fault.

        Raises:
            DeviceFault: As the interpreter reports it.
        """
        launch = self._launch
        self._restore()
        launch.begin_again()
        launch.hands_over = lambda _: launch.work > _MOST_WORK
        interpret()
        return self._withheld


def has_assertions(function: FunctionCode) -> bool:
    """Return whether threads can report that an assertion failed."""
    return any(
        isinstance(operation, Action) and operation.action is assertfail
        for operation in function.operations
    )
