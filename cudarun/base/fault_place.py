"""The places of faults and hangs of the emulated device."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import LEFT_OUT, dataclass

Triple = tuple[int, int, int]


@dataclass(slots=True)
class FaultPlace:
    """The place of a fault of the emulated device, or of threads in a hang."""

    state: str = ""  # what the threads do, in the words of the report; empty for a fault
    threads: int = 1  # the number of threads
    block: Triple | None = None  # the block of the first one
    thread: Triple | None = None  # the first one in its block
    ptx_line: int | None = None  # the line of the PTX
    ptx: str | None = None  # the instruction
    file: str | None = None  # the source file; ``None`` without line information, as its line
    line: int | None = None  # the line of the source
    # The buffer that was nearest to an invalid address; ``None`` where none was.
    buffer: str | None = None
    element: int | None = None  # the element there
    # The invalid address; ``None`` where none was.
    address: int | None = field(default=None, metadata=LEFT_OUT)
    # The start of the allocation that is nearest to it.
    allocation: int | None = field(default=None, metadata=LEFT_OUT)
