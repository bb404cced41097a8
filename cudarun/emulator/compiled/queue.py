"""The blocks of a launch that have not begun, for the threads that run them."""

from __future__ import annotations

import threading
import time

_MOST_BLOCKS = 1 << 14
CHUNK_SECONDS = 0.005
TRIAL_SECONDS = 0.0005  # of the blocks that a thread takes while the speed is not known
_TAKING_SECONDS = 0.00005  # with Python's lock, which threads have in turn
_COLD_SECONDS = 0.002  # from which on the first blocks show the speed: they find their memory first


class BlockQueue:
    """The blocks of a launch, in order.

    A thread takes consecutive blocks, so few that they take milliseconds. After a fault, threads
    take no more blocks and end those after the faulting one; the fault of the lowest block counts.

    Args:
        first: The number of the first block.
        end: The number of blocks of the launch.
        unit: The number of blocks that one thread runs together.
        seconds: The processor time of a block in an earlier launch; ``None`` if it is not known.

    Attributes:
        actions: Held while an instruction is executed by the interpreter's code.
        chunk_seconds: The processor time of the blocks that a thread takes.
        completed: The number of blocks that have run.
        first_left: The first block that has not begun.
        fault: What the lowest faulting block raised; ``None`` without a fault.
        is_known: Whether the speed of blocks is known.
        threads: The number of threads.
    """

    def __init__(self, first: int, end: int, unit: int = 1, seconds: float | None = None) -> None:
        self.actions = threading.RLock()
        self.chunk_seconds = CHUNK_SECONDS
        self.completed = self._ended = first
        self.fault: BaseException | None = None
        self.threads = 1
        self._lock = threading.Lock()
        self.first_left = first
        self._leaves = False
        self._end = end
        self._unit = unit
        self._lowest = end  # of the faulting blocks
        self._seconds = seconds  # per block
        self._measured = 0.0  # seconds of the blocks after the first
        self.is_known = seconds is not None
        self._started = time.perf_counter()

    def take(self) -> tuple[int, int]:
        """Return the number of the first block to run, and how many; 0 if none is left."""
        with self._lock:
            left = min(self._end, self._lowest) - self.first_left
            if left <= 0 or self._leaves:
                return self.first_left, 0
            count = min(self._wanted(left), left)
            self.first_left += count
            return self.first_left - count, count

    def leave(self) -> None:
        """Let threads take no more blocks."""
        self._leaves = True

    def give_up(self) -> bool:
        """Give up the last blocks that run together, if they have not begun."""
        with self._lock:
            is_left = min(self._end, self._lowest) - self.first_left >= self._unit
            self._end -= self._unit * is_left
        return is_left

    def _wanted(self, left: int) -> int:
        if self._seconds is None:
            return self._unit
        wanted = self.chunk_seconds if self.is_known else TRIAL_SECONDS
        seconds = max(self._seconds, 1e-9)
        count = min(int(wanted / seconds), _MOST_BLOCKS)
        if self.threads > 1:
            least = int(self.threads * _TAKING_SECONDS / seconds)
            count = min(count, max(left // (2 * self.threads), least))
        return max(count // self._unit, 1) * self._unit

    def complete(self, count: int, seconds: float) -> None:
        """Record that blocks have run, and how long they took."""
        with self._lock:
            self._ended += count
            self.completed = max(self.completed, self._ended)
            if self._seconds is None:
                self.is_known = seconds >= _COLD_SECONDS
            else:
                self._measured += seconds
                self.is_known = self.is_known or self._measured >= TRIAL_SECONDS / 2
            self._seconds = seconds / count

    def reach(self, lowest: int) -> None:
        """Record the lowest block that has not ended of those that a thread runs."""
        if self.threads == 1:
            self.completed = max(self.completed, lowest)

    def spent(self) -> float | None:
        """Return the processor time of a block, if it is known."""
        return self._seconds if self.is_known else None

    def left(self) -> tuple[int, float]:
        """Return how many blocks have not begun, and the seconds that they are expected to take.

        These are 0 while the speed is not known.
        """
        left = max(min(self._end, self._lowest) - self.first_left, 0)
        if self._seconds is None:  # the first block has not ended
            since = time.perf_counter() - self._started
            return left, left * since if since >= _COLD_SECONDS else 0.0
        return left, left * self._seconds if self.is_known else 0.0

    def fail(self, block: int, fault: BaseException) -> None:
        """Record what the run of a block raised."""
        with self._lock:
            if block < self._lowest:
                self._lowest, self.fault = block, fault

    def stop(self) -> None:
        """Let all blocks end."""
        with self._lock:
            self._lowest = -1

    def is_over(self, block: int) -> bool:
        """Return whether a block need not be run: a lower one has faulted, or the launch ends."""
        return block > self._lowest
