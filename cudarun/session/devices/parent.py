"""What ``cudarun devices`` asks: one worker for each driver looks at all chosen devices of it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from cudarun.report.types import DeviceInfo, DevicesReport
from cudarun.session.driver.target import Target
from cudarun.session.workers.fleet import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable

    from cudarun.session.driver.devices import Device
    from cudarun.session.workers.progress import Watch
    from cudarun.session.workers.session import Session

    _Described = tuple[DeviceInfo, dict[str, int | None]]


def list_devices(
    target: Target, watch: Watch | None = None, *, attributes: bool = False
) -> DevicesReport:
    """Describe the chosen devices, in order.

    Args:
        target: The devices.
        watch: Is shown what is being done.
        attributes: Ask for every attribute, too.

    Raises:
        NoDevice: No driver, no device, or not the one asked for.
    """
    groups = [tuple(group) for _, group in groupby(target.devices, lambda s: s.driver)]
    with ExitStack() as stack:
        fleets = [
            stack.enter_context(
                Fleet(replace(target, devices=group, together=True, narrow=False), watch=watch)
            )
            for group in groups
        ]
        work = partial(_begin, attributes)
        found = [answer.unwrap() for fleet in fleets for answer in fleet.run(work)]
    return DevicesReport(
        tuple(device for device, _ in found),
        {device.label: values for device, values in found} if attributes else {},
    )


def _begin(attributes: bool, session: Session) -> Callable[[Device], _Described]:
    from cudarun.session.driver.devices import attributes_of, describe, peers_of

    def on_device(device: Device) -> _Described:
        session.enter(device)  # a context alone knows how much memory is free
        about = replace(describe(session.driver, device), peers=peers_of(session.driver, device))
        return about, attributes_of(session.driver, device) if attributes else {}

    return on_device
