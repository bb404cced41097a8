"""Messages to a worker that holds a session: its start, and jobs for each of its devices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from cudarun.errors import CudarunError, DeviceFailed, OutOfTime
from cudarun.records import dataclass

if TYPE_CHECKING:  # only a worker needs these
    from collections.abc import Callable

    from cudarun.session.driver.devices import Device
    from cudarun.session.driver.selection import Selector
    from cudarun.session.driver.target import Target
    from cudarun.session.workers.progress import Progress
    from cudarun.session.workers.session import Session

T = TypeVar("T")

Devices = tuple["Selector", ...]
"""The devices of one worker."""


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The start of a worker whose state is a session.

    Attributes:
        devices: The devices to work on, all of one driver.
        target: The contexts to work in, and how.
        prefetch: Imports what the work needs, while the driver initializes.
    """

    devices: Devices
    target: Target
    prefetch: Callable[[], object] | None = None

    def __call__(self, progress: Progress) -> Session:
        """Initialize the driver."""
        from cudarun.session.workers.session import Session

        return Session(self.target, self.devices, prefetch=self.prefetch, progress=progress)


class Job(ABC, Generic[T]):
    """Work on the devices of a session; it pickles, and keeps in the worker what it makes there.

    The time limit applies to `begin` and to the work on each device by itself.
    """

    session: Session

    def begin(self, session: Session) -> None:
        """Do the work that all devices share, such as loading; no context need exist yet."""
        self.session = session

    @abstractmethod
    def on(self, device: Device) -> T:
        """Do the work on one device, and return its result."""


@dataclass(frozen=True, slots=True)
class DeviceAnswer(Generic[T]):
    """The outcome of a job on one device: a value, or the reason that there is none.

    ``output`` is what the worker wrote on stdout, when the target asked to capture it; with
    ``--together`` the first device of the worker has it.
    """

    device: str
    value: T | None
    error: CudarunError | None
    output: str = ""

    def unwrap(self) -> T:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class JobOutcome(Generic[T]):
    """The outcome of a job in one worker.

    Attributes:
        devices: In the session's order; empty where the job did not begin.
        error: The reason that it did not begin.
        is_reusable: Whether the worker can take another job.
    """

    devices: tuple[DeviceAnswer[T], ...]
    error: CudarunError | None = None
    is_reusable: bool = False


class JobTask(Generic[T]):
    """The task of a worker that is handed a job.

    Args:
        job: The job.
        reuse: Release afterwards what the job took, so that the worker can take another. A worker
            that ends does not need to: process exit is faster.
    """

    def __init__(self, job: Job[T], *, reuse: bool = False) -> None:
        self.job = job
        self.reuse = reuse

    def __call__(self, session: Session) -> JobOutcome[T]:
        """Run the job on each device of the session."""
        error = None
        outcomes: tuple[DeviceAnswer[T], ...] = ()
        try:
            self.job.begin(session)
            outcomes = tuple(self._on_each(session))
        except OutOfTime:  # of the worker, which is about to be killed
            raise
        except CudarunError as caught:
            alone = session.devices[0].label if len(session.devices) == 1 else None
            error = caught.at(device=alone)
        session.progress.report("done")
        return JobOutcome(outcomes, error, self.reuse and session.release())

    def _on_each(self, session: Session) -> Iterator[DeviceAnswer[T]]:
        from cudarun.session.driver.faults import is_fault

        faulted: str | None = None
        for device in session.devices:
            error: CudarunError
            if faulted is not None:
                error = DeviceFailed(
                    f"not run: device {faulted} faulted; its process cannot be used any more",
                    hint="remove --together, so that each device has its own process",
                )
                yield DeviceAnswer(device.label, None, error.at(device=device.label))
                continue
            session.progress.start_phase()
            try:
                yield DeviceAnswer(device.label, self.job.on(device), None)
            except OutOfTime as late:  # so do the devices after this one
                raise late.at(device=device.label) from None
            except CudarunError as caught:
                faulted = device.label if is_fault(caught) else None
                yield DeviceAnswer(device.label, None, caught.at(device=device.label))
