"""The workers of a command: one for each chosen device, or one for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from cudarun.errors import CudarunError, DeviceFailed, NoDevice, OutOfTime, RequestError
from cudarun.records import dataclass
from cudarun.session.driver.selection import Selector
from cudarun.session.driver.target import Target
from cudarun.session.workers.parent import Outcome, Worker, gather
from cudarun.session.workers.prefork import take
from cudarun.session.workers.progress import Progress, Watch, watched

if TYPE_CHECKING:  # only a worker has a session
    from cudarun.session.driver.devices import Device
    from cudarun.session.workers.session import Session

T = TypeVar("T")

# What is done once with a session; it returns what is done on each of its devices. It must pickle.
Work = Callable[["Session"], Callable[["Device"], T]]


@dataclass(frozen=True, slots=True)
class DeviceAnswer(Generic[T]):
    """What came of the work on one device: a value, or why there is none.

    ``output`` is what the worker wrote on stdout, when the target asked to capture it; with
    ``--together`` the first device of the worker has it.
    """

    device: str
    value: T | None
    error: CudarunError | None
    output: str

    def unwrap(self) -> T:
        """The value, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Fleet:
    """Workers that initialise the driver from the moment this is made.

    Args:
        target: Which devices, in how many workers.
        prefetch: Called in each worker beside the driver's initialisation: imports of what the
            work will need.
        watch: Is shown what the workers are doing while they work.

    Raises:
        RequestError: ``--together`` with devices of two drivers, which no one process can serve.
        NoDevice: ``all`` was asked for and there is none.
    """

    def __init__(
        self,
        target: Target,
        prefetch: Callable[[], object] | None = None,
        watch: Watch | None = None,
    ) -> None:
        if target.together and len({selector.driver for selector in target.devices}) > 1:
            raise RequestError("--together: GPUs and the emulated device have no common driver")
        self._timeout = target.timeout
        self._watch = watch
        self._target = target
        self._groups = [target.devices] if target.together else one_by_one(target, guess=True)
        one = len(self._groups) == 1
        labels = ["" if one else f"on {label_of(selectors)}" for selectors in self._groups]
        begun = take(self._groups)
        self._progress = [
            Progress(label, verbose=target.verbose, page=process.page if process else None)
            for label, process in zip(labels, begun, strict=True)
        ]
        with ExitStack() as stack:
            self._workers = [
                stack.enter_context(
                    Worker(
                        partial(make_session, selectors, target, prefetch, progress),
                        capture=target.capture,
                        begun=process,
                    )
                )
                for selectors, progress, process in zip(
                    self._groups, self._progress, begun, strict=True
                )
            ]
            self._stack = stack.pop_all()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.retire()  # all at once: each takes a while to end
        self._stack.close()

    def run(
        self,
        work: Work[T],
        *,
        meanwhile: Callable[[], object] | None = None,
        final: bool = False,
    ) -> list[DeviceAnswer[T]]:
        """Do the work on each device, in the order they were named.

        Args:
            work: What each worker does.
            meanwhile: Called in this process while the workers run.
            final: There is no other work for them.
        """
        for worker in self._workers:
            worker.send(partial(_on_devices, work))
        if meanwhile is not None:
            meanwhile()
        with watched(self._watch, self._progress) as look:
            outcomes = gather(self._workers, timeout=self._timeout, meanwhile=look, final=final)
        answers = [
            answer
            for selectors, outcome in zip(self._groups, outcomes, strict=True)
            for answer in _answers(selectors, outcome)
        ]
        if any(isinstance(answer.error, NoDevice) for answer in answers):
            answers = self._without_guesses(answers)
        return answers

    def _without_guesses(self, answers: list[DeviceAnswer[T]]) -> list[DeviceAnswer[T]]:
        """Leave out devices that there were taken to be, and are not.

        Raises:
            NoDevice: ``all`` was asked for and there is none.
        """
        if self._target.together:
            return answers
        known = {label_of(selectors) for selectors in one_by_one(self._target)}
        return [answer for answer in answers if answer.device in known]


def label_of(selectors: Sequence[Selector]) -> str:
    """What messages call a worker's devices."""
    return ",".join(map(str, selectors))


def one_by_one(target: Target, *, guess: bool = False) -> list[tuple[Selector, ...]]:
    """A group for each device.

    Args:
        target: The devices.
        guess: Take ``all`` to be as many GPUs as there seem to be. Otherwise a worker counts them,
            which takes the driver 0.1 s and more for each.

    Raises:
        NoDevice: ``all`` was asked for and there is none.
    """
    groups: list[tuple[Selector, ...]] = []
    for selector in target.devices:
        if selector.by == "all":
            indices = (_guessed(selector) if guess else None) or _counted(selector, target)
            groups += [(Selector(selector.driver, "index", str(index)),) for index in indices]
        else:
            groups.append((selector,))
    return list(dict.fromkeys(groups))


def _guessed(selector: Selector) -> Sequence[int] | None:
    if selector.driver != "cuda":
        return None
    from cudarun.session.driver import visibility  # only for `all`

    count = visibility.count()
    return None if count is None else range(count)


def _counted(selector: Selector, target: Target) -> Sequence[int]:
    with Worker(partial(make_session, (selector,), target)) as worker:
        worker.send(_indices)
        [outcome] = gather([worker], timeout=target.timeout)
    indices: list[int] = outcome.unwrap()
    return indices


# --- in the worker -------------------------------------------------------------------------------

_Result = tuple[str, T | None, CudarunError | None]


def make_session(
    selectors: Sequence[Selector],
    target: Target,
    prefetch: Callable[[], object] | None = None,
    progress: Progress | None = None,
) -> Session:
    """The state of a worker: the driver, initialised, and what it chose."""
    from cudarun.session.workers.session import Session

    return Session(target, selectors, prefetch=prefetch, progress=progress)


def _indices(session: Session) -> list[int]:
    return [device.index for device in session.devices]


def _on_devices(work: Work[T], session: Session) -> list[_Result[T]]:
    on_device = work(session)
    results: list[_Result[T]] = []
    for device in session.devices:
        faulted = next((label for label, _, error in results if _is_fault(error)), None)
        if faulted is not None:
            error = DeviceFailed(
                f"not tried: device {faulted} faulted, and after a fault a process is at its end",
                hint="without --together each device has a process of its own",
            )
            results.append((device.label, None, error.at(device=device.label)))
            continue
        try:
            results.append((device.label, on_device(device), None))
        except OutOfTime as error:  # and so are the devices after this one
            raise error.at(device=device.label) from None
        except CudarunError as error:
            results.append((device.label, None, error.at(device=device.label)))
    session.progress.say("done")
    return results


def _is_fault(error: CudarunError | None) -> bool:
    from cudarun.session.launch.faults import is_fault  # only what fails needs it

    return error is not None and is_fault(error)


# --- in the parent -------------------------------------------------------------------------------


def _answers(
    selectors: Sequence[Selector], outcome: Outcome[list[_Result[T]]]
) -> Iterator[DeviceAnswer[T]]:
    if outcome.value is None:
        label = label_of(selectors)
        error = outcome.error.at(device=label) if outcome.error else None
        yield DeviceAnswer(label, None, error, outcome.output)
        return
    output = outcome.output
    for label, value, error in outcome.value:
        yield DeviceAnswer(label, value, error, output)
        output = ""
