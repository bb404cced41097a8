"""The blocks of a launch on the cores of this machine.

Threads take blocks from one queue. Compiled code does not hold Python's lock; its callbacks do, and
exclude one another. Blocks that one thread runs start with nothing of another thread's: each has a
context, a cache of regions, shared and local memory of its own.

One thread begins, and each one starts the next as long as that shortens what is left: a new thread
takes a part of a millisecond, in which it holds Python's lock.

Reductions of global memory take several times as long when they have to be atomic among threads.
Kernels that have some begin in one thread, and return to it if several threads are not faster.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from cudarun.emulator.compiled.kernels import CompiledKernel, resident_blocks
from cudarun.emulator.compiled.queue import CHUNK_SECONDS, TRIAL_SECONDS, BlockQueue
from cudarun.emulator.compiled.runtime import CompiledRun
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.launch import Launch

_SECONDS_PER_THREAD = 0.001  # that starting a thread costs
_JOINING = 0.05  # seconds between reports of progress while other threads run


class BlockThreads:
    """The threads that run the blocks of one launch.

    Args:
        on_progress: Called from time to time with the completed part of the blocks, from 0 to 1.
        first: The number of the first block.
        threads: The most threads; one where blocks are not independent.
        leaves: Asked from time to time whether blocks that have not begun are left to others.
        jumps: What `run` returned of the blocks before: preempted lanes can show it.
    """

    def __init__(
        self,
        kernel: CompiledKernel,
        launch: Launch,
        on_progress: Callable[[float], object],
        first: int,
        threads: int,
        leaves: Callable[[], bool] = lambda: False,
        jumps: Sequence[int] = (),
    ) -> None:
        wait = resident_blocks(kernel, launch) > launch.cluster_blocks  # for one another
        unit = launch.blocks if wait else launch.cluster_blocks
        is_parallel = kernel.is_parallel and launch.config.schedule is None
        threads = 1 if wait or not is_parallel else threads
        threads = max(min(threads, launch.blocks_in_memory // launch.cluster_blocks), 1)
        seconds = None if kernel.has_reductions and threads > 1 else kernel.block_seconds
        self._kernel = kernel
        self._launch = launch
        self._on_progress = on_progress
        self._leaves = leaves
        self._jumps = jumps
        self._most = threads
        self._queue = BlockQueue(first, launch.blocks, unit, seconds)
        launch.take_last = self._queue.give_up
        self._alone = 0.0  # the seconds of a block with reductions in one thread
        self._others: list[threading.Thread] = []
        self._parts: list[CompiledRun] = []

    def run(self) -> tuple[int, list[int]]:
        """Run the blocks; return the number of the first one that is left, and `CompiledRun.jumps`.

        Raises:
            DeviceFault: A thread caused a fault, or there is a deadlock.
        """
        queue, launch = self._queue, self._launch
        lead = CompiledRun(self._kernel, launch, queue, self._tick, jumps=self._jumps)
        self._parts.append(lead)
        launch.running, launch.find_running = None, self._running
        if self._kernel.has_reductions and self._most > 1:
            queue.chunk_seconds = TRIAL_SECONDS
        try:
            if queue.is_known:
                self._start_others()
            while lead.run():
                self._report()
                self._compare(lead)
                self._start_others()
            while queue.fault is None and (others := self._running_others()):
                others[0].join(_JOINING)
                self._report()
        except BaseException:
            queue.stop()
            raise
        finally:
            self._join()
        launch.find_running = None
        self._kernel.block_seconds = queue.spent()
        if queue.fault is not None:
            raise queue.fault
        self._report()
        return queue.first_left, lead.jumps() if queue.first_left < launch.blocks else []

    def _running(self) -> Batch | None:
        """Return the batch of the first thread that runs blocks."""
        batches = (part.thread_states() for part in self._parts)
        return next((batch for batch in batches if batch is not None), None)

    def _tick(self) -> None:
        self._report()
        self._start_others()

    def _report(self) -> None:
        launch = self._launch
        launch.ended = self._queue.completed
        if self._leaves():
            self._queue.leave()
        self._on_progress(launch.ended / launch.blocks)

    def _running_others(self) -> list[threading.Thread]:
        return [other for other in self._others if other.is_alive()]

    def _start_others(self) -> None:
        """Start another thread, which starts the next one, if enough is left to do."""
        if self._others or self._most == 1:
            return
        if self._kernel.has_reductions and not self._alone:
            return
        if self._pays_to_start():
            self._queue.threads = 2
            self._parts[0].set_concurrent(True)
            self._start_another()

    def _pays_to_start(self) -> bool:
        """Return whether another thread shortens the rest by more than it costs to start it."""
        threads = 1 + len(self._others)
        left, seconds = self._queue.left()
        return threads < self._most and bool(
            left and seconds / (threads * (threads + 1)) > _SECONDS_PER_THREAD
        )

    def _start_another(self) -> None:
        name = f"blocks {len(self._others)}"
        other = threading.Thread(target=self._run_other, name=name, daemon=True)
        self._others.append(other)  # before it starts: it can start the next one
        try:
            other.start()
        except RuntimeError:  # this process can start no more threads
            self._others.remove(other)
        self._queue.threads = 1 + len(self._others)

    def _compare(self, lead: CompiledRun) -> None:
        """Compare reductions beside other threads with those in one thread, and choose."""
        queue = self._queue
        if not self._kernel.has_reductions or self._most == 1:
            return
        if not self._others:
            if queue.is_known:
                self._alone = lead.seconds
        elif self._is_slower(lead.seconds):
            self._kernel.is_parallel = False  # also of later launches
        else:
            queue.chunk_seconds = CHUNK_SECONDS
        if not self._kernel.is_parallel and not self._running_others():
            self._most = queue.threads = 1
            queue.chunk_seconds = CHUNK_SECONDS
            lead.set_concurrent(False)

    def _is_slower(self, seconds: float) -> bool:
        """Return whether one thread is as fast as all are, by the seconds of a block."""
        return seconds >= self._queue.threads * self._alone

    def _run_other(self) -> None:
        queue = self._queue
        try:
            if self._kernel.is_parallel and self._pays_to_start():
                self._start_another()
            with np.errstate(all="ignore"):
                lead = self._parts[0]
                part = CompiledRun(self._kernel, self._launch, queue, lambda: None, lead)
                self._parts.append(part)
                while self._kernel.is_parallel and part.run():
                    pass
        except BaseException as error:
            queue.fail(-1, error)

    def _join(self) -> None:
        """Wait for all threads, which use the memory of the device, whatever interrupts it."""
        interruption: BaseException | None = None
        for other in self._others:
            while other.is_alive():
                try:
                    other.join()
                except BaseException as error:  # Ctrl-C
                    self._queue.stop()
                    interruption = error
        if interruption is not None:
            raise interruption
