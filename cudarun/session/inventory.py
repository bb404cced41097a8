"""What ``cudarun devices`` asks: one worker for each driver looks at all chosen devices of it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from cudarun.report.types import DeviceInfo, DevicesReport
from cudarun.session.fleet import Fleet
from cudarun.session.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from cudarun.session.devices import Device
    from cudarun.session.progress import Watch
    from cudarun.session.session import Session


def list_devices(target: Target, watch: Watch | None = None) -> DevicesReport:
    """Describe the chosen devices, in order.

    Args:
        target: The devices.
        watch: Is shown what is being done.

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
        answers = [answer for fleet in fleets for answer in fleet.run(_begin)]
    return DevicesReport(tuple(answer.unwrap() for answer in answers))


def _begin(session: Session) -> Callable[[Device], DeviceInfo]:
    from cudarun.session.devices import describe, peers_of

    def on_device(device: Device) -> DeviceInfo:
        session.enter(device)  # a context alone knows how much memory is free
        return replace(describe(session.driver, device), peers=peers_of(session.driver, device))

    return on_device
