"""Copies between host and device memory; large ones go through blocks of page-locked memory.

A copy between a device and pageable memory reaches a fraction of the bus's bandwidth, and needs all
data in memory. A large copy goes block by block instead: while the device copies some blocks,
threads fill or empty others, so that a file is copied without ever being in memory. For a small
copy the time of locking pages is not worthwhile.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.contents import Contents
from cudarun.arguments.dtypes import Array, DType
from cudarun.base.records import dataclass
from cudarun.session.driver.calls import Driver

if TYPE_CHECKING:  # only large copies use threads, and the import takes 10 ms
    from concurrent.futures import Future

    from cuda.bindings import driver as cuda

LARGE = 64 << 20  # the size in bytes from which on a buffer is copied through page-locked memory

_BLOCK = 8 << 20
_BLOCKS = 8
_THREADS = 4


ChunkSink = Callable[[Array, int], object]
"""A function that receives flat chunks of a buffer in order, each with the index of its first item.
The chunk is reused as soon as the function returns."""

ProgressCallback = Callable[[float], object]
"""A function that receives the completed part of a copy, from 0 to 1."""


@dataclass()
class _Block:
    """A block of page-locked memory."""

    address: int
    bytes: Array  # the memory as an array
    copied: cuda.CUevent  # the event after the last copy from it or to it
    tasks: list[Future[object]] = field(default_factory=list)


class Transfers:
    """Copies to and from device memory, in the order of the default stream."""

    def __init__(
        self,
        driver: Driver,
        *,
        large: int = LARGE,
        block_bytes: int = _BLOCK,
        blocks: int = _BLOCKS,
    ) -> None:
        self._driver = driver  # the driver; the context of the memory must be current
        self._large = large  # the size in bytes from which on copies use blocks
        self._block_bytes = block_bytes  # the size of a block in bytes
        # The number of blocks, at least two: half of them for the threads, half for the device.
        self._count = blocks
        self._start = 0
        self._blocks: deque[_Block] = deque()

    def free(self) -> None:
        """Free the page-locked memory when the device no longer uses it."""
        if self._start:
            for block in self._blocks:
                self._driver.cuEventDestroy(block.copied)
            self._driver.cuMemFreeHost(self._start)
            self._start = 0
            self._blocks.clear()

    # --- to the device ---------------------------------------------------------------------------

    def upload(
        self, address: int, contents: Contents, progress: ProgressCallback = lambda done: None
    ) -> None:
        """Generate contents and copy them to the device."""
        if not self._by_blocks(contents.nbytes, contents.dtype):
            if contents.nbytes:
                data = contents.array()
                self._driver.cuMemcpyHtoD(address, data.ctypes.data, data.nbytes)
            return
        from concurrent.futures import ThreadPoolExecutor

        item = contents.dtype.itemsize
        read: deque[tuple[_Block, int, int]] = deque()  # with the first byte and the size of each
        with ThreadPoolExecutor(1 if contents.in_order else _THREADS) as threads:
            for first, count in self._parts(contents.count, item, progress):
                if 2 * len(read) >= self._count:
                    self._send(address, *read.popleft())
                block = self._free_block()
                part = block.bytes[: count * item].view(contents.dtype)
                block.tasks.append(threads.submit(contents.read, part, first))
                read.append((block, first * item, count * item))
            for each in read:
                self._send(address, *each)

    def _send(self, address: int, block: _Block, start: int, size: int) -> None:
        _wait_for(block)
        self._driver.cuMemcpyHtoDAsync(address + start, block.address, size, 0)
        self._driver.cuEventRecord(block.copied, 0)

    # --- to the host -----------------------------------------------------------------------------

    def download(
        self,
        address: int,
        dtype: DType,
        count: int,
        takes: Sequence[ChunkSink] = (),
        *,
        into: Array | None = None,
        progress: ProgressCallback = lambda done: None,
    ) -> None:
        """Pass the items of a buffer to each of ``takes``, and copy them into an array.

        Args:
            takes: Functions that receive the items, each in its own thread.
            into: A flat array for all items.
            progress: Called with the completed part.

        Raises:
            OSError: One of ``takes`` failed.
        """
        item = dtype.itemsize
        if not self._by_blocks(count * item, dtype):
            data = np.empty(count, dtype) if into is None else into
            if data.nbytes:
                self._driver.cuMemcpyDtoH(data.ctypes.data, address, data.nbytes)
            for take in takes:
                take(data, 0)
            return
        from concurrent.futures import ThreadPoolExecutor

        def keep(part: Array, first: int) -> None:
            assert into is not None
            into[first : first + part.size].view(np.uint8)[...] = part.view(np.uint8)

        copied: deque[tuple[_Block, int, int]] = deque()
        with ExitStack() as stack:
            threads = [(stack.enter_context(ThreadPoolExecutor(1)), take) for take in takes]
            if into is not None:  # several: most of the time goes to page faults
                threads.append((stack.enter_context(ThreadPoolExecutor(_THREADS)), keep))

            def hand_over(block: _Block, first: int, count: int) -> None:
                self._driver.cuEventSynchronize(block.copied)
                part = block.bytes[: count * item].view(dtype)
                block.tasks += [thread.submit(take, part, first) for thread, take in threads]

            for first, size in self._parts(count, item, progress):
                if 2 * len(copied) >= self._count:
                    hand_over(*copied.popleft())
                block = self._free_block()
                source = address + first * item
                self._driver.cuMemcpyDtoHAsync(block.address, source, size * item, 0)
                self._driver.cuEventRecord(block.copied, 0)
                copied.append((block, first, size))
            for each in copied:
                hand_over(*each)
            for block in self._blocks:
                _wait_for(block)

    # --- blocks ----------------------------------------------------------------------------------

    def _by_blocks(self, nbytes: int, dtype: DType) -> bool:
        return nbytes >= max(self._large, 1) and dtype.itemsize <= self._block_bytes

    def _parts(
        self, count: int, item: int, progress: ProgressCallback
    ) -> Iterator[tuple[int, int]]:
        """Yield the first item and the number of items of each part that fits in a block."""
        step = self._block_bytes // item
        for first in range(0, count, step):
            progress(first / count)
            yield first, min(step, count - first)

    def _free_block(self) -> _Block:
        """Return the least recently used block, once it is free."""
        if not self._blocks:  # lock pages for them
            driver, size = self._driver, self._block_bytes
            self._start = int(driver.cuMemHostAlloc(self._count * size, 0))
            flags = int(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)
            for address in range(self._start, self._start + self._count * size, size):
                memory = (ctypes.c_uint8 * size).from_address(address)
                view = np.frombuffer(memoryview(memory), np.uint8)
                self._blocks.append(_Block(address, view, driver.cuEventCreate(flags)))
        block = self._blocks[0]
        self._blocks.rotate(-1)
        _wait_for(block)
        self._driver.cuEventSynchronize(block.copied)
        return block


def _wait_for(block: _Block) -> None:
    """Wait for the threads that use a block; raise their first exception."""
    tasks, block.tasks = block.tasks, []
    for task in tasks:
        task.result()
