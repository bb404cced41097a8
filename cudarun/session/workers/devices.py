"""The workers of a command: one for each chosen device, or one for all of them."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from cudarun.base.errors import AddressOccupied, InternalError, NoDevice
from cudarun.base.records import replace
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import Selector, require_one_process
from cudarun.session.workers import prefork
from cudarun.session.workers.job import (
    ADDRESS_ATTEMPTS,
    Devices,
    Job,
    JobTask,
    SessionStart,
    answers_of,
    release,
)
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.progress import LastingDisplay, ProgressDisplay
from cudarun.session.workers.worker import Answer, WorkerSpec

if TYPE_CHECKING:  # only a worker has a session
    from cudarun.session.workers.session import Session

T = TypeVar("T")


def session_spec(
    devices: Devices,
    target: Target,
    prefetch: Callable[[], object] | None = None,
    *,
    label: str = "",
) -> WorkerSpec[Session]:
    """Return the spec of a worker with a session, whatever the time limit of its tasks."""
    start = SessionStart(devices, replace(target, timeout=None), prefetch)
    is_logged = target.verbose or target.trace
    driver = "" if is_logged else devices[0].driver
    return WorkerSpec(start, label, target.capture, target.verbose, target.escape, driver, release)


class DeviceWorkers:
    """Workers that start to initialize their drivers when this is created.

    Args:
        target: The devices, and the number of workers.
        prefetch: Called in each worker during the driver's initialization: imports that the
            work will need.
    """

    def __init__(
        self,
        pool: WorkerPool,
        target: Target,
        prefetch: Callable[[], object] | None = None,
        display: ProgressDisplay | None = None,
    ) -> None:
        if target.together:
            require_one_process(target.devices, "--together")
        self._pool = pool
        self._target = target
        self._display = display
        self._groups = [target.devices] if target.together else one_by_one(pool, target, guess=True)
        one = len(self._groups) == 1
        self._specs = [
            session_spec(devices, target, prefetch, label="" if one else f"on {label_of(devices)}")
            for devices in self._groups
        ]
        preforked = prefork.take(map(label_of, self._groups))
        self._workers = [
            pool.acquire(spec, process)
            for spec, process in zip(self._specs, preforked, strict=True)
        ]

    def run(
        self, job: Job[T], *, meanwhile: Callable[[], object] | None = None, last: bool = False
    ) -> list[Answer[T]]:
        """Run a job on each device; return the answers in the order the devices were named.

        Args:
            meanwhile: Called in this process while the workers run.
            last: This is the workers' last job.
        """
        answers = self._run(job, meanwhile, last=last and not job.addresses)
        for _ in range(ADDRESS_ATTEMPTS):
            if not any(isinstance(answer.error, AddressOccupied) for answer in answers):
                break
            self.replace(job.addresses)
            answers = self._run(job, None, last=False)
        return answers

    def _run(
        self, job: Job[T], meanwhile: Callable[[], object] | None, *, last: bool
    ) -> list[Answer[T]]:
        kept = last and not job.leaves_processes
        kept = kept and all(map(self._pool.keeps, self._specs))
        for worker in self._workers:
            worker.submit(JobTask(job, reuse=kept), self._target.timeout)
        if meanwhile is not None:
            meanwhile()
        ends = last and not kept
        settled = self._pool.gather(self._workers, self._display, discard=ends)
        for place, answer in enumerate(settled):
            if isinstance(answer.error, InternalError):
                self._workers[place] = self._pool.repeat(self._workers[place], answer.error)
                [settled[place]] = self._pool.gather(
                    [self._workers[place]], self._display, discard=ends
                )
            if kept and answer.value and all(each.is_reusable for each in answer.value):
                self._pool.release(self._workers[place])
        answers = [
            labeled(on_device, label_of(devices))
            for devices, answer in zip(self._groups, settled, strict=True)
            for on_device in answers_of(answer)
        ]
        is_missing = any(isinstance(answer.error, NoDevice) for answer in answers)
        if is_missing and not self._target.together:  # devices were guessed to exist
            known = {label_of(devices) for devices in one_by_one(self._pool, self._target)}
            answers = [answer for answer in answers if answer.device in known]
        return answers

    def are_busy(self) -> bool:
        """Return whether no worker has answered or ended."""
        return not select.select(self._workers, [], [], 0)[0]

    @contextmanager
    def one_display(self) -> Iterator[None]:
        """Show the progress of all jobs as that of one."""
        display = self._display
        if display is None:
            yield
            return
        self._display = LastingDisplay(display)
        try:
            yield
        finally:
            self._display = display
            display.end()

    def replace(self, free: Sequence[tuple[int, int]] = ()) -> None:
        """End the workers, which may be unusable, and start others.

        Args:
            free: Addresses and sizes that their drivers must not use for themselves: they get new
                interpreters, whose memory has other addresses.
        """
        from cudarun.session.workers.fresh_worker import start_fresh  # few runs need it

        for worker in self._workers:
            self._pool.discard(worker)
        self._workers = [
            self._pool.acquire(spec, start_fresh(free) if free else None) for spec in self._specs
        ]


def label_of(devices: Sequence[Selector]) -> str:
    """Return the name of a worker's devices in messages."""
    return ",".join(map(str, devices))


def one_by_one(pool: WorkerPool, target: Target, *, guess: bool = False) -> list[Devices]:
    """Return a group for each device.

    Args:
        pool: The pool for a worker that counts the devices.
        guess: Take ``all`` to be as many GPUs as there seem to be. Otherwise a worker counts them,
            which takes the driver 0.1 s and more for each.
    """
    groups: list[Devices] = []
    for selector in target.devices:
        if selector.by == "all":
            indices: Sequence[int] = ()
            if guess and selector.driver == "cuda":
                from cudarun.session.driver import visibility  # only for `all`

                indices = range(visibility.count() or 0)
            if not indices:
                spec = session_spec((selector,), target)
                indices = pool.call(spec, _indices, target.timeout).unwrap()
            groups += [(replace(selector, by="index", value=str(index)),) for index in indices]
        else:
            groups.append((selector,))
    return list(dict.fromkeys(groups))


def _indices(session: Session) -> list[int]:
    return [device.index for device in session.devices]


def labeled(answer: Answer[T], label: str) -> Answer[T]:
    """Return an answer with the device's name, which one of a job that did not begin lacks."""
    if answer.error is not None:
        answer.error.at(device=label)
    return replace(answer, device=answer.device or label)
