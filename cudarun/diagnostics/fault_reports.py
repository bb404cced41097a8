"""The places in the reports of faults and hangs of the emulated device.

A driver's log is text, and so are these reports: `cudarun.emulator.machine.report` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudarun.base.records import dataclass

Triple = tuple[int, int, int]

_KERNEL = re.compile(r"kernel \S+: ")
_THREADS = re.compile(r"^ +(\d+) threads? (.+?): block \(")
_PTX = re.compile(r"^ +at PTX line (\d+): (.*)$")
_SOURCE = re.compile(r"^ +from (.+):(\d+)$")
_ELEMENT = re.compile(r"^ +that is element (-?\d+) of buffer ([^,]+), ")
_THREAD = re.compile(r"block \((\d+), (\d+), (\d+)\), thread \((\d+), (\d+), (\d+)\)")


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


def fault_places(log: str) -> list[FaultPlace]:
    """Return the places of a report; none if the text is another one."""
    return [place for place in _places(log.splitlines()) if place.block is not None]


def _places(lines: list[str]) -> Iterator[FaultPlace]:
    place = FaultPlace()
    for line in lines:
        threads = _THREADS.match(line)
        if threads or _KERNEL.match(line):
            yield place
            place = FaultPlace()
        if threads:
            place.threads, place.state = int(threads[1]), threads[2]
        if found := _THREAD.search(line):
            x, y, z, *thread = map(int, found.groups())
            place.block, place.thread = (x, y, z), (thread[0], thread[1], thread[2])
        elif found := _PTX.match(line):
            place.ptx_line, place.ptx = int(found[1]), found[2]
        elif found := _SOURCE.match(line):
            place.file, place.line = found[1], int(found[2])
        elif found := _ELEMENT.match(line):
            place.element, place.buffer = int(found[1]), found[2]
    yield place
