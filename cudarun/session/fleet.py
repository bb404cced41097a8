"""One piece of work on every chosen device: a worker each, or one worker for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from cudarun.errors import CudarunError
from cudarun.session.devices import Device, driver_of
from cudarun.session.requests import Target
from cudarun.session.selection import Selector
from cudarun.session.session import Session
from cudarun.session.worker import Outcome, supervise

T = TypeVar("T")

# What a session does once, returning what it does on each device.
Work = Callable[[Session], Callable[[Device], T]]


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


def on_each_device(
    target: Target,
    work: Work[T],
    *,
    prefetch: Callable[[], object] | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> list[DeviceAnswer[T]]:
    """Do the work on each device of the target, in the order they were named.

    Args:
        target: Where, in how many workers, for how long.
        work: Called in each worker with its session, then its result with each device.
        prefetch: Called in each worker beside cuInit: imports that the work will need.
        meanwhile: Called in this process while the workers run.
    """
    groups = [target.devices] if target.together else _one_by_one(target)
    if target.together:
        driver_of(target.devices)  # refuse a mixture before anything starts
    outcomes = supervise(
        [partial(_work, selectors, target.trace, prefetch, work) for selectors in groups],
        timeout=target.timeout,
        capture=target.capture,
        meanwhile=meanwhile,
    )
    return [
        answer
        for selectors, outcome in zip(groups, outcomes, strict=True)
        for answer in _answers(selectors, outcome)
    ]


def _one_by_one(target: Target) -> list[tuple[Selector, ...]]:
    """A group for each device; ``all`` is counted by a worker of its own."""
    groups: list[tuple[Selector, ...]] = []
    for selector in target.devices:
        if selector.by == "all":
            [outcome] = supervise([partial(_labels, selector)], timeout=target.timeout)
            groups += [(Selector(selector.driver, "index", i),) for i in outcome.unwrap()]
        else:
            groups.append((selector,))
    return list(dict.fromkeys(groups))


def _labels(selector: Selector) -> list[str]:
    return [str(device.index) for device in Session([selector]).devices]


def _work(
    selectors: Sequence[Selector],
    trace: bool,
    prefetch: Callable[[], object] | None,
    work: Work[T],
) -> list[tuple[str, T | None, CudarunError | None]]:
    session = Session(selectors, trace=trace, prefetch=prefetch)
    on_device = work(session)
    return [(device.label, *_attempt(on_device, device)) for device in session.devices]


def _attempt(
    on_device: Callable[[Device], T], device: Device
) -> tuple[T | None, CudarunError | None]:
    try:
        return on_device(device), None
    except CudarunError as error:
        return None, error.at(device=device.label)


def _answers(
    selectors: Sequence[Selector],
    outcome: Outcome[list[tuple[str, T | None, CudarunError | None]]],
) -> Iterator[DeviceAnswer[T]]:
    if outcome.value is None:
        label = ",".join(map(str, selectors))
        error = outcome.error.at(device=label) if outcome.error else None
        yield DeviceAnswer(label, None, error, outcome.output)
        return
    output = outcome.output
    for label, value, error in outcome.value:
        yield DeviceAnswer(label, value, error, output)
        output = ""
