"""The places of faults and hangs of the emulated device."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import LEFT_OUT, dataclass

Triple = tuple[int, int, int]


@dataclass(slots=True)
class FaultPlace:
    """The place of a fault of the emulated device, or of threads in a hang.

    Attributes:
        state: What the threads do, in the words of the report; empty for a fault.
        threads: The number of threads.
        block: The block of the first one.
        thread: The first one in its block.
        ptx_line: The line of the PTX.
        ptx: The instruction.
        file: The source file; ``None`` without line information, as its line.
        line: The line of the source.
        buffer: The buffer that was nearest to an invalid address; ``None`` where none was.
        element: The element there.
        address: The invalid address; ``None`` where none was.
        allocation: The start of the allocation that is nearest to it.
    """

    state: str = ""
    threads: int = 1
    block: Triple | None = None
    thread: Triple | None = None
    ptx_line: int | None = None
    ptx: str | None = None
    file: str | None = None
    line: int | None = None
    buffer: str | None = None
    element: int | None = None
    address: int | None = field(default=None, metadata=LEFT_OUT)
    allocation: int | None = field(default=None, metadata=LEFT_OUT)
