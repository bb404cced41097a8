"""The driver's log: driver API, section 6.36. Kernel faults are reported here."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes

from cuda.bindings.driver import CUlogIterator

from cudarun.emulator.api.calls import query
from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import HostPointer, address_of, c_string
from cudarun.emulator.host.log import CAPACITY
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, refuse_if


@query(before_init=True)
def cuLogsCurrent(flags: int) -> CUlogIterator:
    """Return an iterator to the place of the next message; any flags are accepted."""
    return CUlogIterator(process.log.next)


@query(before_init=True)
def cuLogsDumpToMemory(
    iterator: CUlogIterator | None, buffer: HostPointer, size: int, flags: int
) -> tuple[CUlogIterator | None, int]:
    """Write the messages since ``iterator`` (all for ``None``) and a NUL to ``buffer``.

    Returns:
        The iterator, moved to the end, and the bytes written without the NUL.
    """
    refuse_if(flags != 0, "flags must be 0")
    if buffer is None or size == 0:
        raise Refusal("INVALID_VALUE", "buffer cannot be NULL")
    start = 0 if iterator is None else int(iterator)
    text = process.log.since(start, min(size - 1, CAPACITY))
    if text is None:
        raise Refusal("INVALID_VALUE")
    addresses.host.write(address_of(buffer), text + b"\0")
    return _advanced(iterator), len(text)


@query(before_init=True)
def cuLogsDumpToFile(
    iterator: CUlogIterator | None, pathToFile: bytes, flags: int
) -> CUlogIterator | None:
    """Write the messages since ``iterator`` (all for ``None``) to a file.

    Returns:
        The iterator, moved to the end.
    """
    refuse_if(flags != 0, "flags must be 0")
    text = process.log.since(0 if iterator is None else int(iterator))
    try:
        with open(addresses.host.path(c_string(pathToFile)), "wb") as file:
            file.write(text or b"")
    except OSError as error:
        raise Refusal("INVALID_VALUE", f"{error.filename}: {error.strerror}") from None
    return _advanced(iterator)


def _advanced(iterator: CUlogIterator | None) -> CUlogIterator | None:
    """Return the same iterator object, as the bindings do, pointing past the newest message."""
    if iterator is not None:
        ctypes.c_uint.from_address(iterator.getPtr()).value = process.log.next
    return iterator
