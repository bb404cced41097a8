"""The results of the debugger: stops of execution, and the state there."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from cudarun.base.records import dataclass

Triple: TypeAlias = tuple[int, int, int]

Reason: TypeAlias = Literal[
    "start", "breakpoint", "watchpoint", "step", "finish", "position", "pause", "exit",
    "fault", "finding", "nan", "ended",
]  # fmt: skip
"""Why execution stopped: ``exit`` is that of the selected thread, ``ended`` that of the launch."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of the running grid, by its block and its index in it."""

    block: Triple
    thread: Triple

    def __str__(self) -> str:
        return f"block ({_listed(self.block)}), thread ({_listed(self.thread)})"


@dataclass(frozen=True, slots=True)
class CodePlace:
    """An instruction: its function, its line in the PTX, and that in the source from ``.loc``."""

    function: str
    ptx_line: int
    ptx: str
    file: str | None = None
    line: int | None = None

    @property
    def source(self) -> str | None:
        """The file and the line in the source, if they are known."""
        return None if self.file is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """A write of memory.

    Attributes:
        name: The element, as in ``y[17]``.
        thread: The thread that wrote it.
        place: Its instruction.
        position: The position of that instruction.
        before: The value before.
        after: The value after.
    """

    name: str
    thread: Thread
    place: CodePlace
    position: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of execution.

    Attributes:
        reason: Why it stopped.
        position: The number of instructions that have been executed: the same number is always
            the same state.
        kernel: The name of the kernel.
        thread: The selected thread; ``None`` where no thread runs.
        place: Its next instruction.
        threads: The number of threads that are at this instruction, and for which the condition of
            the breakpoint is true.
        lanes: The lanes of the warp of the selected thread that are at this instruction.
        breakpoint: The number of the breakpoint or watchpoint.
        change: The write that a watchpoint has stopped at.
        text: The report of a fault, a finding or a failed condition, and the values of a NaN.
        output: What the kernel has printed since the last stop.
        exit_code: With ``ended``, the exit code of the launch.
    """

    reason: Reason
    position: int
    kernel: str = ""
    thread: Thread | None = None
    place: CodePlace | None = None
    threads: int = 0
    lanes: tuple[int, ...] = ()
    breakpoint: int | None = None
    change: MemoryWrite | None = None
    text: str = ""
    output: str = ""
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A breakpoint, a watchpoint or a catchpoint.

    Attributes:
        number: Its number.
        kind: What it stops at: ``line``, ``ptx``, ``function``, ``watch`` or ``catch``.
        target: The location, the element or the event.
        condition: The condition; empty without one.
        places: The instructions of a location.
        thread: Stop only for this thread, in the form of its number in the grid.
        once: Delete it when it is reached.
    """

    number: int
    kind: Literal["line", "ptx", "function", "watch", "catch"]
    target: str
    condition: str = ""
    places: tuple[CodePlace, ...] = ()
    thread: int | None = None
    once: bool = False


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A call of a function; level 0 is the innermost one."""

    level: int
    place: CodePlace


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """Threads of one warp in one state.

    Attributes:
        lanes: Their lanes.
        state: ``runs``, ``exited``, or what they wait for.
        place: Their next instruction, or the one that they wait at.
        notes: What an ``mbarrier`` object that they wait for lacks.
    """

    lanes: tuple[int, ...]
    state: str
    place: CodePlace | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Warp:
    """A warp of a block that is running."""

    block: Triple
    warp: int
    groups: tuple[ThreadGroup, ...]


@dataclass(frozen=True, slots=True)
class Lanes:
    """The values of an expression in the lanes of a warp.

    Attributes:
        values: A text for each lane; empty where the lane is at another instruction or has none.
        selected: The lane of the selected thread.
    """

    expression: str
    block: Triple
    warp: int
    values: tuple[str, ...]
    selected: int


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an expression or a register in the selected thread.

    Attributes:
        has_parts: Whether it has members or elements, or points to something.
    """

    name: str
    type: str
    text: str
    has_parts: bool = False


@dataclass(frozen=True, slots=True)
class NanOrigin:
    """The source of a NaN.

    Attributes:
        position: The position of the instruction that produced it; ``None`` for an input.
        thread: The thread that executed it.
        place: The instruction.
        operands: Its operands and result, as texts.
        text: What is known of a NaN that no instruction produced.
    """

    position: int | None
    thread: Thread | None = None
    place: CodePlace | None = None
    operands: tuple[Value, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a source file or of the PTX."""

    number: int
    text: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of a source file, or of the PTX."""

    file: str
    lines: tuple[SourceLine, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class StoppedAt:
    """A stop, with the current line.

    Attributes:
        stop: The stop.
        line: The current line of the source, or of the PTX; ``None`` if it cannot be read.
    """

    stop: Stop
    line: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """The help of a command of the debugger.

    Attributes:
        name: Its name.
        short: Its short name; empty without one.
        arguments: Its arguments.
        text: What it does.
    """

    name: str
    short: str
    arguments: str
    text: str


def _listed(values: Triple) -> str:
    return ", ".join(map(str, values))
