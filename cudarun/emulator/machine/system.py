"""The device runtime functions ``vprintf``, ``malloc``, ``free``, ``__assertfail``.

PTX interoperability guide, "System calls". Each is an action: the sources are the parameters of the
call, the destinations its return value.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial

from cudarun.base.terminal import visible
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.device_runtime import RUNTIME_FUNCTIONS, RuntimeFunction
from cudarun.emulator.machine.printf import Arguments, argument_bytes, render
from cudarun.emulator.machine.runtime_calls import readable
from cudarun.emulator.numerics.arrays import Arrays

_LONGEST_STRING = 1 << 16


def vprintf(active: Active, sources: Arrays, destinations: Arrays) -> None:
    """Format and buffer the text, in lane order; return the number of arguments."""
    active.batch.launch.count_calls(active.count)
    formats, arguments = sources
    texts: dict[int, bytes] = {}
    for index in range(active.count):
        address = int(formats[index])
        if address not in texts:
            texts[address] = read_string(active, index, address)
        template = texts[address]
        size = argument_bytes(template)
        data = readable(active, index, int(arguments[index]), size) if size else b""
        text = render(template, Arguments(data), partial(read_string, active, index))
        active.batch.launch.printed.add(text)
        for destination in destinations:
            destination[index] = template.replace(b"%%", b"").count(b"%")


def malloc(active: Active, sources: Arrays, destinations: Arrays) -> None:
    """Allocate blocks of the device heap; return null if it is exhausted."""
    active.batch.launch.count_calls(active.count)
    heap = active.batch.launch.config.heap
    for index, size in enumerate(sources[0]):
        address = heap.allocate(int(size)) if heap is not None else 0
        for destination in destinations:
            destination[index] = address


def free(active: Active, sources: Arrays, destinations: Arrays) -> None:
    """Free blocks; any other address is a fault."""
    active.batch.launch.count_calls(active.count)
    heap = active.batch.launch.config.heap
    for index, address in enumerate(sources[0]):
        if heap is None or not heap.free(int(address)):
            if address == 0:
                continue
            what = f"free of {int(address):#x}, which is not an allocated block of the device heap"
            raise active.fault(700, what, index)


def assertfail(active: Active, sources: Arrays, destinations: Arrays) -> None:
    """Print CUDA's message for every failed lane, then end the launch.

    A launch that is repeated prints them then.
    """
    message, file, line, function, _ = sources
    lines = []
    for index in range(active.count):
        texts = [
            read_string(active, index, int(pointer[index])).decode(errors="replace")
            for pointer in (message, file, function)
        ]
        block, thread = active.batch.threads.coordinates(active.lane(index))
        lines.append(
            f"{texts[1]}:{int(line[index])}: {texts[2]}: block: [{','.join(map(str, block))}], "
            f"thread: [{','.join(map(str, thread))}] Assertion `{texts[0]}` failed."
        )
    text = "\n".join(lines) + "\n"
    repetition = active.batch.launch.repetition
    if repetition is None:
        print_to_stderr(text)
    else:
        repetition.withhold(text)
    raise active.fault(710, f"assertion failed: {lines[0]}", 0)


def print_to_stderr(text: str) -> None:
    """Print a text of a kernel where a driver does; for a terminal without control characters."""
    data = (visible(text) if os.isatty(2) else text).encode(errors="replace")
    with suppress(OSError):  # closed, full
        while data:
            data = data[os.write(2, data) :]


SYSTEM_FUNCTIONS: dict[str, RuntimeFunction] = {
    "vprintf": RuntimeFunction(vprintf, "u32", ("u64", "u64")),
    "malloc": RuntimeFunction(malloc, "u64", ("u64",)),
    "free": RuntimeFunction(free, "", ("u64",)),
    "__assertfail": RuntimeFunction(assertfail, "", ("u64", "u64", "u32", "u64", "u64")),
    **RUNTIME_FUNCTIONS,
}
"""All functions that the device provides, by name."""


def read_string(active: Active, index: int, address: int) -> bytes:
    """Return the characters at a generic address up to the first NUL."""
    return readable(active, index, address, _LONGEST_STRING).partition(b"\0")[0]
