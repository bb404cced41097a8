"""The pool of worker processes, which starts, reuses, replaces and ends them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeVar

from cudarun.base.errors import InternalError
from cudarun.base.terminal import visible
from cudarun.session.workers.connection import Connection
from cudarun.session.workers.parent import AnyWorker, WorkerProcess, interruption, settle
from cudarun.session.workers.progress import ProgressDisplay, displayed
from cudarun.session.workers.worker import Answer, WorkerSpec

S = TypeVar("S")
T = TypeVar("T")

DISPLAY_INTERVAL = 0.2  # seconds between two updates of the progress display

_MOST_KEPT = 2  # idle workers that are kept for further commands; each takes 50 MiB

Steps = Generator[AnyWorker, Answer[Any], T]
"""A sequence of tasks: yields the worker of a submitted task, is sent the answer."""


class WorkerPool(AbstractContextManager["WorkerPool"]):
    """Worker processes, all of which end with the pool's context.

    An idle worker (`reserve`, `release`) initializes meanwhile, and `acquire` returns it. The end
    of a process with a GPU takes a while, so it is not awaited before the pool's end.
    """

    def __init__(
        self, *, log: int | None = None, keeps_gpus: bool = False, spares: int = 0
    ) -> None:
        # The log of a process that keeps workers for further commands.
        self._log = log
        # Also those of GPUs, whose contexts take memory of the device.
        self._keeps_gpus = keeps_gpus
        self._spares = spares  # idle workers beside the one of the next command
        self._last: WorkerSpec[Any] | None = None  # of the last worker that was to be kept
        self._idle: list[AnyWorker] = []  # first the last one that had work
        self._at_work: list[AnyWorker] = []
        self._ending: list[AnyWorker] = []

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        workers = [*self._idle, *self._at_work, *self._ending]
        for worker in workers:  # all at once: each takes a while to end
            worker.retire()
        for worker in workers:
            worker.__exit__()

    def keeps(self, spec: WorkerSpec[Any]) -> bool:
        """Return whether workers of a spec are kept for further commands."""
        is_kept = spec.driver == "cpu" or (self._keeps_gpus and spec.driver != "")
        return is_kept and self._log is not None

    def end_command(self) -> None:
        """End the workers that a command left at work, and all idle ones but a few."""
        for worker in [*self._at_work]:
            self.discard(worker)
        kept = [worker for worker in self._idle if self.keeps(worker.spec)]
        kept = kept[: _MOST_KEPT + self._spares]
        for worker in [each for each in self._idle if each not in kept]:
            self._idle.remove(worker)
            self._end(worker)
        self._forget_ended()

    def replace_lost(self) -> None:
        """Start the workers that the next command needs and the last one has lost, by a fault."""
        if self._last is not None:
            self.reserve(self._last, 1 + self._spares)

    def _forget_ended(self) -> None:
        self._ending = [worker for worker in self._ending if not worker.has_ended()]

    def acquire(self, spec: WorkerSpec[S], preforked: Connection | None = None) -> WorkerProcess[S]:
        """Return a worker of the spec: that of a waiting process, an idle one, or a new one."""
        for worker in () if preforked else self._idle_of(spec):
            self._idle.remove(worker)
            if not worker.has_ended():
                self._at_work.append(worker)
                return worker
            worker.retire()
        worker = self._started(spec, preforked)
        self._at_work.append(worker)
        return worker

    def _started(self, spec: WorkerSpec[S], preforked: Connection | None) -> WorkerProcess[S]:
        return WorkerProcess(spec, preforked, log=self._log if self.keeps(spec) else None)

    def reserve(self, spec: WorkerSpec[Any], count: int = 1) -> None:
        """Keep ``count`` idle workers of the spec ready."""
        self._forget_ended()
        for _ in range(len(self._idle_of(spec)), count):
            self._idle.append(self._started(spec, None))

    def _idle_of(self, spec: WorkerSpec[S]) -> list[WorkerProcess[S]]:
        return [worker for worker in self._idle if worker.spec == spec]

    def release(self, worker: AnyWorker) -> None:
        """Make a worker idle again."""
        self._at_work.remove(worker)
        self._idle.insert(0, worker)
        self._note(worker)

    def discard(self, worker: AnyWorker) -> None:
        """End a worker that is unusable or no longer needed."""
        self._at_work.remove(worker)
        self._note(worker)
        self._end(worker)

    def _note(self, worker: AnyWorker) -> None:
        if self.keeps(worker.spec):
            self._last = worker.spec

    def _end(self, worker: AnyWorker) -> None:
        worker.retire()
        self._ending.append(worker)

    def repeat(self, worker: WorkerProcess[S], error: InternalError) -> WorkerProcess[S]:
        """Return another worker that runs the last task of one with an internal error.

        An error that depends on timing or on the state of its process does not occur again.
        """
        if not error.is_logged:
            print(visible(f"note: {error.message}; repeated in another process"), file=sys.stderr)
        if worker in self._at_work:
            self.discard(worker)
        other = self.acquire(worker.spec)
        other.take_over(worker)
        return other

    def call(
        self,
        spec: WorkerSpec[S],
        task: Callable[[S], T],
        timeout: float | None = None,
        display: ProgressDisplay | None = None,
    ) -> Answer[T]:
        """Run one task in a separate worker."""
        worker = self.acquire(spec)
        worker.submit(task, timeout)
        [answer] = self.gather([worker], display, discard=True)
        return answer

    def gather(
        self,
        workers: Sequence[AnyWorker],
        display: ProgressDisplay | None = None,
        *,
        discard: bool = False,
    ) -> list[Answer[Any]]:
        """Wait for the answers to the workers' tasks, and return them in the workers' order.

        Args:
            workers: All of them at work.
            discard: They get no other task, so each is ended as soon as it has answered: shutting a
                driver down takes 0.1 s.

        Raises:
            KeyboardInterrupt: Ctrl-C. The pool ends the workers.
            Interrupted: Ctrl-C, with the thread states of running kernels.
        """
        answers: dict[AnyWorker, Answer[Any]] = {}

        def one_task(worker: AnyWorker) -> Steps[None]:
            answers[worker] = yield worker
            if discard:
                self.discard(worker)

        with displayed(display, [(each.spec.label, each.page.read) for each in workers]) as update:
            self.run([one_task(worker) for worker in workers], update)
        return [answers[worker] for worker in workers]

    def run(self, sequences: Iterable[Steps[None]], meanwhile: Callable[[], object] | None) -> None:
        """Run sequences of tasks side by side, each on workers of its own, until all have ended.

        Args:
            sequences: Each is resumed as soon as the worker that it yielded is settled.
            meanwhile: Called several times a second.

        Raises:
            KeyboardInterrupt: Ctrl-C. The pool ends the workers.
            Interrupted: Ctrl-C, with the thread states of running kernels.
        """
        waiting: dict[AnyWorker, Steps[None]] = {}
        for steps in sequences:
            with suppress(StopIteration):
                waiting[next(steps)] = steps
        patience = None if meanwhile is None else DISPLAY_INTERVAL
        try:
            while waiting:
                for worker in settle([*waiting], patience=patience):
                    steps = waiting.pop(worker)
                    with suppress(StopIteration):
                        waiting[steps.send(worker.answer())] = steps
                if meanwhile is not None:
                    meanwhile()
        except KeyboardInterrupt:
            error = interruption([*waiting])
            if error is None:
                raise
            raise error from None


_of_process: tuple[object, WorkerPool] | None = None
"""The pool of `keep_workers`, and the surroundings of its workers."""


def keep_workers(surroundings: object, log: int, *, gpus: bool = False, spares: int = 0) -> None:
    """Keep the workers of this process from one command to the next.

    Args:
        surroundings: What workers have of the process, such as the environment; those with others
            end.
        log: The descriptor for errors of workers between commands.
        gpus: Keep also those of GPUs.
        spares: The number of workers to keep ready beside the one of the next command.
    """
    global _of_process
    if _of_process is not None:
        before, pool = _of_process
        if before == surroundings:
            return
        pool.__exit__()
    _of_process = surroundings, WorkerPool(log=log, keeps_gpus=gpus, spares=spares)


def replace_lost_workers() -> None:
    """Start the workers for the next command of this process that it lacks."""
    if _of_process is not None:
        _of_process[1].replace_lost()


@contextmanager
def worker_pool() -> Iterator[WorkerPool]:
    """Yield the pool of a command: that of `keep_workers`, or a new one."""
    if _of_process is None:
        with WorkerPool() as pool:
            yield pool
        return
    try:
        yield _of_process[1]
    finally:
        _of_process[1].end_command()


def call_in_worker(
    task: Callable[[None], T], timeout: float | None = None, *, capture: bool = True
) -> Answer[T]:
    """Run one task, which needs no state, in a separate process."""
    with WorkerPool() as pool:
        return pool.call(WorkerSpec(lambda _: None, capture=capture), task, timeout)
