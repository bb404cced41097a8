"""Streams that run on their own: a thread for each, which executes its work in order.

The driver of one Python process executes work when it is submitted (see `host.process`). That of
another program must not: its kernels and host functions may wait for what the program does next.
Work of a blocking stream and of the legacy default stream waits for that of the other, as on
hardware (programming guide, "Default Stream"); kernels of a device run one at a time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.streams import Stream, Task
from cudarun.emulator.memory import InvalidAddress, OutOfMemory

_PATIENCE = 5.0  # seconds without work until a thread ends


class StreamQueues:
    """The work of all streams that is not done.

    Args:
        mutex: The driver's lock.
        lock: The condition with it, which is notified when work is done.
        execute: Executes operations on a device; called with the lock.
        failed: Called with the refusal of work that no call waits for.
    """

    def __init__(
        self,
        mutex: threading.RLock,
        lock: threading.Condition,
        execute: Callable[[EmulatedDevice, Sequence[Operation]], None],
        failed: Callable[[Refusal], None],
    ) -> None:
        self._lock = lock
        self._submitted = threading.Condition(mutex)
        self._execute = execute
        self._failed = failed
        self._waiting: dict[Stream, deque[Task]] = {}
        self._threads: dict[Stream, threading.Thread] = {}

    def submit(self, stream: Stream, operations: Sequence[Operation], *before: Task) -> Task:
        """Let a stream execute work after its earlier work and that of others."""
        task = Task(stream, operations, [*before, *self._implied(stream)])
        self._waiting.setdefault(stream, deque()).append(task)
        if stream not in self._threads:
            name = f"stream {stream.handle:#x}"
            thread = threading.Thread(target=self._run, args=(stream,), name=name, daemon=True)
            self._threads[stream] = thread
            thread.start()
        else:
            self._submitted.notify_all()
        return task

    def _implied(self, stream: Stream) -> Iterable[Task]:
        """Yield the last work of the streams that this one synchronizes with."""
        for other, tasks in self._waiting.items():
            is_one_legacy = stream.is_legacy != other.is_legacy
            blocks = is_one_legacy and stream.is_blocking and other.is_blocking
            if tasks and blocks and other.context is stream.context:
                yield tasks[-1]

    def finish(self, task: Task) -> None:
        """Wait for work; `Refusal` if it could not be executed."""
        self._lock.wait_for(lambda: task.done)
        if task.refusal is not None:
            raise task.refusal

    def wait(self, is_meant: Callable[[Stream], bool]) -> None:
        """Wait for the work that streams have now."""
        last = [tasks[-1] for each, tasks in self._waiting.items() if tasks and is_meant(each)]
        self._lock.wait_for(lambda: all(task.done for task in last))

    def is_busy(self, stream: Stream) -> bool:
        """Return whether a stream has work."""
        return bool(self._waiting.get(stream))

    def has_work(self) -> bool:
        """Return whether any stream has work."""
        return any(self._waiting.values())

    def kernels_waiting(self) -> int:
        """Return how many kernels wait only for others to end: a device runs one at a time."""
        first = [tasks[0] for tasks in [*self._waiting.values()] if tasks]
        ready = [task for task in first if all(each.done for each in task.before)]
        devices = [each.device for task in ready for each in task.operations[:1] if each.device]
        return len(devices) - len(set(devices))

    def _run(self, stream: Stream) -> None:
        """Execute the work of a stream; end without any."""
        tasks = self._waiting[stream]
        with self._lock:
            while self._submitted.wait_for(lambda: bool(tasks), _PATIENCE):
                task = tasks[0]
                self._lock.wait_for(lambda t=task: all(each.done for each in t.before))  # type: ignore[misc]
                try:
                    self._execute(stream.context.device, task.operations)
                except Refusal as refusal:
                    task.refusal = refusal
                except (OutOfMemory, MemoryError, InvalidAddress) as error:
                    task.refusal = Refusal("INVALID_VALUE", str(error))
                except Exception as error:  # a defect; the thread goes on to later work
                    threading.excepthook(threading.ExceptHookArgs([type(error), error, None, None]))
                    task.refusal = Refusal("UNKNOWN", f"internal error: {error!r}")
                if task.refusal is not None:
                    self._failed(task.refusal)
                task.end()
                tasks.popleft()
                self._lock.notify_all()
            del self._threads[stream], self._waiting[stream]
