"""Messages to a worker that holds a session: its start, and jobs for each of its devices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from cudarun.base import process
from cudarun.base.errors import CudarunError, DeviceFailed, OutOfTime
from cudarun.base.records import dataclass, replace
from cudarun.session.workers.worker import Answer

if TYPE_CHECKING:  # only a worker needs these
    from cudarun.session.driver.contexts import Target
    from cudarun.session.driver.devices import Device
    from cudarun.session.driver.selection import Selector
    from cudarun.session.workers.progress import Progress
    from cudarun.session.workers.session import Session

T = TypeVar("T")

Devices = tuple["Selector", ...]  # the devices of one worker


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The start of a worker whose state is a session."""

    devices: Devices  # the devices to work on, all of one driver
    target: Target  # the contexts to work in, and how
    # Imports what the work needs, while the driver initializes.
    prefetch: Callable[[], object] | None = None

    def __call__(self, progress: Progress) -> Session:
        """Initialize the driver."""
        from cudarun.session.workers.session import Session

        return Session(self.target, self.devices, prefetch=self.prefetch, progress=progress)


ADDRESS_ATTEMPTS = 4
"""How often a job is tried in other processes if one of its addresses is occupied."""


class Job(ABC, Generic[T]):
    """Work on the devices of a session; it pickles, and keeps in the worker what it makes there.

    The time limit applies to `begin` and to the work on each device by itself.
    """

    session: Session
    addresses: Sequence[tuple[int, int]] = ()
    """Addresses and sizes that it needs: where they are occupied, it runs in another process."""
    leaves_processes = False
    """Whether it leaves processes that only other jobs of its command may use."""

    def begin(self, session: Session) -> None:
        """Do the work that all devices share, such as loading; no context need exist yet."""
        self.session = session

    @abstractmethod
    def on(self, device: Device) -> T:
        """Do the work on one device, and return its result."""


class CallJob(Job[T]):
    """A call for each device, which pickles, with the session and the device."""

    def __init__(self, call: Callable[[Session, Device], T]) -> None:
        self._call = call

    def on(self, device: Device) -> T:
        """Call."""
        return self._call(self.session, device)


@dataclass(frozen=True, slots=True)
class JobTask(Generic[T]):
    """The task of a worker that is handed a job."""

    job: Job[T]
    # Let the worker release what the job took, after the answer, so that it can take another. One
    # that ends does not need to: process exit is faster.
    reuse: bool = False

    def __call__(self, session: Session) -> list[Answer[T]]:
        """Run the job on each device; return one answer without a device if it did not begin."""
        process.keeps_frozen = not self.reuse  # with them, all garbage of the job would be kept
        try:
            session.enter_only()
            self.job.begin(session)
            answers = [*self._on_each(session)]
        except OutOfTime:  # of the worker, which is about to be killed
            raise
        except CudarunError as caught:
            alone = session.devices[0].label if len(session.devices) == 1 else None
            answers = [Answer(error=caught.at(device=alone))]
        session.progress.report("done")
        is_reusable = self.reuse and session.settle()
        return [replace(answer, is_reusable=is_reusable) for answer in answers]

    def _on_each(self, session: Session) -> Iterator[Answer[T]]:
        from cudarun.session.driver.calls import is_fault

        faulted: str | None = None
        for device in session.devices:
            label = device.label
            if faulted is not None:
                error = DeviceFailed(
                    f"not run: device {faulted} faulted; its process cannot be used any more",
                    hint="remove --together, so that each device has its own process",
                    device=label,
                )
                yield Answer(error=error, device=label)
                continue
            session.progress.start_phase()
            try:
                yield Answer(self.job.on(device), device=label)
            except OutOfTime as late:  # so do the devices after this one
                raise late.at(device=label) from None
            except CudarunError as caught:
                faulted = label if is_fault(caught) else None
                yield Answer(error=caught.at(device=label), device=label)


def release(session: Session) -> None:
    """Release what a job took, after its answer."""
    session.release()


def answers_of(answer: Answer[list[Answer[T]]]) -> list[Answer[T]]:
    """Return the answers of a job, with what its worker wrote."""
    if answer.value is None:
        return [Answer(error=answer.error, output=answer.output)]
    first, *others = answer.value
    return [replace(first, output=answer.output), *others]
