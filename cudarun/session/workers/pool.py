"""The pool of worker processes: where each is started, reused, replaced and ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from cudarun.session.workers.parent import Outcome, WorkerProcess, WorkerSpec, settle
from cudarun.session.workers.progress import displayed

if TYPE_CHECKING:
    from types import TracebackType

    from cudarun.session.workers.prefork import Preforked
    from cudarun.session.workers.progress import ProgressDisplay

S = TypeVar("S")
T = TypeVar("T")

DISPLAY_INTERVAL = 0.2
"""Seconds between two updates of the progress display."""

Steps = Generator[WorkerProcess[Any], Outcome[Any], T]
"""A sequence of tasks: yields the worker that was given one, is sent the outcome."""


class WorkerPool:
    """Worker processes, none of which outlives the pool's context.

    A worker that stands by (`reserve`, `release`) initializes meanwhile and is what `acquire` hands
    out. Ending a process that has a GPU takes a while, so nobody waits for that before the end.
    """

    def __init__(self) -> None:
        self._standing_by: dict[WorkerSpec[Any], deque[WorkerProcess[Any]]] = {}
        self._at_work: list[WorkerProcess[Any]] = []
        self._ending: list[WorkerProcess[Any]] = []

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        where: TracebackType | None = None,
    ) -> None:
        """Leave no process behind."""
        workers = [*self._at_work, *self._ending]
        for standing_by in self._standing_by.values():
            workers += standing_by
        for worker in workers:  # all at once: each takes a while to end
            worker.retire()
        for worker in workers:
            worker.__exit__()

    def acquire(self, spec: WorkerSpec[S], preforked: Preforked | None = None) -> WorkerProcess[S]:
        """Return a worker of the spec: one that stands by and is alive, or a new one.

        Args:
            spec: The worker.
            preforked: A process to make a new one of.
        """
        standing_by = self._standing_by.get(spec, deque())
        while standing_by:
            worker = standing_by.popleft()
            if not worker.has_ended():
                self._at_work.append(worker)
                return worker
            worker.retire()
        worker = WorkerProcess(spec, preforked)
        self._at_work.append(worker)
        return worker

    def reserve(self, spec: WorkerSpec[Any], count: int = 1) -> None:
        """Have so many workers of the spec stand by."""
        self._ending = [worker for worker in self._ending if not worker.has_ended()]
        standing_by = self._standing_by.setdefault(spec, deque())
        while len(standing_by) < count:
            standing_by.append(WorkerProcess(spec))

    def release(self, worker: WorkerProcess[Any]) -> None:
        """Have a worker stand by again."""
        self._at_work.remove(worker)
        self._standing_by.setdefault(worker.spec, deque()).append(worker)

    def discard(self, worker: WorkerProcess[Any]) -> None:
        """End a worker that can do no more work, or gets none."""
        self._at_work.remove(worker)
        worker.retire()
        self._ending.append(worker)

    def call(
        self,
        spec: WorkerSpec[S],
        task: Callable[[S], T],
        timeout: float | None = None,
        display: ProgressDisplay | None = None,
    ) -> Outcome[T]:
        """Have a worker of its own do one task.

        Args:
            spec: The worker.
            task: Called with its state.
            timeout: Seconds for the task.
            display: Shows its progress.
        """
        worker = self.acquire(spec)
        worker.submit(task, timeout)
        [outcome] = self.gather([worker], display, discard=True)
        return outcome

    def gather(
        self,
        workers: Sequence[WorkerProcess[Any]],
        display: ProgressDisplay | None = None,
        *,
        discard: bool = False,
    ) -> list[Outcome[Any]]:
        """Wait for the outcomes of the workers' tasks, and return them in the workers' order.

        Args:
            workers: All of them at work.
            display: Shows their progress.
            discard: They get no other task, so each is ended as soon as it has answered: taking a
                driver down takes 0.1 s.

        Raises:
            KeyboardInterrupt: Ctrl-C. The workers are still there; the pool ends them.
        """
        outcomes: dict[WorkerProcess[Any], Outcome[Any]] = {}
        shown = [(worker.spec.label, worker.page) for worker in workers]
        with displayed(display, shown) as update:
            while waiting := [worker for worker in workers if worker not in outcomes]:
                for worker in settle(
                    waiting, patience=None if update is None else DISPLAY_INTERVAL
                ):
                    outcomes[worker] = worker.outcome()
                    if discard:
                        self.discard(worker)
                if update is not None:
                    update()
        return [outcomes[worker] for worker in workers]

    def run(self, sequences: Sequence[Steps[None]], meanwhile: Callable[[], object]) -> None:
        """Run sequences of tasks side by side, each on workers of its own, until all have ended.

        Args:
            sequences: Each is resumed as soon as the worker that it yielded is settled.
            meanwhile: Called several times a second.
        """
        waiting: dict[WorkerProcess[Any], Steps[None]] = {}
        for steps in sequences:
            with suppress(StopIteration):
                waiting[next(steps)] = steps
        while waiting:
            for worker in settle([*waiting], patience=DISPLAY_INTERVAL):
                steps = waiting.pop(worker)
                with suppress(StopIteration):
                    waiting[steps.send(worker.outcome())] = steps
            meanwhile()


def call_in_worker(
    task: Callable[[None], T], timeout: float | None = None, *, capture: bool = True
) -> Outcome[T]:
    """Have a process of its own do one task, which needs no state.

    Args:
        task: What may crash or hang.
        timeout: Seconds for the task.
        capture: Keep what it writes on stdout.
    """
    with WorkerPool() as pool:
        return pool.call(WorkerSpec(_no_state, capture=capture), task, timeout)


def _no_state(_: object) -> None:
    """Tasks that stand alone need none."""
