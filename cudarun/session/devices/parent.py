"""``cudarun devices`` in the parent: one worker per driver describes its chosen devices."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from cudarun.model.devices import DeviceInfo, DevicesReport
from cudarun.session.driver.contexts import Target
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.job import Job
from cudarun.session.workers.pool import WorkerPool

if TYPE_CHECKING:
    from cudarun.session.driver.devices import Device
    from cudarun.session.workers.progress import ProgressDisplay

    _Described = tuple[DeviceInfo, dict[str, int | None]]


def list_devices(
    target: Target, display: ProgressDisplay | None = None, *, attributes: bool = False
) -> DevicesReport:
    """Describe the chosen devices, in order."""
    groups = [tuple(group) for _, group in groupby(target.devices, lambda s: s.process)]
    with WorkerPool() as pool:
        workers = [
            DeviceWorkers(
                pool, replace(target, devices=group, together=True, narrow=False), display=display
            )
            for group in groups
        ]
        job = DescribeJob(attributes)
        found = [answer.unwrap() for each in workers for answer in each.run(job)]
    return DevicesReport(
        tuple(device for device, _ in found),
        {device.label: values for device, values in found} if attributes else {},
    )


class DescribeJob(Job["_Described"]):
    """The description of a device; with ``attributes`` including all its attributes."""

    def __init__(self, attributes: bool) -> None:
        self._attributes = attributes

    def on(self, device: Device) -> _Described:
        """Query the driver."""
        from cudarun.session.driver.devices import attributes_of, describe, peers_of

        driver = self.session.driver
        self.session.enter(device)  # the free memory is known only within a context
        about = replace(describe(driver, device), peers=peers_of(driver, device))
        return about, attributes_of(driver, device) if self._attributes else {}
