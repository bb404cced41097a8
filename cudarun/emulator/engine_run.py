"""One launch, as the engines run it."""

from __future__ import annotations

from collections.abc import Callable

from cudarun.base.records import dataclass
from cudarun.emulator.machine.launch import Launch

INTERPRET, COMPILE = "interpret", "compile"

SUSPECTED = "compiled code found operations that detectors may report"
"""The reason of launches that are repeated by the interpreter and its detectors."""

Interpreter = Callable[[Launch, Callable[[float], object]], int]
"""``interpreter(launch, on_progress)`` returns the first block that it has not run."""


@dataclass(frozen=True, slots=True)
class EngineRun:
    """A launch, and what runs it."""

    launch: Launch
    # Called from time to time with the completed part, from 0 to 1.
    on_progress: Callable[[float], object]
    interpreter: Interpreter
    threads: int  # the most threads that run compiled code
    # ``note(engine, reason)`` notes the engine, and why: also of a launch that fails.
    note: Callable[[str, str], object]

    def interpret(self) -> int:
        """Interpret the launch; return the first block that has not run."""
        return self.interpreter(self.launch, self.on_progress)

    def interpret_whole(self, reason: str) -> None:
        """Interpret all of the launch, and note why."""
        self.note(INTERPRET, reason)
        self.interpret()
