"""The results of the debugger: stops of execution, and the state there."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias

from cudarun.base.records import LEFT_OUT, dataclass

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
    """A write of memory."""

    name: str  # the element, as in ``y[17]``
    thread: Thread  # the thread that wrote it
    place: CodePlace  # its instruction
    position: int  # the position of that instruction
    before: str  # the value before
    after: str  # the value after


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of execution."""

    reason: Reason  # why it stopped
    # The number of instructions that have been executed: the same number is always the same state.
    position: int
    kernel: str = ""  # the name of the kernel
    thread: Thread | None = None  # the selected thread; ``None`` where no thread runs
    place: CodePlace | None = None  # its next instruction
    # The number of threads that are at this instruction, and for which the condition of the
    # breakpoint is true.
    threads: int = 0
    # The lanes of the warp of the selected thread that are at this instruction.
    lanes: tuple[int, ...] = ()
    breakpoints: tuple[int, ...] = ()  # the numbers of watchpoints, and then of breakpoints
    changes: tuple[MemoryWrite, ...] = ()  # the write that each watchpoint has stopped at
    # The report of a fault, a finding or a failed condition, and the values of a NaN.
    text: str = ""
    output: str = ""  # what the kernel has printed since the last stop
    exit_code: int | None = None  # with ``ended``, the exit code of the launch
    # How often breakpoints were reached on the way, those without a stop included, by number.
    hits: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Watched:
    """The memory or the call of a watchpoint, found by the process with the kernel."""

    memory: Any  # a ``MemoryRange``; ``None`` for an expression that is evaluated
    dtype: Any  # the numpy type of the value in it
    launch: int = 0  # the number of the launch; 0 for global memory, which all launches have
    thread: int = 0  # the number in the grid of the thread with a variable
    depth: int = 0  # the depth of the call with a variable
    function: str = ""  # its function; empty for what is no variable of a call


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A breakpoint, a watchpoint or a catchpoint."""

    number: int  # its number
    # What it stops at: ``line``, ``ptx``, ``function``, ``watch`` or ``catch``.
    kind: Literal["line", "ptx", "function", "watch", "catch"]
    target: str  # the location, the expression or the event
    condition: str = ""  # the condition; empty without one
    places: tuple[CodePlace, ...] = ()  # the instructions of a location
    thread: int | None = None  # stop only for this thread, in the form of its number in the grid
    once: bool = False  # delete it when it is reached
    hits: int = 0  # how often it was reached, also without a stop
    ignore: int = 0  # how often it is to be passed without a stop
    message: str = ""  # the message that is printed in place of a stop
    watched: Watched | None = field(default=None, metadata=LEFT_OUT)

    @property
    def is_of_program(self) -> bool:
        """True if it means the same in other launches."""
        return self.watched is None or not self.watched.launch


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A call of a function; level 0 is the innermost one."""

    level: int
    place: CodePlace


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """Threads of one warp in one state."""

    lanes: tuple[int, ...]  # their lanes
    state: str  # ``runs``, ``exited``, or what they wait for
    place: CodePlace | None  # their next instruction, or the one that they wait at
    notes: tuple[str, ...] = ()  # what an ``mbarrier`` object that they wait for lacks


@dataclass(frozen=True, slots=True)
class Warp:
    """A warp of a block that is running."""

    block: Triple
    warp: int
    groups: tuple[ThreadGroup, ...]


@dataclass(frozen=True, slots=True)
class Lanes:
    """The values of an expression in the lanes of a warp."""

    expression: str
    block: Triple
    warp: int
    # A text for each lane; empty where the lane is at another instruction or has none.
    values: tuple[str, ...]
    selected: int  # the lane of the selected thread


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an expression or a register in the selected thread."""

    name: str
    type: str
    text: str
    has_parts: bool = False  # whether it has members or elements, or points to something


@dataclass(frozen=True, slots=True)
class NanOrigin:
    """The source of a NaN."""

    position: int | None  # the position of the instruction that produced it; ``None`` for an input
    thread: Thread | None = None  # the thread that executed it
    place: CodePlace | None = None  # the instruction
    operands: tuple[Value, ...] = ()  # its operands and result, as texts
    text: str = ""  # what is known of a NaN that no instruction produced


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
    """A stop, with the current line."""

    stop: Stop  # the stop
    # The current line of the source, or of the PTX; ``None`` if it cannot be read.
    line: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """The help of a command of the debugger."""

    name: str  # its name
    short: str  # its short name; empty without one
    arguments: str  # its arguments
    text: str  # what it does


def _listed(values: Triple) -> str:
    return ", ".join(map(str, values))
