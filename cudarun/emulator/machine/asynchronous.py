"""The base of asynchronous operations (PTX manual 9.7.9.25.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cudarun.emulator.machine.access import MemoryAction
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active


class AsynchronousAction(MemoryAction):
    """An operation that accesses memory at any time between its issue and its completion.

    Without a schedule it does so at once, which the manual permits.

    Attributes:
        queue: ``"cp.async"`` or ``"bulk"`` if it belongs to a group that its thread waits for,
            ``"mbarrier"`` if it completes at a barrier object, to which the last access is,
            ``"tcgen05"`` if ``tcgen05.commit`` makes it so, ``"tcgen05.st"`` if its warp waits.
        follows: The queue whose operations of the same lanes, issued before, complete before it.
    """

    queue = "mbarrier"
    follows = ""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Execute the operation as a whole."""
        for write in self.transfers(active, sources):
            write()

    @abstractmethod
    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Read a part of the source, and yield what writes it; last what completes it."""

    def objects(self, sources: Arrays) -> Array:
        """Return the addresses of the barrier objects."""
        return sources[-1]
