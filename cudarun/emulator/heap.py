"""The heap of ``malloc`` in kernels, and snapshots of it together with memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.memory import UNDEFINED_BYTE, Memory, OutOfMemory


class DeviceHeap:
    """The heap of ``malloc`` and ``free`` in a kernel; lives as long as the context."""

    def __init__(self, memory: Memory, size: int) -> None:
        self.memory = memory  # the memory that blocks are allocated in
        self.size = size  # ``CU_LIMIT_MALLOC_HEAP_SIZE``
        self._blocks: dict[int, int] = {}
        self._used = 0

    def allocate(self, size: int) -> int:
        """Return an address, 16-byte aligned; 0 if the heap is exhausted or ``size`` is 0."""
        if size == 0 or self._used + size > self.size:
            return 0
        try:
            address = self.memory.allocate(
                size, alignment=16, label="malloc in a kernel", defined=False
            )
        except OutOfMemory:
            return 0
        self.memory.bytes_at(address, size)[:] = UNDEFINED_BYTE
        self._blocks[address] = size
        self._used += size
        return address

    def free(self, address: int) -> bool:
        """Free a block; return ``False`` if ``address`` is not one (null is allowed)."""
        if address == 0:
            return True
        size = self._blocks.pop(address, None)
        if size is None:
            return False
        self._used -= size
        return self.memory.free(address)

    def snapshot(self) -> Callable[..., None]:
        """Return a function that restores which blocks are allocated, if it is to."""
        blocks, used = dict(self._blocks), self._used
        allocations = {address: self.memory.find(address) for address in blocks}

        def end(*, restores: bool = True) -> None:
            if not restores:
                return
            for address in self._blocks:
                if self.memory.find(address) is not allocations.get(address):
                    self.memory.free(address)  # allocated since then, perhaps at an old address
            for allocation in allocations.values():
                if allocation is not None and not allocation.live:
                    self.memory.revive(allocation)
            self._blocks, self._used = dict(blocks), used

        return end

    def release(self) -> None:
        """Free all blocks, when the context ends."""
        for address in tuple(self._blocks):
            self.free(address)


def snapshot(
    memories: Sequence[Memory], heap: DeviceHeap | None, **options: bool
) -> Callable[..., None]:
    """Return a function that restores memories and a heap, if it is to: see `Memory.snapshot`."""
    parts = [] if heap is None else [heap.snapshot()]  # first: contents follow
    parts += [memory.snapshot(**options) for memory in memories]

    def end(*, restores: bool = True) -> None:
        for part in parts:
            part(restores=restores)

    return end
